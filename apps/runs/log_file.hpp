#pragma once

#include <string>
#include <string_view>

#include "../../io/files/output.hpp"

namespace tandem::apps {

/// Begins the log of --log. From now on, what goes to standard output and standard error also goes there, a
/// line at a time, each with its time (UTC). A log that has this name already goes on if this process began
/// it, and is replaced if tandem wrote it. @throws FileError
void begin_log(const std::string& file, io::Replace replace);

/// Adds a line to the log, if there is one. Any thread may call this.
void log_line(std::string_view line);

/// From now on the log has "..." in the place of this word: others may read it.
void keep_out_of_log(const std::string& word);

/// The command line, which the first line of each log names, and the report.
void remember_command_line(int argc, char** argv);
std::string command_line();  ///< "tandem" alone if the program runs within another one

/// The time, as "2026-11-22T06:00:00.000Z".
std::string time_now();

}  // namespace tandem::apps
