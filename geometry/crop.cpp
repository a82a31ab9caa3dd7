// Parts of scans: selected views, rows and bins, and cells averaged.

#include "../core/error.hpp"
#include "scan.hpp"

namespace tandem {

namespace {

void require_part(const char* name, Range part, Index count) {
  require<GeometryError>(0 <= part.first && part.first < part.last && part.last <= count, name, " ",
                         part.first, ":", part.last, " is empty or outside 0:", count);
}

/// What scans of both kinds have.
template <class Kind>
Kind cropped(const Kind& scan, Range views, Range rows, Range bins) {
  require_part("view range", views, static_cast<Index>(scan.angles.size()));
  require_part("row range", rows, scan.detector.rows);
  require_part("column range", bins, scan.detector.bins);
  Kind part = scan;
  part.angles.assign(scan.angles.begin() + views.first, scan.angles.begin() + views.last);
  part.detector.rows = rows.size();
  part.detector.bins = bins.size();
  part.detector.axis_bin -= static_cast<double>(bins.first);
  return part;
}

/// A position on the detector, in cells of f x f.
double shrunk(double position, Index f) { return (position + 0.5) / static_cast<double>(f) - 0.5; }

void shrink(Detector& d, int level, bool pitch_known) {
  const Index factor = Index{1} << level, row_factor = rows_together(d.rows, level);
  require<GeometryError>(d.bins >= factor && d.rows >= row_factor, "binning ", level, ": ", d.rows,
                         " rows x ", d.bins, " bins are fewer than one cell of ", row_factor, " x ", factor);
  d.bins /= factor;
  d.rows /= row_factor;
  d.axis_bin = shrunk(d.axis_bin, factor);
  const double unit = pitch_known ? 1 : static_cast<double>(factor);
  d.bin_pitch *= static_cast<double>(factor) / unit;
  d.row_pitch *= static_cast<double>(row_factor) / unit;
}

}  // namespace

ParallelBeam crop(const ParallelBeam& scan, Range views, Range rows, Range bins) {
  ParallelBeam part = cropped(scan, views, rows, bins);
  if (!scan.row_axis_bins.empty())
    part.row_axis_bins.assign(scan.row_axis_bins.begin() + rows.first,
                              scan.row_axis_bins.begin() + rows.last);
  for (double& axis : part.row_axis_bins) axis -= static_cast<double>(bins.first);
  return part;
}

ConeBeam crop(const ConeBeam& scan, Range views, Range rows, Range bins) {
  ConeBeam part = cropped(scan, views, rows, bins);
  part.midplane_row -= static_cast<double>(rows.first);
  return part;
}

ConeBeam crop(const ConeBeam& scan, Range views, Range rows) {
  return crop(scan, views, rows, {0, scan.detector.bins});
}

Scan crop(const Scan& scan, Range views, Range rows, Range bins) {
  return std::visit([&](const auto& s) -> Scan { return crop(s, views, rows, bins); }, scan);
}

ParallelBeam bin_down(const ParallelBeam& scan, int level, bool pitch_known) {
  const Index factor = Index{1} << level, row_factor = rows_together(scan.detector.rows, level);
  ParallelBeam binned = scan;
  shrink(binned.detector, level, pitch_known);
  if (scan.row_axis_bins.empty()) return binned;
  binned.row_axis_bins.assign(static_cast<std::size_t>(binned.detector.rows), 0.0);
  for (Index row = 0; row < binned.detector.rows * row_factor; ++row)
    binned.row_axis_bins[row / row_factor] +=
        shrunk(scan.row_axis_bins[row], factor) / static_cast<double>(row_factor);
  return binned;
}

ConeBeam bin_down(const ConeBeam& scan, int level) {
  ConeBeam binned = scan;
  shrink(binned.detector, level, true);
  binned.midplane_row = shrunk(scan.midplane_row, rows_together(scan.detector.rows, level));
  return binned;
}

Scan bin_down(const Scan& scan, int level, bool pitch_known) {
  if (const auto* cone = std::get_if<ConeBeam>(&scan)) return bin_down(*cone, level);
  return bin_down(std::get<ParallelBeam>(scan), level, pitch_known);
}

}  // namespace tandem
