#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../core/parallel.hpp"
#include "../io/files/output.hpp"
#include "../io/scans/given_scan.hpp"
#include "options/values.hpp"

namespace tandem::apps {

/// The command line is wrong. This is found without opening a file.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A check did not hold.
class CheckFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The listener of a program, such as Python, that runs a command within itself. It hears what a person would
/// see, and then nothing is printed.
struct Listener {
  /// Told a stage, done and total in units of `what`, and a detail. Any thread may call it. It cancels the
  /// work by throwing.
  std::function<void(const std::string& stage, double done, double total, const std::string& what,
                     const std::string& detail)>
      stage;
  std::function<void(const std::string& line)> note;
  std::function<void(const nlohmann::json& report)> report;
  /// The scan that "-" stands for; may be null.
  std::shared_ptr<const io::GivenScan> scan{};
};

/// The scan that the listener of this thread gives; null if there is none.
std::shared_ptr<const io::GivenScan> given_scan();

/// Makes commands that this thread adds tell this listener, as long as the object lives.
class Listening {
 public:
  explicit Listening(Listener listener);
  ~Listening();
  Listening(Listening&&) = delete;
};

/// The options of every command.
struct Common {
  bool quiet = false;
  bool overwrite = false;  ///< whether to replace files that tandem did not write
  int threads = 0;
  std::string json;                    ///< file for the report, "-" for standard output
  std::string log;                     ///< file for all lines; empty: none
  std::shared_ptr<io::Output> report;  ///< the report, after `open_report` was called
  std::shared_ptr<const int> pipe{};   ///< then in its place, if a device or a pipe takes the report
  /// The reports of several runs, for standard output; may be null.
  std::shared_ptr<nlohmann::json> together{};
  std::shared_ptr<const Listener> listener{};  ///< null: a person at a terminal
  /// The files to which each input leads.
  std::map<std::filesystem::path, std::vector<std::filesystem::path>> behind{};

  io::Replace replace() const { return overwrite ? io::Replace::any : io::Replace::own; }
};
void add_common(CLI::App& command, Common& common);
/// Adds --allow-external-files, an option of every command that reads HDF5.
void add_external_files(CLI::App& command, bool& allowed);

/// The JSON of a text that anybody may have written. The result is "discarded" if the text is no JSON, or if
/// it is nested deeper than anything that tandem writes, because printing that would crash the program.
nlohmann::json parsed(const std::string& text);

/// The text of a report. Bytes of file names that are not UTF-8 are replaced.
std::string text_of(const nlohmann::json& report, int indent = -1);

/// A number of a report; null if it is not known.
nlohmann::json or_null(const std::optional<double>& value);

/// Takes the file of --json before the work, so that the report can be written at the end, and begins the
/// log. Devices and pipes are opened as they are, and a reader of a pipe is waited for. @throws FileError
void open_report(Common& common);
/// Writes the report to the place of --json. For several runs, standard output gets one document with a list.
/// Results for people go to standard output, unless the report goes there.
void write_report(Common& common, const nlohmann::json& report);

/// The work of the chosen command. Each command adds itself to the program, and sets it.
using Action = std::function<void()>;
void add_simulate(CLI::App& program, Action& chosen);
void add_info(CLI::App& program, Action& chosen);
void add_center(CLI::App& program, Action& chosen);
void add_calibrate(CLI::App& program, Action& chosen);
void add_recon(CLI::App& program, Action& chosen);
void add_look(CLI::App& program, Action& chosen);
void add_project(CLI::App& program, Action& chosen);
void add_report(CLI::App& program, Action& chosen);
void add_check(CLI::App& program, Action& chosen);
void add_bench(CLI::App& program, Action& chosen);

}  // namespace tandem::apps
