#include "command.hpp"

#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

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

std::optional<double> number_in(const std::string& text) {
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* last = text.data() + text.size();
  double value = 0;
  const auto [end, fault] = std::from_chars(first, last, value);
  if (fault != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

CLI::Validator within(double lowest, double highest) {
  std::ostringstream range;
  range << "from " << lowest << " to " << highest;
  return {[lowest, highest, text = range.str()](std::string& input) {
            const auto value = number_in(input);
            if (value && *value >= lowest && *value <= highest) return std::string();
            return "'" + input + "' is no number " + text;
          },
          "", ""};
}

CLI::Validator positive(double highest) {
  std::ostringstream limit;
  limit << highest;
  return {[highest, text = limit.str()](std::string& input) {
            const auto value = number_in(input);
            if (value && *value > 0 && *value <= highest) return std::string();
            return "'" + input + "' is no number above 0 and up to " + text;
          },
          "", ""};
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
