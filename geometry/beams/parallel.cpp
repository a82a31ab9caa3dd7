#include "parallel.hpp"

#include <cmath>

#include "../../core/error.hpp"
#include "../fingerprint.hpp"

namespace tandem {

void validate(const ParallelBeam& scan) {
  const Detector& d = scan.detector;
  validate(d);
  validate_angles("ParallelBeam", scan.angles);
  require<GeometryError>(scan.row_axis_bins.empty() || std::ssize(scan.row_axis_bins) == d.rows,
                         "ParallelBeam: ", scan.row_axis_bins.size(), " row_axis_bins for ", d.rows,
                         " rows; give one per row, or none");
  for (double axis : scan.row_axis_bins) require_axis(d, axis);
  require<GeometryError>(scan.view_shift_bins.empty() || scan.view_shift_bins.size() == scan.angles.size(),
                         "ParallelBeam: ", scan.view_shift_bins.size(), " view shifts for ",
                         scan.angles.size(), " views; give one per view, or none");
  for (const double shift : scan.view_shift_bins)
    require<GeometryError>(std::abs(shift) < d.bins, "ParallelBeam: a view shift of ", shift,
                           " bins; less than the ", d.bins, " bins of the detector are needed");
}

bool half_acquisition(const ParallelBeam& scan) { return is_aside(scan.detector) && all_round(scan.angles); }

void keep_views(ParallelBeam& scan, std::span<const Index> views) {
  scan.angles = chosen(scan.angles, views);
  if (!scan.view_shift_bins.empty()) scan.view_shift_bins = chosen(scan.view_shift_bins, views);
}

ParallelBeam crop(const ParallelBeam& scan, Range views, Range rows, Range bins) {
  ParallelBeam part{crop(scan.detector, rows, bins), crop(scan.angles, views)};
  if (!scan.view_shift_bins.empty())
    part.view_shift_bins.assign(scan.view_shift_bins.begin() + views.first,
                                scan.view_shift_bins.begin() + views.last);
  if (!scan.row_axis_bins.empty())
    part.row_axis_bins.assign(scan.row_axis_bins.begin() + rows.first,
                              scan.row_axis_bins.begin() + rows.last);
  for (double& axis : part.row_axis_bins) axis -= bins.first;
  return part;
}

ParallelBeam bin_down(const ParallelBeam& scan, int level, bool pitch_known) {
  const Index factor = Index{1} << level, row_factor = rows_together(scan.detector.rows, level);
  ParallelBeam binned = scan;
  binned.detector = bin_down(scan.detector, level, pitch_known);
  for (double& shift : binned.view_shift_bins) shift /= factor;
  if (scan.row_axis_bins.empty()) return binned;
  binned.row_axis_bins.assign(binned.detector.rows, 0.0);
  for (Index row = 0; row < binned.detector.rows * row_factor; ++row)
    binned.row_axis_bins[row / row_factor] += binned_position(scan.row_axis_bins[row], factor) / row_factor;
  return binned;
}

std::uint64_t fingerprint(const ParallelBeam& scan) {
  Fingerprint all;
  all.add(scan.detector);
  all.add(scan.angles);
  all.add(scan.row_axis_bins);
  all.add(scan.view_shift_bins);
  return all.value();
}

VolumeGrid fitting_grid(const ParallelBeam& scan) {
  validate(scan);
  const Detector& d = scan.detector;
  const Index n = half_acquisition(scan) ? voxels_within(sides(d).farther, 1) : d.bins;
  return {{n, n, d.rows}, {d.bin_pitch, d.bin_pitch, d.row_pitch}, {}};
}

Space projection_space(const ParallelBeam& scan, Device device) {
  return Space({views_of(scan), scan.detector.rows, scan.detector.bins}, Blocks::rows, device,
               fingerprint(scan));
}

Range rows_met(const ParallelBeam&, const VolumeGrid&, Range slices) { return slices; }
Range slices_met(const ParallelBeam&, const VolumeGrid&, Range rows) { return rows; }

double distance_from_axis(const ParallelBeam&, double on_detector) { return on_detector; }

}  // namespace tandem
