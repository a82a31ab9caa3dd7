#include "command.hpp"

#include <csignal>
#include <fstream>
#include <iostream>

#include "command_line.hpp"
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
  heading(command, "Every command");
  command.set_help_flag("-h,--help", "this list");
  command.add_flag("--quiet", common.quiet, "no progress, no warnings");
  command.add_option("--threads", common.threads, "threads to use (0, the default: all cores)")
      ->check(count(0, 4096));
  command.add_option("--json", common.json, "write the report of the run to this file (-: standard output)");
}

std::string text_of(const nlohmann::json& report, int indent) {
  return report.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_report(const Common& common, const nlohmann::json& report) {
  if (common.json.empty()) return;
  const std::string text = text_of(report, 1);
  if (common.json == "-") {
    std::cout << text << '\n';
    return;
  }
  std::ofstream file(common.json);
  file << text << '\n';
  file.close();
  require<FileError>(file.good(), common.json, ": the report cannot be written; does the folder exist?");
}

}  // namespace tandem::apps
