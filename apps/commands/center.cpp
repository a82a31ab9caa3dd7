// tandem center: the axis bin, with its uncertainty.

#include <algorithm>
#include <cmath>
#include <iostream>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../core/version.hpp"
#include "../beams/beam.hpp"
#include "../options/command_line.hpp"
#include "../options/step_options.hpp"
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

/// The roll of a detector, and the axis of its middle row. Uncertainties are one standard deviation.
struct Roll {
  double degrees, uncertainty;
  double axis_bin, axis_uncertainty;
  pipeline::AxisMethod method;
};

/// A line through points that have uncertainties: its value at 0 and its slope.
struct FittedLine {
  double value = 0, slope = 0, value_uncertainty = 0, slope_uncertainty = 0;
};

struct Point {
  double x, y, uncertainty;
};

/// Fits a line by least squares. If the points lie farther from it than their uncertainties say, the
/// uncertainties of the line grow.
FittedLine fitted(const std::vector<Point>& points) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const Point& p : points) {
    const double weight = 1 / (p.uncertainty * p.uncertainty);
    w += weight, wx += weight * p.x, wy += weight * p.y;
    wxx += weight * p.x * p.x, wxy += weight * p.x * p.y;
  }
  const double determinant = w * wxx - wx * wx;
  FittedLine line{(wxx * wy - wx * wxy) / determinant, (w * wxy - wx * wy) / determinant};
  double chi = 0;
  for (const Point& p : points) chi += std::pow((p.y - line.value - line.slope * p.x) / p.uncertainty, 2);
  const double grown = std::sqrt(std::max(1.0, chi / (points.size() - 2)));
  line.value_uncertainty = grown * std::sqrt(wxx / determinant);
  line.slope_uncertainty = grown * std::sqrt(w / determinant);
  return line;
}

/// Fits a line to the axes of `count` rows, which are spread over the selected ones, and of more rows if the
/// angle is not certain yet. Opposite views see the same row at different heights. So the rows are levelled
/// by the roll that was found, and searched again, several times. The roll goes into the options. @throws
/// GeometryError for a scan with fewer than three rows, or of another kind than a parallel beam
Roll find_roll_of(io::ScanReader& reader, ScanOptions& o, const pipeline::AxisSearch& search, Index count,
                  ProgressLine& progress) {
  const Scan& scan = reader.info().scan;
  const Beam& beam = beam_of(scan);
  const Selection s = select(o, reader.info());
  require<GeometryError>(beam.rows_are_slices, "--roll goes with a parallel beam");
  require<GeometryError>(s.rows.size() >= 3, "--roll: ", s.rows.size(), " rows; at least 3 are needed");
  count = std::clamp<Index>(count, 3, s.rows.size());
  const double middle = 0.5 * (detector_of(scan).rows - 1), unmoved = 0.5 * (s.bins.first + s.bins.last - 1);
  constexpr int rounds = 5;
  constexpr double enough =
      0.0125;  // degrees, one standard deviation: a detector of few rows needs more of them
  Roll roll{};
  for (int k = 0; k < rounds || (roll.uncertainty > enough && count < s.rows.size()); ++k) {
    if (k >= rounds) count = std::min(2 * count, s.rows.size());
    std::vector<Point> axes;
    for (const Index row : beam.rows_for_axis(scan, s.rows, count)) {
      const pipeline::AxisEstimate found = find_axis_in(reader, o, search, {row}, progress);
      axes.push_back({row - middle, found.axis_bin, found.uncertainty});
      roll.method = found.method;
    }
    const FittedLine line = fitted(axes);
    const double angle = std::atan(line.slope);
    roll.degrees = in_degrees(angle), roll.uncertainty = in_degrees(line.slope_uncertainty);
    roll.axis_bin = line.value + (line.value - unmoved) * line.slope * line.slope;
    roll.axis_uncertainty = line.value_uncertainty;
    constexpr double most = 2;
    require<GeometryError>(std::abs(roll.degrees) <= most, "--roll: the axes of the rows lean by ",
                           roll.degrees, " degrees, more than ", most,
                           "; choose rows with structure, or --between A:B");
    pipeline::option::detector_roll.set(o.steps, roll.degrees);
  }
  return roll;
}

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
  if (ask_for_phases(o.scan.steps))
    progress.note("note: --retrieve-phase-method: the axis is searched in frames without it");
  pipeline::AxisSearch search{pipeline::axis_method(o.method)};
  if (o.between) search.between = {1.0 * o.between->first, o.between->last - 1.0};
  const Index there = select(o.scan, reader->info()).rows.size();
  const Index least = o.roll ? std::min<Index>(9, there) : 1;
  const Index taken = std::clamp(o.rows.value_or(o.roll ? 9 : 5), least, there);
  if (o.rows && taken != *o.rows)
    progress.note("note: --nsino " + std::to_string(*o.rows) + ": " + counted(taken, "row") + " of " +
                  std::to_string(there) + (taken == 1 ? " is" : " are") + " taken" +
                  (o.roll && taken > *o.rows ? ", as --roll needs them" : ""));
  if (o.roll) return report_roll(o, find_roll_of(*reader, o.scan, search, taken, progress), progress);
  const auto axis = find_axis_of(*reader, o.scan, search, taken, progress);
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
  c.add_option("--nsino", o->rows,
               "number of rows to use, spread over the selected ones (default 5; with --roll 9, or more)")
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
