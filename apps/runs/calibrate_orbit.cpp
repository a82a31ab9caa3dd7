// Axis, roll, elevation and midplane of views that have places of their own, along a circle: laminography.

#include <cmath>

#include "../../calibration/sharpest.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/fitted_orbit.hpp"
#include "../../geometry/free_views.hpp"
#include "calibrate_part.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::Change, calibration::SharpestSlices, calibration::Sought, pipeline::Verdict;
using nlohmann::json;

void require_circle(const FittedOrbit& orbit) {
  constexpr double upright = 0.995;
  require<GeometryError>(!orbit.goes_on, "calibrate: sources go along a helix; slices tell of circles only");
  require<GeometryError>(std::abs(orbit.axis[2]) > upright, "calibrate: sources go about (", orbit.axis[0],
                         ", ", orbit.axis[1], ", ", orbit.axis[2],
                         "); slices tell of circles about z: turn the frame of the file");
}

/// The mean of a number over the views.
template <class Number>
double mean(const std::vector<FlexibleView>& views, const Number& number) {
  double sum = 0;
  for (const FlexibleView& view : views) sum += number(view);
  return sum / views.size();
}

/// A number of the report: what views say now, and how certain it is.
struct NamedNumber {
  const char* name;
  double value;
};
NamedNumber named(Sought what, const Scan& whole) {
  const auto scan = as_free_views(whole);
  const auto cell = [&](Index count, auto of) {
    return 0.5 * (count - 1) +
           mean(scan.views, [&](const FlexibleView& view) { return of(calibration::place_of(scan, view)); });
  };
  switch (what) {
    case Sought::axis:
      return {"axis_bin", cell(scan.detector.bins, [](const CellPlace& at) { return at.bin; })};
    case Sought::roll:
      return {"roll_deg",
              in_degrees(mean(scan.views, [&](const auto& v) { return calibration::roll_of(scan, v); }))};
    case Sought::tilt:
      return {
          "elevation_deg",
          in_degrees(mean(scan.views, [&](const auto& v) { return calibration::elevation_of(scan, v); }))};
    case Sought::midplane:
      break;
  }
  return {"midplane_row", cell(scan.detector.rows, [](const CellPlace& at) { return at.row; })};
}

void add_report(Calibrated& all, const SharpestSlices& found, const CalibratedPart& part) {
  json not_told = json::array();
  const auto leave_out = [&](const char* what, const char* why) {
    not_told.push_back({{"what", what}, {"why", why}});
    all.lines.push_back(std::string("not told      ") + what + ": " + why);
  };
  all.report = {{"method", "sharpness of slices"}, {"searches", searches_of(found, part)}};
  for (const calibration::Sharpened& each : found.numbers) {
    const auto [name, value] = named(each.what, all.scan);
    const double uncertainty = unit_of(each.what, part) * each.uncertainty;
    const bool told = each.verdict == Verdict::resolved;
    all.report[name] = told ? told_number(value, uncertainty, "sharpness of slices") : json(nullptr);
    if (told)
      all.lines.push_back(name + std::string(14 - std::string(name).size(), ' ') +
                          with_uncertainty(value, uncertainty));
    else
      leave_out(name, why_not(each.verdict));
  }
  leave_out("height", "the sample may be higher or lower");
  all.report["not_told"] = not_told;
}

void require_told(const SharpestSlices& found) {
  for (const calibration::Sharpened& each : found.numbers)
    if (each.verdict == Verdict::resolved) return;
  throw GeometryError(std::string("calibrate: slices do not tell where these views were: ") +
                      why_not(found.numbers.front().verdict));
}

}  // namespace

Calibrated calibrate_on_orbit(const CalibrateRun& run) {
  constexpr Index fewest = 24;
  const Scan& whole = run.reader.info().scan;
  require_circle(fitted_orbit(whole));
  CalibratedPart part =
      calibrated_part(run, whole, level_of_searches(select(run.options, run.reader.info())));
  require<GeometryError>(part.frames.rows >= fewest && part.frames.bins >= fewest, "calibrate: frames of ",
                         part.frames.rows, " rows x ", part.frames.bins,
                         " bins are too small; slices of views that have places of their own need 24 x 24");
  const FittedOrbit orbit = fitted_orbit(part.scan);
  part.frames.angles = orbit.angles;
  const bool tilt = orbit.parallel || calibration::leans(part.scan);
  const SharpestSlices found = calibration::find_sharpest(
      part.frames, part.scan, {Sought::axis, Sought::roll, tilt ? Sought::tilt : Sought::midplane},
      [&](double share) { run.progress("find the sharpest slices", share, 1, "searches"); }, run.device);
  part.end_stage("sharp_slices");
  require_told(found);
  Change in_file = found.change;
  in_file.bins *= part.f(), in_file.rows *= part.f_of_rows();
  Calibrated all{calibration::changed(whole, in_file), json::object(), {}, {}, {}};
  add_report(all, found, part);
  finish(all, run, part, part.scan, calibration::changed(part.scan, found.change));
  return all;
}

}  // namespace tandem::apps
