#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "tandem/core/parallel.hpp"
#include "values.hpp"

namespace tandem::apps {

/// The command line is wrong, which is seen without opening a file.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// A check did not hold.
class CheckFailed : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Ctrl-C.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted; nothing stands under the final name") {}
};

void catch_interrupts();      ///< from now on Ctrl-C sets a flag
void throw_if_interrupted();  ///< @throws Interrupted once it is set

/// What every command takes.
struct Common {
  bool quiet = false;
  int threads = 0;
  std::string json;  ///< file for the report, "-" for standard output
};
void add_common(CLI::App& command, Common& common);

/// The text of a report; bytes of file names that are no UTF-8 are replaced.
std::string text_of(const nlohmann::json& report, int indent = -1);

/// Writes the report where --json says. Results for people go to standard output only where the report does
/// not.
void write_report(const Common& common, const nlohmann::json& report);

/// A command: adds itself to the program, and says what to do once it is chosen.
using Action = std::function<void()>;
void add_simulate(CLI::App& program, Action& chosen);
void add_info(CLI::App& program, Action& chosen);
void add_center(CLI::App& program, Action& chosen);
void add_recon(CLI::App& program, Action& chosen);
void add_project(CLI::App& program, Action& chosen);
void add_check(CLI::App& program, Action& chosen);
void add_bench(CLI::App& program, Action& chosen);

}  // namespace tandem::apps
