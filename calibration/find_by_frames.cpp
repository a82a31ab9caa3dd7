// From the frames of any sample: by opposite rays and sharp slices of views on a circle, and by sharp slices
// alone of views that have places of their own.

#include <array>
#include <cmath>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/spelled.hpp"
#include "../core/units.hpp"
#include "../geometry/fitted_orbit.hpp"
#include "../geometry/free_views.hpp"
#include "find.hpp"
#include "frames.hpp"
#include "sharpest.hpp"

namespace tandem::calibration {

namespace {

constexpr std::string_view by_rays = "opposite rays", by_slices = "sharpness of slices";

/// By how many cells of the file, or degrees, a number differs from the scan, and the uncertainty of that.
double unit_of(Sought what, const Part& part) {
  if (what == Sought::axis) return part.f();
  return what == Sought::midplane ? part.f_of_rows() : in_degrees(1);
}

/// The selected frames for searches of the axis and of sharp slices: finer cells tell no more, because of
/// their noise.
Part part_for_searches(const MeasuredFrames& measured) {
  constexpr Index of_a_row = 1023, of_frames = 383;
  return part_of(measured, measured.scan, measured.bins.size(),
                 measured.rows.size() == 1 ? of_a_row : of_frames);
}

/// Whether frames have so many rows and bins that their slices tell more.
bool has_slices(const Part& part) {
  constexpr Index fewest = 24;
  return part.frames.rows >= fewest && part.frames.bins >= fewest;
}

/// The sharpest slices of a part, which stands as `scan` says. They are listed among what is found.
SharpestSlices search_slices(Found& found, Part& part, const Scan& scan, const std::vector<Sought>& what,
                             const How& how) {
  constexpr std::array names{"axis_bin", "roll_deg", "tilt_deg", "midplane_row"};
  SharpestSlices slices = find_sharpest(
      part.frames, scan, what,
      [&](double share) { how.watch("find the sharpest slices", share, 1, "searches"); }, how.device);
  for (const Sharpened& each : slices.numbers) {
    const double unit = unit_of(each.what, part);
    found.searches->push_back(
        {row_of(names, each.what), each.verdict, unit * each.change, unit * each.uncertainty});
  }
  return slices;
}

/// Why slices do not tell a number.
const char* why_not(Verdict verdict) {
  switch (verdict) {
    case Verdict::railed:
      return "slices get sharper up to the end of what is searched, which is no small error";
    case Verdict::ambiguous:
      return "several values make slices about as sharp";
    default:
      return "slices are as sharp whatever it is, as those of less than a whole turn are";
  }
}

/// What is known of a number, in cells of the stack or rad, and by what.
struct Told {
  double value = 0, uncertainty = 0;
  std::string_view by{};  ///< empty: it is not told
  explicit operator bool() const { return !by.empty(); }
};

/// What was found of a scan on a circle.
struct OnCircle {
  FrameCalibration frames;
  Told axis, roll{}, tilt{}, midplane{};
  double row() const { return frames.line.line.row; }  ///< in which the axis is told
};

/// A scan with what was found, as a list of views if the detector is rolled or the axis leans. `midplane` and
/// `axis` are cells of that scan.
Scan scan_with(Scan scan, const OnCircle& found, double axis, double midplane) {
  detector_of(scan).axis_bin = axis;
  if (found.frames.reversed)
    for (double& angle : angles_of(scan)) angle = -angle;
  if (rays_cross_slices(scan)) {
    ConeBeam about = point_source_of(scan);
    about.midplane_row = midplane;
    scan = about;
  }
  const OffCircle off{.roll = found.roll.value, .tilt = found.tilt.value};
  return off.any() ? Scan(as_free_views(scan, off)) : scan;
}

OnCircle by_opposite_rays(const Part& part) {
  OnCircle found{calibrate_by_frames(part.frames, part.row), {}};
  const AxisLineEstimate& line = found.frames.line;
  found.axis = {line.line.axis_bin, line.axis_uncertainty, by_rays};
  if (!few_rows(part.frames) && line.verdict == Verdict::resolved)
    found.roll = {line.line.roll, line.roll_uncertainty, by_rays};
  if (found.roll && std::isfinite(line.row_uncertainty))
    found.midplane = {line.line.row, line.row_uncertainty, by_rays};
  return found;
}

/// The surer one of a number and what slices change of it.
void refine(Told& told, const Sharpened& by) {
  if (!told || by.uncertainty < told.uncertainty) told = {told.value + by.change, by.uncertainty, by_slices};
}

/// What slices are searched for: numbers that opposite rays do not tell well.
std::vector<Sought> sought_in_slices(const OnCircle& found, const Part& part) {
  constexpr double sure = 0.05, sure_row = 0.5;  // bins; rows, of the coarse frames
  std::vector<Sought> what;
  if (found.axis.uncertainty > sure) what.push_back(Sought::axis);
  what.push_back(Sought::roll);
  if (rows_are_slices(part.scan))
    what.push_back(Sought::tilt);
  else if (!found.midplane || found.midplane.uncertainty > sure_row)
    what.push_back(Sought::midplane);
  return what;
}

void take_sharpest(OnCircle& found, const SharpestSlices& slices) {
  for (const Sharpened& each : slices.numbers) {
    if (each.verdict != Verdict::resolved) continue;
    if (each.what == Sought::axis) refine(found.axis, each);
    if (each.what == Sought::roll) refine(found.roll, each);
    if (each.what == Sought::tilt) found.tilt = {each.change, each.uncertainty, by_slices};
    if (each.what == Sought::midplane) {
      if (!found.midplane) found.midplane.value = found.row();
      refine(found.midplane, each);
    }
  }
}

/// Where the midplane falls, and the axis in that row, in a part of a scan or in the whole.
struct AxisCells {
  double axis, midplane;
};
AxisCells in_part(const OnCircle& found, const Part& part) {
  const double midplane = found.midplane ? found.midplane.value : part.row;
  return {found.axis.value + (midplane - found.row()) * part.frames.aspect * std::tan(found.roll.value),
          midplane};
}
AxisCells in_file(const OnCircle& found, const Part& part) {
  const double midplane =
                   found.midplane ? part.row_in_file(found.midplane.value) : row_of_axis(part.measured.scan),
               rows = (midplane - part.row_in_file(found.row())) / part.f_of_rows();
  return {part.bin_in_file(found.axis.value + rows * part.frames.aspect * std::tan(found.roll.value)),
          midplane};
}

Quantity quantity_of(const char* name, const Told& told, double value, double unit) {
  if (!told) return {name};
  return {name, {value}, {unit * told.uncertainty}, told.by};
}

Verdict verdict_of(const SharpestSlices& slices, Sought what) {
  for (const Sharpened& each : slices.numbers)
    if (each.what == what) return each.verdict;
  return Verdict::flat;
}

/// The numbers, and why others are not told.
void add_numbers(Found& all, const OnCircle& found, const SharpestSlices& slices, const Part& part,
                 const AxisCells& cells) {
  all.numbers = {quantity_of("axis_bin", found.axis, cells.axis, part.f()),
                 quantity_of("roll_deg", found.roll, in_degrees(found.roll.value), in_degrees(1))};
  const auto why_no = [&](Sought what) {
    return has_slices(part)
               ? why_not(verdict_of(slices, what))
               : "frames of fewer than 24 rows or bins, once cells are joined, make no slices that tell it";
  };
  if (!found.roll)
    all.not_told.push_back({"roll_deg", few_rows(part.frames)
                                            ? "a detector of so few rows does not tell it"
                                            : "few views have an opposite one, or nothing in them changes "
                                              "with height; more than half a turn "
                                              "tells it"});
  if (rows_are_slices(part.measured.scan)) {
    all.numbers.push_back(quantity_of("tilt_deg", found.tilt, in_degrees(found.tilt.value), in_degrees(1)));
    if (!found.tilt) all.not_told.push_back({"tilt_deg", why_no(Sought::tilt)});
    all.not_told.push_back(
        {"rotation",
         "of parallel rays: the mirror image of the sample, turned the other way, looks the same"});
    return;
  }
  all.numbers.push_back(quantity_of("midplane_row", found.midplane, cells.midplane, part.f_of_rows()));
  if (!found.midplane) all.not_told.push_back({"midplane_row", why_no(Sought::midplane)});
  for (const char* what : {"sod_mm", "sdd_mm", "yaw_deg"})
    all.not_told.push_back(
        {what, "opposite rays hardly change with it; a scan of balls tells it (" + spelled("balls") + ")"});
  all.not_told.push_back({"pitch_deg", "samples of another shape look the same without it"});
}

void add_facts(Found& all, const OnCircle& found, const Part& part) {
  const AxisLineEstimate& line = found.frames.line;
  const Verdict roll = few_rows(part.frames) ? Verdict::flat : line.verdict;
  all.facts = {{"roll_verdict", std::string(name_of(roll))},
               {"misfit_before", misfit_at(part.frames, {*axis_of(part.scan), part.row, 0})},
               {"misfit", line.misfit},
               {"opposite_views", line.pairs},
               {"last_view", std::string(name_of(found.frames.last_view))}};
}

void warn_of_views(Found& all, const FrameCalibration& found) {
  constexpr double clearly = 1.2;
  all.sense = {found.reversed, found.other_sense};
  warn_of_sense(all, clearly, "");
  if (found.last_view == LastView::doubled)
    all.warnings.push_back(
        "calibrate: the last view repeats the first one, although its angle is a step before that: the "
        "angles are wrong; give " +
        spelled("arc") + " DEG,inclusive, or leave the last view out");
  if (found.last_view == LastView::missing)
    all.warnings.push_back(
        "calibrate: the last view should repeat the first one, and does not: a view is missing at the end, "
        "or the angles are wrong; give " +
        spelled("arc") + " DEG");
}

/// Axis, roll, tilt and midplane of views on a circle.
Found find_on_circle(const MeasuredFrames& measured, const How& how) {
  const Scan& whole = measured.scan;
  require<GeometryError>(
      axis_of(whole).has_value() && view_shifts_of(whole).empty(), "calibrate: the views of this ",
      kind_of(whole), " beam have places of their own; give ", spelled("geometry"), " cone, fan or parallel");
  Part part = part_for_searches(measured);
  how.watch("find axis and roll", 0, 1, "searches");
  OnCircle found = by_opposite_rays(part);
  part.laps.end("opposite_rays");
  Found all{"opposite rays, sharpness of slices", whole};
  all.searches.emplace();
  SharpestSlices slices;
  if (has_slices(part)) {
    slices = search_slices(all, part, scan_with(part.scan, found, found.axis.value, found.row()),
                           sought_in_slices(found, part), how);
    take_sharpest(found, slices);
  }
  part.laps.end("sharp_slices");
  const AxisCells cells = in_file(found, part), own = in_part(found, part);
  all.scan = scan_with(whole, found, cells.axis, cells.midplane);
  add_numbers(all, found, slices, part, cells);
  add_facts(all, found, part);
  warn_of_views(all, found.frames);
  show_slices(all, part, part.scan, scan_with(part.scan, found, own.axis, own.midplane), how);
  return all;
}

void require_circle(const FittedOrbit& orbit) {
  constexpr double upright = 0.995;
  require<GeometryError>(!orbit.goes_on, "calibrate: sources go along a helix; slices tell of circles only");
  require<GeometryError>(std::abs(orbit.axis[2]) > upright, "calibrate: sources go about (", orbit.axis[0],
                         ", ", orbit.axis[1], ", ", orbit.axis[2],
                         "); slices tell of circles about z: turn the frame of the file");
}

/// The mean of a number over the views.
template <class Value>
double mean(const std::vector<FlexibleView>& views, const Value& value) {
  double sum = 0;
  for (const FlexibleView& view : views) sum += value(view);
  return sum / views.size();
}

/// A number as views say it now.
struct NamedNumber {
  const char* name;
  double value;
};
NamedNumber named(Sought what, const Scan& whole) {
  const auto scan = as_free_views(whole);
  const auto cell = [&](Index count, auto of) {
    return 0.5 * (count - 1) +
           mean(scan.views, [&](const FlexibleView& view) { return of(place_of(scan, view)); });
  };
  switch (what) {
    case Sought::axis:
      return {"axis_bin", cell(scan.detector.bins, [](const CellPlace& at) { return at.bin; })};
    case Sought::roll:
      return {"roll_deg", in_degrees(mean(scan.views, [&](const auto& v) { return roll_of(scan, v); }))};
    case Sought::tilt:
      return {"elevation_deg",
              in_degrees(mean(scan.views, [&](const auto& v) { return elevation_of(scan, v); }))};
    case Sought::midplane:
      break;
  }
  return {"midplane_row", cell(scan.detector.rows, [](const CellPlace& at) { return at.row; })};
}

void add_numbers(Found& all, const SharpestSlices& found, const Part& part) {
  for (const Sharpened& each : found.numbers) {
    const auto [name, value] = named(each.what, all.scan);
    all.numbers.push_back({name});
    if (each.verdict == Verdict::resolved)
      all.numbers.back() = {name, {value}, {unit_of(each.what, part) * each.uncertainty}, by_slices};
    else
      all.not_told.push_back({name, why_not(each.verdict)});
  }
  all.not_told.push_back({"height", "the sample may be higher or lower"});
}

void require_told(const SharpestSlices& found) {
  for (const Sharpened& each : found.numbers)
    if (each.verdict == Verdict::resolved) return;
  throw GeometryError(std::string("calibrate: slices do not tell where these views were: ") +
                      why_not(found.numbers.front().verdict));
}

/// Axis, roll, elevation and midplane of views that have places of their own, along a circle: laminography.
Found find_on_orbit(const MeasuredFrames& measured, const How& how) {
  const Scan& whole = measured.scan;
  require_circle(fitted_orbit(whole));
  Part part = part_for_searches(measured);
  require<GeometryError>(has_slices(part), "calibrate: frames of ", part.frames.rows, " rows x ",
                         part.frames.bins,
                         " bins are too small; slices of views that have places of their own need 24 x 24");
  const FittedOrbit orbit = fitted_orbit(part.scan);
  part.frames.angles = orbit.angles;
  const bool tilt = orbit.parallel || leans(part.scan);
  Found all{by_slices, whole};
  all.searches.emplace();
  const SharpestSlices found = search_slices(
      all, part, part.scan, {Sought::axis, Sought::roll, tilt ? Sought::tilt : Sought::midplane}, how);
  part.laps.end("sharp_slices");
  require_told(found);
  Change in_file = found.change;
  in_file.bins *= part.f(), in_file.rows *= part.f_of_rows();
  all.scan = changed(whole, in_file);
  add_numbers(all, found, part);
  show_slices(all, part, part.scan, changed(part.scan, found.change), how);
  return all;
}

}  // namespace

Found find_by_frames(const MeasuredFrames& measured, const How& how) {
  return axis_of(measured.scan) ? find_on_circle(measured, how) : find_on_orbit(measured, how);
}

}  // namespace tandem::calibration
