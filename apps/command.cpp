#include "command.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tandem/core/error.hpp"

namespace tandem::apps {

namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends the program at once
  });
}

void throw_if_interrupted() {
  if (interrupted) throw Interrupted();
}

void add_common(CLI::App& command, Common& common) {
  command.add_flag("--quiet", common.quiet, "no progress, no warnings");
  command.add_option("--threads", common.threads, "threads to use (0: all cores)")
      ->check(CLI::Range(0, 4096));
  command.add_option("--json", common.json, "write the report of the run to this file (-: standard output)");
}

void write_report(const Common& common, const nlohmann::json& report) {
  if (common.json.empty()) return;
  const std::string text = report.dump(1);
  if (common.json == "-") {
    std::cout << text << '\n';
    return;
  }
  std::ofstream file(common.json);
  file << text << '\n';
  file.close();
  require<FileError>(file.good(), common.json, ": the report cannot be written; does the folder exist?");
}

Range parse_range(const std::string& text) {
  Range range;
  std::size_t used_a = 0, used_b = 0;
  const std::size_t colon = text.find(':');
  try {
    range.first = std::stoll(text.substr(0, colon), &used_a);
    range.last = std::stoll(text.substr(colon + 1), &used_b);
  } catch (const std::exception&) {
    used_a = 0;
  }
  if (colon == std::string::npos || used_a != colon || used_b != text.size() - colon - 1 || range.first < 0 ||
      range.last <= range.first)
    throw UsageError("'" + text + "' is not a range; give FIRST:END with 0 <= FIRST < END");
  return range;
}

CLI::Option* add_range(CLI::App& command, const std::string& name, std::optional<Range>& range,
                       const std::string& help) {
  return command.add_option_function<std::string>(
      name, [&range](const std::string& text) { range = parse_range(text); }, help + " (half open)");
}

}  // namespace tandem::apps
