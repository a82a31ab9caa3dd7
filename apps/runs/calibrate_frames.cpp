// Axis, roll, tilt and midplane from the frames of any sample on a circle.

#include <cmath>
#include <optional>

#include "../../calibration/frames.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "calibrate_part.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::FrameCalibration, calibration::Sought, pipeline::Verdict;
using nlohmann::json;

void turn_round(Scan& scan) {
  for (double& angle : angles_of(scan)) angle = -angle;
}

/// What is known of a number, in cells of the stack or rad, and by what.
struct Told {
  double value = 0, uncertainty = 0;
  std::string_view by{};  ///< empty: it is not told
  explicit operator bool() const { return !by.empty(); }
};

constexpr std::string_view by_rays = "opposite rays", by_slices = "sharpness of slices";

/// What was found of a scan on a circle.
struct Found {
  FrameCalibration frames;
  calibration::SharpestSlices slices;
  Told axis, roll, tilt, midplane;
  double row() const { return frames.line.line.row; }  ///< in which the axis is told
};

/// A scan with what was found, as a list of views if the detector is rolled or the axis leans. `midplane` and
/// `axis` are cells of that scan.
Scan moved(Scan scan, const Found& found, double axis, std::optional<double> midplane) {
  detector_of(scan).axis_bin = axis;
  if (found.frames.reversed) turn_round(scan);
  if (midplane && rays_cross_slices(scan)) {
    ConeBeam about = point_source_of(scan);
    about.midplane_row = *midplane;
    scan = about;
  }
  const OffCircle off{.roll = found.roll.value, .tilt = found.tilt.value};
  return off.any() ? Scan(as_free_views(scan, off)) : scan;
}

Found by_opposite_rays(const CalibratedPart& part) {
  Found found{calibration::calibrate_by_frames(part.frames, part.row), {}, {}, {}, {}, {}};
  const calibration::AxisLineEstimate& line = found.frames.line;
  found.axis = {line.line.axis_bin, line.axis_uncertainty, by_rays};
  if (!calibration::few_rows(part.frames) && line.verdict == Verdict::resolved)
    found.roll = {line.line.roll, line.roll_uncertainty, by_rays};
  if (found.roll && std::isfinite(line.row_uncertainty))
    found.midplane = {line.line.row, line.row_uncertainty, by_rays};
  return found;
}

/// The surer one of a number and what slices change of it.
void refine(Told& told, double change, double uncertainty) {
  if (!told || uncertainty < told.uncertainty) told = {told.value + change, uncertainty, by_slices};
}

/// Whether frames have so many rows and bins that their slices tell more.
bool has_slices(const CalibratedPart& part) {
  constexpr Index fewest = 24;
  return part.frames.rows >= fewest && part.frames.bins >= fewest;
}

void by_sharp_slices(Found& found, const CalibrateRun& run, const CalibratedPart& part) {
  if (!has_slices(part)) return;
  constexpr double sure = 0.05, sure_row = 0.5;  // bins; rows, of the coarse frames
  std::vector<Sought> what;
  if (found.axis.uncertainty > sure) what.push_back(Sought::axis);
  what.push_back(Sought::roll);
  if (rows_are_slices(part.scan))
    what.push_back(Sought::tilt);
  else if (!found.midplane || found.midplane.uncertainty > sure_row)
    what.push_back(Sought::midplane);
  const Scan scan = moved(part.scan, found, found.axis.value, found.row());
  found.slices = calibration::find_sharpest(
      part.frames, scan, what,
      [&](double share) { run.progress("find the sharpest slices", share, 1, "searches"); }, run.device);
  for (const calibration::Sharpened& each : found.slices.numbers) {
    if (each.verdict != Verdict::resolved) continue;
    if (each.what == Sought::axis) refine(found.axis, each.change, each.uncertainty);
    if (each.what == Sought::roll) refine(found.roll, each.change, each.uncertainty);
    if (each.what == Sought::tilt) found.tilt = {each.change, each.uncertainty, by_slices};
    if (each.what == Sought::midplane) {
      if (!found.midplane) found.midplane.value = found.row();
      refine(found.midplane, each.change, each.uncertainty);
    }
  }
}

/// Where the midplane falls, and the axis in that row, in a part of a scan or in the whole.
struct Cells {
  double axis, midplane;
};
Cells in_part(const Found& found, const CalibratedPart& part) {
  const double midplane = found.midplane ? found.midplane.value : part.row;
  return {found.axis.value + (midplane - found.row()) * part.frames.aspect * std::tan(found.roll.value),
          midplane};
}
Cells in_file(const Found& found, const CalibratedPart& part, const Scan& whole) {
  const double midplane = found.midplane ? part.row_in_file(found.midplane.value) : row_of_axis(whole),
               rows = (midplane - part.row_in_file(found.row())) / part.f_of_rows();
  return {part.bin_in_file(found.axis.value + rows * part.frames.aspect * std::tan(found.roll.value)),
          midplane};
}

Verdict verdict_of(const Found& found, Sought what) {
  for (const calibration::Sharpened& each : found.slices.numbers)
    if (each.what == what) return each.verdict;
  return Verdict::flat;
}

json not_told_of(const Found& found, const CalibratedPart& part, const Scan& scan) {
  json all = json::array();
  const auto by_slices_not = [&](Sought what) {
    return has_slices(part)
               ? why_not(verdict_of(found, what))
               : "frames of fewer than 24 rows or bins, once cells are joined, make no slices that tell it";
  };
  const auto add = [&](const char* what, const char* why) { all.push_back({{"what", what}, {"why", why}}); };
  if (!found.roll)
    add("roll_deg",
        calibration::few_rows(part.frames)
            ? "a detector of so few rows does not tell it"
            : "few views have an opposite one, or nothing in them changes with height; more than half a turn "
              "tells it");
  if (rows_are_slices(scan)) {
    if (!found.tilt) add("tilt_deg", by_slices_not(Sought::tilt));
    add("rotation", "of parallel rays: the mirror image of the sample, turned the other way, looks the same");
  } else {
    if (!found.midplane) add("midplane_row", by_slices_not(Sought::midplane));
    for (const char* what : {"sod_mm", "sdd_mm", "yaw_deg"})
      add(what, "opposite rays hardly change with it; a scan of balls tells it (--balls)");
    add("pitch_deg", "samples of another shape look the same without it");
  }
  return all;
}

/// Adds a number to report and lines, null if it is not told.
void add_number(Calibrated& all, const char* name, const Told& told, double value, double unit) {
  all.report[name] = told ? told_number(value, unit * told.uncertainty, told.by) : json(nullptr);
  if (told)
    all.lines.push_back(name + std::string(14 - std::string_view(name).size(), ' ') +
                        with_uncertainty(value, unit * told.uncertainty));
}

void add_report(Calibrated& all, const Found& found, const CalibratedPart& part, const Scan& whole) {
  const Cells cells = in_file(found, part, whole);
  const calibration::AxisLineEstimate& line = found.frames.line;
  all.report = {{"method", "opposite rays, sharpness of slices"}};
  add_number(all, "axis_bin", found.axis, cells.axis, part.f());
  add_number(all, "roll_deg", found.roll, in_degrees(found.roll.value), in_degrees(1));
  if (rows_are_slices(whole))
    add_number(all, "tilt_deg", found.tilt, in_degrees(found.tilt.value), in_degrees(1));
  else
    add_number(all, "midplane_row", found.midplane, cells.midplane, part.f_of_rows());
  all.report.update(
      {{"roll_verdict", !calibration::few_rows(part.frames) ? name_of(line.verdict) : "flat"},
       {"misfit_before", calibration::misfit_at(part.frames, {*axis_of(part.scan), part.row, 0})},
       {"misfit", line.misfit},
       {"opposite_views", line.pairs},
       {"searches", searches_of(found.slices, part)},
       {"rotation", found.frames.reversed ? "against the angles" : "along the angles"},
       {"other_rotation_fits_worse_by", or_null(found.frames.other_sense)},
       {"last_view", name_of(found.frames.last_view)},
       {"not_told", not_told_of(found, part, whole)}});
  for (const json& each : all.report["not_told"])
    all.lines.push_back("not told      " + each["what"].get<std::string>() + ": " +
                        each["why"].get<std::string>());
}

void warn_of_views(const FrameCalibration& found, ProgressLine& progress) {
  constexpr double clearly = 1.2;
  if (found.other_sense && *found.other_sense < clearly)
    progress.warn("calibrate: views go round one way or the other: both fit nearly as well");
  else if (found.reversed)
    progress.warn(
        "calibrate: the sample turns against the angles of the scan; the file that is written has it right, "
        "and --rotation-direction -1 tells other commands");
  if (found.last_view == calibration::LastView::doubled)
    progress.warn(
        "calibrate: the last view repeats the first one, although its angle is a step before that: the "
        "angles are wrong; give --arc DEG,inclusive, or leave the last view out");
  if (found.last_view == calibration::LastView::missing)
    progress.warn(
        "calibrate: the last view should repeat the first one, and does not: a view is missing at the end, "
        "or the angles are wrong; give --arc DEG");
}

}  // namespace

Calibrated calibrate_on_frames(const CalibrateRun& run) {
  const Scan& whole = run.reader.info().scan;
  require<GeometryError>(axis_of(whole).has_value() && view_shifts_of(whole).empty(),
                         "calibrate: the views of this ", kind_of(whole),
                         " beam have places of their own; give --geometry cone, fan or parallel");
  CalibratedPart part =
      calibrated_part(run, whole, level_of_searches(select(run.options, run.reader.info())));
  run.progress("find axis and roll", 0, 1, "searches");
  Found found = by_opposite_rays(part);
  part.end_stage("opposite_rays");
  by_sharp_slices(found, run, part);
  part.end_stage("sharp_slices");
  const Cells cells = in_file(found, part, whole), own = in_part(found, part);
  Calibrated all{moved(whole, found, cells.axis, cells.midplane), json::object(), {}, {}, {}};
  add_report(all, found, part, whole);
  warn_of_views(found.frames, run.progress);
  finish(all, run, part, part.scan, moved(part.scan, found, own.axis, own.midplane));
  return all;
}

Calibrated calibrate_scan(const CalibrateRun& run) {
  return axis_of(run.reader.info().scan) ? calibrate_on_frames(run) : calibrate_on_orbit(run);
}

void require_pixel_size(const io::ScanInfo& info) {
  require<GeometryError>(info.pixel_size_mm.has_value(), "calibrate: the scan has no pixel size; give ",
                         spelled("pixel-size"), " MM");
}

}  // namespace tandem::apps
