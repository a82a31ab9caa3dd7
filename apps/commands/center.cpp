// tandem center: the axis bin, with its uncertainty.

#include <algorithm>
#include <iostream>

#include "../../core/version.hpp"
#include "../options/command_line.hpp"
#include "../runs/find_roll.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

struct CenterOptions {
  Common common;
  ScanOptions scan;
  std::string method = "auto";
  Index rows = 5;
  std::optional<Range> between;
  bool roll = false;
};

nlohmann::json report_of_axis(const CenterOptions& o, double axis, double uncertainty,
                              pipeline::AxisMethod method) {
  return {{"command", "center"}, {"version", TANDEM_VERSION},  {"input", o.scan.path},
          {"axis_bin", axis},    {"uncertainty", uncertainty}, {"method", name_of(method)}};
}

void finish(CenterOptions& o, nlohmann::json report, ProgressLine& progress) {
  progress.clear();
  report["warnings"] = progress.warnings();
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "axis_bin  " << with_uncertainty(report["axis_bin"], report["uncertainty"]) << "  ("
              << report["method"].get<std::string>() << ")\n";
}

void report_roll(CenterOptions& o, const Roll& roll, ProgressLine& progress) {
  nlohmann::json report = report_of_axis(o, roll.axis_bin, roll.axis_uncertainty, roll.method);
  report["detector_roll_deg"] = roll.degrees;
  report["detector_roll_uncertainty_deg"] = roll.uncertainty;
  finish(o, std::move(report), progress);
  if (o.common.json != "-")
    std::cout << "roll      " << with_uncertainty(roll.degrees, roll.uncertainty) << " degrees\n";
}

void run_center(CenterOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  auto reader = open(o.scan);
  say_notes(reader->info(), o.scan, progress);
  pipeline::AxisSearch search{pipeline::axis_method(o.method)};
  if (o.between) search.between = {1.0 * o.between->first, o.between->last - 1.0};
  if (o.roll)
    return report_roll(o, find_roll_of(*reader, o.scan, search, std::max<Index>(o.rows, 9), progress),
                       progress);
  const auto axis = find_axis_of(*reader, o.scan, search, o.rows, progress);
  warn_of_repeated_view(*reader, o.scan, axes_of(axis), progress);
  nlohmann::json report = report_of_axis(o, axis.axis_bin, axis.uncertainty, axis.method);
  report["agreement"] = axis.agreement;
  finish(o, std::move(report), progress);
}

}  // namespace

void add_center(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<CenterOptions>();
  CLI::App& c = add_scan_command(program, "center", "Find the rotation axis", o, run_center, chosen);
  heading(c, "Search");
  add_choice(c, "--rotation-axis-method", o->method, {"auto", "opposite", "vo"}, "default auto");
  c.add_option("--nsino", o->rows, "number of rows to use, spread over the selected ones (default 5)")
      ->check(count());
  c.add_flag(
      "--roll", o->roll,
      "parallel beam: find by how many degrees the detector is rolled, too; the axis is then that of the "
      "middle row");
  c.add_option_function<std::string>(
       "--between", [o](const std::string& text) { o->between = parse_range(text); },
       "search for the axis only between these bins (half open)")
      ->type_name("A:B");
  c.footer(
      "Examples:\n"
      "  tandem center scan.h5\n"
      "  tandem center scan.h5 --detector-rows 100:200 --nsino 9 --json axis.json");
}

}  // namespace tandem::apps
