// tandem center: the axis bin, with its uncertainty.

#include <iostream>

#include "../../core/version.hpp"
#include "../command_line.hpp"
#include "../progress.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

struct CenterOptions {
  Common common;
  ScanOptions scan;
  std::string method = "auto";
  Index rows = 5;
  std::optional<Range> between;
};

void run_center(CenterOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet);
  auto reader = open(o.scan);
  pipeline::AxisSearch search{pipeline::axis_method(o.method)};
  if (o.between)
    search.between = {static_cast<double>(o.between->first), static_cast<double>(o.between->last - 1)};
  const auto axis = find_axis_of(*reader, o.scan, search, o.rows, progress);
  warn_of_repeated_view(*reader, o.scan, axes_of(axis), progress);
  progress.clear();
  write_report(o.common, {{"command", "center"},
                          {"version", TANDEM_VERSION},
                          {"input", o.scan.path},
                          {"axis_bin", axis.axis_bin},
                          {"uncertainty", axis.uncertainty},
                          {"agreement", axis.agreement},
                          {"method", name_of(axis.method)},
                          {"warnings", progress.warnings()}});
  if (o.common.json != "-")
    std::cout << "axis_bin  " << axis.axis_bin << " +- " << axis.uncertainty << "  (" << name_of(axis.method)
              << ")\n";
}

}  // namespace

void add_center(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<CenterOptions>();
  CLI::App& c = add_scan_command(program, "center", "Find the rotation axis", o, run_center, chosen);
  heading(c, "Search");
  add_choice(c, "--rotation-axis-method", o->method, {"auto", "opposite", "vo"}, "default auto");
  c.add_option("--nsino", o->rows, "number of rows to use, spread over the selected ones (default 5)")
      ->check(count());
  add_range(c, "--between", o->between, "search for the axis only between these bins");
  c.footer(
      "Examples:\n"
      "  tandem center scan.h5\n"
      "  tandem center scan.h5 --start-row 100 --end-row 200 --nsino 9 --json axis.json");
}

}  // namespace tandem::apps
