#pragma once

#include <string>
#include <string_view>

#include "../../io/files/output.hpp"

namespace tandem::apps {

/// Begins the log of --log. From now on, lines on standard output and standard error also go there, each with
/// its time (UTC). If there is a log of this name, it goes on if this process began it, and is replaced if
/// tandem wrote it. @throws FileError
void begin_log(const std::string& file, io::Replace replace);

/// Adds a line to the log, if there is one. Any thread may call this.
void log_line(std::string_view line);

/// Replaces this word by "..." in the log from now on, because others may read the log.
void keep_out_of_log(const std::string& word);

/// Keeps the command line for the report and for the first line of each log.
void remember_command_line(int argc, char** argv);
std::string command_line();  ///< "tandem" alone if the program runs within another one

/// The time, as "2026-11-22T06:00:00.000Z".
std::string time_now();

}  // namespace tandem::apps
