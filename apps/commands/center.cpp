// tandem center: the axis bin, with its uncertainty.

#include <algorithm>
#include <iostream>

#include "../../options/steps.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../runs/lines.hpp"
#include "../runs/progress.hpp"
#include "../scan_command.hpp"

namespace tandem::apps {

namespace {

struct CenterOptions {
  Common common;
  ScanOptions scan;
  std::string method = "auto";
  std::optional<Index> rows;
  std::optional<Range> between;
  bool roll = false;
};

nlohmann::json report_of_axis(const CenterOptions& o, double axis, double uncertainty,
                              calibration::AxisMethod method) {
  return {{"command", "center"},
          {"input", o.scan.path},
          {"axis_bin", axis},
          {"uncertainty", uncertainty},
          {"method", name_of(method)}};
}

void finish(CenterOptions& o, nlohmann::json report, ProgressLine& progress) {
  progress.clear();
  report["warnings"] = progress.warnings();
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "axis_bin  " << with_uncertainty(report["axis_bin"], report["uncertainty"]) << "  ("
              << report["method"].get<std::string>() << ")\n";
}

void report_roll(CenterOptions& o, const pipeline::Roll& roll, ProgressLine& progress) {
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
  if (ask_for_phases(o.scan.steps))
    progress.note("note: --retrieve-phase-method: the axis is searched in frames without it");
  calibration::AxisSearch search{calibration::axis_method(o.method)};
  if (o.between) search.between = {1.0 * o.between->first, o.between->last - 1.0};
  const pipeline::Recipe recipe = recipe_of(o.scan, reader->info());
  const Index there = recipe.rows->size();
  const Index least = o.roll ? std::min<Index>(9, there) : 1;
  const Index taken = std::clamp(o.rows.value_or(o.roll ? 9 : 5), least, there);
  if (o.rows && taken != *o.rows)
    progress.note("note: --nsino " + std::to_string(*o.rows) + ": " + counted(taken, "row") + " of " +
                  std::to_string(there) + (taken == 1 ? " is" : " are") + " taken" +
                  (o.roll && taken > *o.rows ? ", as --roll needs them" : ""));
  const pipeline::Listener listener = progress.listener();
  if (o.roll) return report_roll(o, find_roll(*reader, recipe, search, taken, listener), progress);
  const auto axis = find_axis(*reader, recipe, search, taken, listener);
  warn_of_repeated_view(*reader, recipe, o.scan.how, axes_of(axis), listener);
  nlohmann::json report = report_of_axis(o, axis.axis_bin, axis.uncertainty, axis.method);
  report["agreement"] = axis.agreement;
  finish(o, std::move(report), progress);
}

void add_center(Table& c) {
  auto o = std::make_shared<CenterOptions>();
  add_scan_command(c, o, run_center);
  c.heading("Search");
  add_choice(c, "--rotation-axis-method", On::result, o->method, {"auto", "opposite", "vo"}, "default auto");
  c.add("--nsino", On::result, o->rows,
        "number of rows to use, spread over the selected ones (default 5; with --roll 9, or more)")
      .called("rows to use")
      .check(count());
  c.add("--roll", On::result, o->roll,
        "parallel beam: find by how many degrees the detector is rolled, too; the axis is then that of the "
        "middle row");
  c.add_parsed(
       "--between", On::result, [o](const std::string& text) { o->between = parse_range("--between", text); },
       "search for the axis only between these bins (half open)")
      .of_kind("A:B")
      .in("bins");
  c.common({"flats", "darks", "arc", "detector-rows", "rotation-axis-method", "nsino", "roll", "between"});
  c.footer =
      "Examples:\n"
      "  tandem center scan.h5\n"
      "  tandem center scan.h5 --detector-rows 100:200 --nsino 9 --json axis.json";
}

}  // namespace

extern const Command center_command{"center", "Find the rotation axis", add_center};

}  // namespace tandem::apps
