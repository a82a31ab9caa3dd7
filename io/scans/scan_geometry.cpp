// Makes a scan from what a layout found and what the user gives, for all layouts.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../files/text.hpp"
#include "angular_range.hpp"
#include "beams/beam.hpp"
#include "changed_frames.hpp"
#include "given_number.hpp"

namespace tandem::io {

namespace {

constexpr double degree = in_radians(1);

std::vector<double> arc(const OpenOptions& options, Index views) {
  const double degrees = *options.arc_deg;
  require<GeometryError>(std::isfinite(degrees) && degrees != 0, "open_scan: arc = ", degrees,
                         " deg; a finite arc other than 0 is needed");
  const double steps = std::max<Index>(options.arc_inclusive ? views - 1 : views, 1);
  std::vector<double> angles;
  for (Index k = 0; k < views; ++k) angles.push_back(degrees * degree * k / steps);
  return angles;
}

/// The angles that the user gives, else those of the file.
std::vector<double> chosen_angles(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  const Index views = shape[0];
  const bool given = !options.angles.empty() || options.arc_deg;
  require<FileError>(given || !found.angles.empty(), found.angles_where,
                     ": missing; give " + spelled("angles") + " FILE or " + spelled("arc") + " DEG");
  if (given && !found.angles.empty())
    found.info.notes.emplace_back("the scan's own angles are not used: others are given");
  if (options.angles.empty() && options.arc_deg) return arc(options, views);

  const bool own = options.angles.empty();
  const std::string where = own ? found.angles_where : options.angles.string();
  auto [angles, note] = own ? GivenAngles{.radians = found.angles} : read_angles(options);
  if (own && !found.angles_have_unit) note = heed_radians(angles, where);
  if (!note.empty()) found.info.notes.push_back(std::move(note));
  const bool aside = found.lines && std::ssize(angles) == shape[2];
  require<FileError>(
      std::ssize(angles) == views, where, ": ", angles.size(), " angles for ", views,
      " views; one per view is needed, ",
      aside ? "as for the columns of this sinogram, which " + spelled("orient") + " transpose makes views"
            : "give " + spelled("angles") + " FILE[A:B] or " + spelled("arc") + " DEG");
  for (std::size_t k = 0; k < angles.size(); ++k)
    require<FileError>(std::isfinite(angles[k]), where, ": the angle of view ", k, " is ", angles[k] / degree,
                       " deg; a finite number is needed");
  const auto [least, most] = std::ranges::minmax(angles);
  require<FileError>(views == 1 || most - least > 1e-9, where, ": all ", views, " views are at ",
                     angles.front() / degree,
                     " deg; give " + spelled("angles") + " FILE or " + spelled("arc") + " DEG");
  return angles;
}

Detector found_detector(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  ScanInfo& info = found.info;
  if (options.pixel_size_mm) info.pixel_size_mm = found.row_pitch_mm = options.pixel_size_mm;
  if (info.axis_bin && !near_detector(*info.axis_bin, shape[2])) {
    info.notes.emplace_back("the recorded rotation axis is left out: it is far outside the detector");
    info.axis_bin.reset();
  }
  Detector detector{.bins = shape[2], .rows = shape[1]};
  detector.bin_pitch = info.pixel_size_mm.value_or(1);
  detector.row_pitch = info.pixel_size_mm ? found.row_pitch_mm.value_or(detector.bin_pitch) : 1;
  detector.axis_bin = info.axis_bin.value_or(0.5 * (shape[2] - 1));
  return detector;
}

/// Notes lengths that the user gives over others that are recorded.
void note_given_lengths(Acquisition& found, const OpenOptions& options) {
  ScanInfo& info = found.info;
  const auto note = [&](const char* option, const std::optional<double>& given,
                        const std::optional<double>& recorded) {
    const std::string text = given_over_recorded(spelled(option), given, recorded, "mm");
    if (!text.empty()) info.notes.push_back(text);
    return !text.empty();
  };
  if (!note("pixel-size", options.pixel_size_mm, info.pixel_size_mm))
    note("pixel-size", options.pixel_size_mm, info.pixel_size_mm ? found.row_pitch_mm : std::nullopt);
  note("sod", options.sod_mm, found.sod_mm);
  note("sdd", options.sdd_mm, found.sdd_mm);
}

/// Keeps a recorded roll and a recorded tilt if they can be corrected, and says so.
void suit_pose(ScanInfo& info, const BeamFields& beam) {
  if (detector_of(info.scan).rows == 1) info.roll_deg.reset(), info.tilt_deg.reset();
  const double roll = info.roll_deg.value_or(0), tilt = info.tilt_deg.value_or(0);
  std::ostringstream text;
  if (roll != 0) text << "a detector that is rolled by " << roll << " degrees";
  if (tilt != 0)
    text << (roll != 0 ? ", and " : "") << "an axis that is tilted by " << tilt << " degrees"
         << (beam.takes_tilt ? "" : ", which is left out in a " + std::string(beam.kind) + " beam");
  if (roll != 0 || tilt != 0)
    info.notes.push_back("the scan records " + text.str() + "; " + spelled("detector-roll") +
                         (beam.takes_tilt ? " and " + spelled("axis-tilt") : "") +
                         ", also of 0, come before that");
  if (!beam.takes_tilt) info.tilt_deg.reset();
}

}  // namespace

bool near_detector(double axis, Index bins) {
  const double width = bins;
  return axis >= -width && axis <= 2 * width - 1;
}

namespace {

/// Notes turns through angles of views before, which may be two scans.
void note_repeats(const std::vector<double>& angles, const std::string& where,
                  std::vector<std::string>& notes) {
  const std::vector<Range> ranges = angular_ranges_of(angles);
  const auto range_of = [&](const Range& views) {
    return AngularRange({angles.begin() + views.first, angles.begin() + views.last});
  };
  for (std::size_t k = 1; k < ranges.size(); ++k) {
    if (!range_of(ranges[k]).repeats(range_of(ranges[k - 1]))) continue;
    notes.push_back(words(where, ": views ", ranges[k].first, ":", ranges[k].last,
                          " have angles of views before them again; all are taken for one scan, in which the "
                          "sample stood still"));
    return;
  }
}

/// The angles of the views that are taken.
std::vector<double> angles_of_views(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  const std::vector<double> all = chosen_angles(found, options, shape);
  if (options.angles_unit.empty() && look_like_radians(all))
    found.info.notes.push_back((!options.angles.empty() ? options.angles.string()
                                : options.arc_deg       ? spelled("arc")
                                                        : found.angles_where) +
                               ": the angles look like radians, and are taken as degrees; give degrees by " +
                               spelled("arc") + ", or " + spelled("angles") + " with " +
                               spelled("angles-unit") + " rad");
  if (!found.climbs)
    note_repeats(all, options.angles.empty() ? found.angles_where : options.angles.string(),
                 found.info.notes);
  std::vector<double> angles = every(all, options.first_view, options.view_step);
  if (options.reverse_rotation)
    for (double& angle : angles) angle = -angle;
  return angles;
}

}  // namespace

void complete_geometry(Acquisition& found, const OpenOptions& options, const Shape& shape) {
  if (!options.geometry.empty()) found.views = read_geometry_file({options.geometry, options.parallel_rays});
  if (options.field_of_view) found.info.field_of_view = options.field_of_view;
  require<GeometryError>(options.kind != fan_kind || shape[1] == 1, spelled("geometry"),
                         " fan: the detector has ", shape[1], " rows, and that of a fan beam has one; give ",
                         spelled("geometry"), " cone");
  const BeamFields& beam = fields_of(found, options);
  found.kind = beam.kind;
  note_given_lengths(found, options);
  std::vector<double> angles;
  if (beam.has_angles) angles = angles_of_views(found, options, shape);
  found.info.scan = beam.scan(found, options, found_detector(found, options, shape), std::move(angles));
  suit_pose(found.info, beam);
}

}  // namespace tandem::io
