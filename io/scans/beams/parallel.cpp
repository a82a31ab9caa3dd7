#include <algorithm>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../changed_frames.hpp"
#include "beam.hpp"

namespace tandem::io {

namespace {

std::vector<double> known_row_axes(Acquisition& found, const Detector& detector) {
  const std::vector<double>& axes = found.row_axis_bins;
  const auto known = [&](double axis) { return near_detector(axis, detector.bins); };
  if (axes.empty()) return {};
  if (std::ssize(axes) == detector.rows && std::all_of(axes.begin(), axes.end(), known)) return axes;
  found.info.notes.emplace_back(
      "the recorded axes of the rows are left out: there is not one per row, or they are outside the "
      "detector");
  return {};
}

Scan scan_of_parallel(Acquisition& found, const OpenOptions& options, Detector detector,
                      std::vector<double>&& angles) {
  for (const auto& [length, option] : {std::pair{options.sod_mm, "sod"}, {options.sdd_mm, "sdd"}})
    require<GeometryError>(!length, spelled(option), " ", length.value_or(0), ": ", spelled("geometry"),
                           " parallel has no source; leave one of the two out");
  require<GeometryError>(
      !options.midplane_row, spelled("midplane-row") + " ", options.midplane_row.value_or(0),
      ": the scan is a parallel beam; give " + spelled("sod") + " MM and " + spelled("sdd") + " MM too");
  require<GeometryError>(!options.curved_detector,
                         spelled("curved-detector") + ": the scan is a parallel beam; give " +
                             spelled("sod") + " MM and " + spelled("sdd") + " MM too");
  ParallelBeam scan{detector, std::move(angles), known_row_axes(found, detector)};
  scan.view_shift_bins = shifts_of_views(found, options, options.view_shifts, found.bin_shifts);
  found.info.row_shifts = shifts_of_views(found, options, options.row_shifts, found.row_shifts);
  require_rows_left(found.info.row_shifts, detector);
  found.info.off_circle.moves = every(found.moves, options.first_view, options.view_step);
  found.info.is_no_circle = found.climbs;
  return scan;
}

void read_parallel(const hdf5::File& file, const std::string& group, Acquisition& found) {
  if (const auto rows = file.find(group + "/row_axis_bins")) found.row_axis_bins = rows->numbers();
}

void take_parallel(const Scan& scan, Acquisition& found) {
  found.row_axis_bins = row_axes_of(scan);
  found.bin_shifts = view_shifts_of(scan);
}

void write_parallel(hdf5::File& file, const std::string& group, const Scan& scan) {
  const std::vector<double>& axes = row_axes_of(scan);
  if (!axes.empty()) file.write_numbers(group + "/row_axis_bins", axes, "");
  const std::vector<double>& shifts = view_shifts_of(scan);
  if (!shifts.empty()) file.write_numbers("/exchange/data_shift_x", shifts, "pixels");
}

}  // namespace

extern const BeamFields parallel_fields{
    ParallelBeam::kind, true,          false,         [](const OpenOptions&) { return false; }, read_parallel,
    scan_of_parallel,   take_parallel, write_parallel};

}  // namespace tandem::io
