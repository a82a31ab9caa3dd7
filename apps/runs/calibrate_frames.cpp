// Axis and roll from the frames of any sample.

#include <algorithm>
#include <cmath>

#include "../../calibration/frames.hpp"
#include "../../calibration/slices.hpp"
#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../beams/beam.hpp"
#include "../pages/preview.hpp"
#include "calibrate.hpp"
#include "frames.hpp"
#include "lines.hpp"

namespace tandem::apps {

namespace {

using calibration::FrameCalibration, calibration::FrameStack, calibration::Verdict;
using nlohmann::json;

/// A selected part of a scan with its frames, of which 2^level x 2^level cells are one.
struct Part {
  Selection selected;
  int level = 0;
  Scan scan;
  FrameStack frames{};
  double row = 0;  ///< row of the stack for which the axis is given

  double f() const { return std::exp2(level); }
  double bin_in_file(double bin) const {
    return (bin + 0.5) * f() - 0.5 + static_cast<double>(selected.bins.first);
  }
};

/// Adds a frame of means of cells, (row, bin).
void add_binned(FrameStack& stack, std::span<const float> frame, Index bins, Index rows_together,
                Index bins_together) {
  const auto weight = 1 / static_cast<float>(rows_together * bins_together);
  const std::size_t first = stack.values.size();
  stack.values.resize(first + static_cast<std::size_t>(stack.rows * stack.bins), 0);
  for (Index row = 0; row < stack.rows * rows_together; ++row)
    for (Index bin = 0; bin < stack.bins * bins_together; ++bin)
      stack
          .values[first + static_cast<std::size_t>(row / rows_together * stack.bins + bin / bins_together)] +=
          weight * frame[static_cast<std::size_t>(row * bins + bin)];
}

/// The row for which the axis is given: the row at the height of a point source, else the middle row.
double row_of_axis(const Scan& scan) {
  const Detector& d = detector_of(scan);
  return rows_are_slices(scan) || d.rows == 1 ? 0.5 * static_cast<double>(d.rows - 1)
                                              : point_source_of(scan).midplane_row;
}

Part part_of(io::ScanReader& reader, const ScanOptions& o, ProgressLine& progress) {
  const Scan& scan = reader.info().scan;
  require<GeometryError>(axis_of(scan).has_value() && view_shifts_of(scan).empty(),
                         "calibrate: the views of this ", kind_of(scan),
                         " beam have places of their own; give --geometry cone, fan or parallel");
  Part part{.selected = select(o, reader.info()), .scan = scan};
  const Selection& s = part.selected;
  part.scan = crop(scan, s.views, s.rows, s.bins);
  const Index most =
      s.rows.size() == 1 ? 1024 : 384;  // bins; finer cells tell no more, because of their noise
  while ((s.bins.size() >> part.level) >= most) ++part.level;
  const Index rows_together = tandem::rows_together(s.rows.size(), part.level),
              bins_together = Index{1} << part.level;
  part.scan = bin_down(part.scan, part.level, true);
  const Detector& d = detector_of(part.scan);
  part.frames = {{}, d.rows, d.bins, angles_of(part.scan), 0, d.row_pitch / d.bin_pitch};
  if (!rows_are_slices(scan)) part.frames.bin_angle = d.bin_pitch / point_source_of(part.scan).sdd;
  part.row = row_of_axis(part.scan);
  for_each_frame(reader, o, progress, [&](std::size_t, std::span<const float> frame) {
    add_binned(part.frames, frame, s.bins.size(), rows_together, bins_together);
  });
  return part;
}

void turn_round(Scan& scan) {
  for (double& angle : angles_of(scan)) angle = -angle;
}

/// A scan with this axis; as a list of views, if its detector is rolled.
Scan moved(Scan scan, double axis_bin, double roll, bool reversed) {
  detector_of(scan).axis_bin = axis_bin;
  if (reversed) turn_round(scan);
  if (roll == 0) return scan;
  return as_free_views(scan, {.roll = roll});
}

bool has_roll(const FrameCalibration& found, const Part& part) {
  return !calibration::few_rows(part.frames) && found.line.verdict == Verdict::resolved;
}

/// The axis in the row for which the whole scan gives it, because rows of a part may have another middle.
double axis_in_file(const FrameCalibration& found, const Part& part, const Scan& whole) {
  const double row = (part.row + 0.5) * (part.frames.rows == 1 ? 1 : part.f()) - 0.5 +
                     static_cast<double>(part.selected.rows.first);
  const double roll = has_roll(found, part) ? found.line.line.roll : 0;
  return part.bin_in_file(found.line.line.axis_bin) +
         (row_of_axis(whole) - row) * part.frames.aspect * std::tan(roll);
}

json number(double value, double uncertainty, std::string_view verdict) {
  return {{"value", value}, {"uncertainty", uncertainty}, {"verdict", verdict}};
}

json not_told_of(const Scan& scan, bool roll) {
  json all = json::array();
  const auto add = [&](const char* what, const char* why) { all.push_back({{"what", what}, {"why", why}}); };
  if (!roll)
    add("roll_deg",
        "few views have an opposite one, or nothing in them changes with height; more than half a turn tells "
        "it");
  if (rows_are_slices(scan)) {
    add("rotation", "of parallel rays: the mirror image of the sample, turned the other way, looks the same");
  } else {
    for (const char* what : {"sod_mm", "sdd_mm", "midplane_row", "yaw_deg"})
      add(what, "opposite rays hardly change with it; a scan of balls tells it (--balls)");
    add("pitch_deg", "samples of another shape look the same without it");
  }
  return all;
}

void add_report(Calibrated& all, const FrameCalibration& found, const Part& part, const Scan& whole) {
  const double axis = axis_in_file(found, part, whole),
               axis_uncertainty = part.f() * found.line.axis_uncertainty,
               roll = in_degrees(found.line.line.roll),
               roll_uncertainty = in_degrees(found.line.roll_uncertainty);
  const bool rolled = has_roll(found, part);
  all.report = {{"method", "opposite rays"},
                {"axis_bin", number(axis, axis_uncertainty, "resolved")},
                {"roll_deg", rolled ? number(roll, roll_uncertainty, "resolved") : json(nullptr)},
                {"roll_verdict", !calibration::few_rows(part.frames) ? name_of(found.line.verdict) : "flat"},
                {"misfit_before", calibration::misfit_at(part.frames, {*axis_of(part.scan), part.row, 0})},
                {"misfit", found.line.misfit},
                {"opposite_views", found.line.pairs},
                {"rotation", found.reversed ? "against the angles" : "along the angles"},
                {"other_rotation_fits_worse_by", or_null(found.other_sense)},
                {"last_view", name_of(found.last_view)},
                {"not_told", not_told_of(whole, rolled)}};
  all.lines.push_back("axis_bin      " + with_uncertainty(axis, axis_uncertainty));
  if (rolled) all.lines.push_back("roll_deg      " + with_uncertainty(roll, roll_uncertainty));
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
        "and "
        "--rotation-direction -1 tells other commands");
  if (found.last_view == calibration::LastView::doubled)
    progress.warn(
        "calibrate: the last view repeats the first one, although its angle is a step before that: the "
        "angles are "
        "wrong; give --arc DEG,inclusive, or leave the last view out");
  if (found.last_view == calibration::LastView::missing)
    progress.warn(
        "calibrate: the last view should repeat the first one, and does not: a view is missing at the end, "
        "or the "
        "angles are wrong; give --arc DEG");
}

/// Adds slices in the middle and a third of the height above it, before and after calibration.
void add_slices(Calibrated& all, const FrameCalibration& found, const Part& part) {
  const VolumeGrid grid = fitting_grid(part.scan);
  const double up = static_cast<double>(grid.size[2]) * grid.pitch[2] / 3;
  const std::vector<double> heights = !calibration::few_rows(part.frames)
                                          ? std::vector{grid.centre[2], grid.centre[2] + up}
                                          : std::vector{grid.centre[2]};
  const double roll = has_roll(found, part) ? found.line.line.roll : 0;
  const Index width = grid.size[0], height = grid.size[1];
  std::vector<float> shown;
  for (std::size_t k = 0; k < heights.size(); ++k) {
    for (const bool after : {false, true}) {
      Scan scan = part.scan;
      if (after) scan = moved(scan, found.line.line.axis_bin, roll, found.reversed);
      if (rows_are_slices(scan)) scan = as_free_views(scan);
      const std::vector<float> slice = calibration::slices_of(part.frames, scan, {heights[k]});
      io::Picture picture{width, height, slice, {}};
      picture.captions = {std::string(after ? "calibrated" : "as the scan says") +
                          (k == 0 ? "" : ", higher up")};
      all.pictures.push_back(std::move(picture));
      shown.insert(shown.end(), slice.begin(), slice.end());
    }
  }
  const GreyWindow window = window_of(shown);
  all.sheet = {.black = window.black, .white = window.white, .columns = 2};
}

}  // namespace

Calibrated calibrate_on_frames(io::ScanReader& reader, const ScanOptions& o, ProgressLine& progress) {
  const Part part = part_of(reader, o, progress);
  progress("find axis and roll", 0, 1, "searches");
  const FrameCalibration found = calibration::calibrate_by_frames(part.frames, part.row);
  const Scan& whole = reader.info().scan;
  Calibrated all{moved(whole, axis_in_file(found, part, whole),
                       has_roll(found, part) ? found.line.line.roll : 0, found.reversed),
                 json::object(),
                 {},
                 {},
                 {}};
  add_report(all, found, part, whole);
  warn_of_views(found, progress);
  progress("make slices", 0, 1, "slices");
  add_slices(all, found, part);
  return all;
}

}  // namespace tandem::apps
