#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../core/parallel.hpp"
#include "../io/files/output.hpp"
#include "../io/scans/given_scan.hpp"
#include "../options/values.hpp"

namespace tandem::apps {

using namespace options;

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
  bool quiet = false, help = false;
  bool silent = false;     ///< whether others tell people: another rank, or a page
  bool overwrite = false;  ///< whether to replace files that tandem did not write
  int threads = 0;
  std::string config;  ///< file of options
  /// What a person should hear about options, once.
  std::shared_ptr<std::vector<std::string>> notes = std::make_shared<std::vector<std::string>>();
  std::string json;                    ///< file for the report, "-" for standard output
  std::string log;                     ///< file for all lines; empty: none
  std::shared_ptr<io::Output> report;  ///< the report, after `open_report` was called
  std::shared_ptr<const int> pipe{};   ///< then in its place, if a device or a pipe takes the report
  /// The reports of several runs, for standard output; may be null.
  std::shared_ptr<nlohmann::json> together{};
  std::shared_ptr<const Listener> listener{};  ///< null: a person at a terminal
  /// The files to which each input leads.
  std::map<std::filesystem::path, std::vector<std::filesystem::path>> behind{};

  /// Whether a run that writes files tells people on standard output what it made.
  bool tells() const { return json != "-" && !quiet; }
  io::Replace replace() const { return overwrite ? io::Replace::any : io::Replace::own; }
};
void add_common(Table& table, Common& common);

/// The text of a report. Bytes of file names that are not UTF-8 are replaced.
std::string text_of(const nlohmann::json& report, int indent = -1);

/// A number of a report; null if it is not known.
nlohmann::json or_null(const std::optional<double>& value);

/// Takes the file of --json before the work, so that the report can be written at the end, and begins the
/// log. Devices and pipes are opened as they are, and a reader of a pipe is waited for. @throws FileError
void open_report(Common& common);
/// Writes the report, with the version of tandem, to the place of --json. For several runs, standard output
/// gets one document with a list. Results for people go to standard output, unless the report goes there.
void write_report(Common& common, nlohmann::json report);

/// A command of the program. Each has a file in commands/ and a line in its table.
struct Command {
  std::string_view name, what;
  void (*add)(Table& table);  ///< adds its options, and sets its work
  bool in_program = true;     ///< whether it reports without printing, so that Python can run it
};
std::span<const Command* const> commands();
/// @throws UsageError for a name that is not known
const Command& command_named(const std::string& name);
/// The options of a command, none of which is given.
std::shared_ptr<Table> table_of(const Command& command);

}  // namespace tandem::apps
