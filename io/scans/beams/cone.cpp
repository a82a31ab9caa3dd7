// Cone beams, and fan beams, which are cone beams of one row in files.

#include <sstream>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../changed_frames.hpp"
#include "../recorded.hpp"
#include "beam.hpp"

namespace tandem::io {

namespace {

/// Sets the deviations from the circle of views that are shifted, or whose sample moved.
void stand_beside(Acquisition& found, const OpenOptions& options, const Detector& detector) {
  ScanInfo& info = found.info;
  const bool given = !options.view_shifts.empty() || !options.row_shifts.empty();
  info.off_circle = {.bin_shifts = shifts_of_views(found, options, options.view_shifts, found.bin_shifts),
                     .row_shifts = shifts_of_views(found, options, options.row_shifts, found.row_shifts),
                     .moves = every(found.moves, options.first_view, options.view_step),
                     .curved = options.curved_detector};
  require_rows_left(info.off_circle.row_shifts, detector);
  info.is_no_circle = given || found.climbs;
  const bool shifted = !info.off_circle.bin_shifts.empty() || !info.off_circle.row_shifts.empty() ||
                       !info.off_circle.moves.empty();
  if (shifted && !info.is_no_circle && !info.off_circle.curved)
    info.notes.emplace_back(
        "the recorded shifts of the views count for solvers; fdk leaves them out, as it takes a circle");
}

Scan scan_of_cone(Acquisition& found, const OpenOptions& options, Detector detector,
                  std::vector<double>&& angles) {
  const auto given = [](const std::optional<double>& value, const std::string& what) {
    require<GeometryError>(value.has_value(), "cone beam: ", what);
    return *value;
  };
  const auto either = [](const std::optional<double>& user, const std::optional<double>& file) {
    return user ? user : file;
  };
  stand_beside(found, options, detector);
  ConeBeam cone{detector, std::move(angles)};
  cone.sod = given(either(options.sod_mm, found.sod_mm),
                   "no distance from source to axis; give " + spelled("sod") + " MM");
  cone.sdd = given(either(options.sdd_mm, found.sdd_mm),
                   "no distance from source to detector; give " + spelled("sdd") + " MM");
  given(found.info.pixel_size_mm, "no pitch of the detector; give " + spelled("pixel-size") + " MM");
  const std::optional<double> midplane = either(options.midplane_row, found.midplane_row);
  cone.midplane_row = midplane.value_or(0.5 * (detector.rows - 1));
  if (!midplane && detector.rows > 1) {
    std::ostringstream text;
    text << "the scan records no midplane row; the middle, row " << cone.midplane_row
         << ", is taken (give " + spelled("midplane-row") + " Y)";
    found.info.notes.push_back(text.str());
  }
  if (!found.row_axis_bins.empty())
    found.info.notes.emplace_back("the recorded axes of the rows are left out: a cone beam has one");
  validate(cone);
  return point_source_scan(std::move(cone));
}

void read_cone(const hdf5::File& file, const std::string& group, Acquisition& found) {
  found.sod_mm = length_mm(file, group + "/sod", "mm", found.info.notes);
  found.sdd_mm = length_mm(file, group + "/sdd", "mm", found.info.notes);
  found.midplane_row = file.number(group + "/midplane_row");
}

void take_cone(const Scan& scan, Acquisition& found) {
  const ConeBeam& cone = point_source_of(scan);
  found.sod_mm = cone.sod, found.sdd_mm = cone.sdd, found.midplane_row = cone.midplane_row;
}

void write_cone(hdf5::File& file, const std::string& group, const Scan& scan) {
  const ConeBeam& cone = point_source_of(scan);
  file.write_number(group + "/sod", cone.sod, "mm");
  file.write_number(group + "/sdd", cone.sdd, "mm");
  file.write_number(group + "/midplane_row", cone.midplane_row, "");
}

}  // namespace

extern const BeamFields cone_fields{
    ConeBeam::kind, true,         true,      [](const OpenOptions& o) { return o.sod_mm || o.sdd_mm; },
    read_cone,      scan_of_cone, take_cone, write_cone};

}  // namespace tandem::io
