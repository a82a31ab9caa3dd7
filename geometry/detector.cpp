#include "detector.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/rounding.hpp"

namespace tandem {

namespace {

void require_cell(const char* name, double pitch) {
  require<GeometryError>(std::isfinite(pitch) && pitch > 0, "Detector: ", name, " = ", pitch,
                         " mm; a positive length is needed");
}

void require_part(const char* name, Range part, Index count) {
  require<GeometryError>(0 <= part.first && part.first < part.last && part.last <= count, name, " ",
                         part.first, ":", part.last, " is empty or outside 0:", count);
}

}  // namespace

Sides sides(const Detector& d) {
  const double before = d.axis_bin, after = d.bins - 1 - d.axis_bin;
  return {std::max(before, after), std::min(before, after), after > before ? 1 : -1};
}

Index missing_bins(const Detector& d) {
  const Sides side = sides(d);
  const auto missing = ceil_index(side.farther - side.nearer);
  return missing <= 2 ? 0 : missing;
}

bool is_aside(const Detector& d) {
  const Sides side = sides(d);
  return missing_bins(d) > 0 && side.nearer < 0.9 * side.farther;
}

Detector crop(const Detector& detector, Range rows, Range bins) {
  require_part("row range", rows, detector.rows);
  require_part("column range", bins, detector.bins);
  Detector part = detector;
  part.rows = rows.size();
  part.bins = bins.size();
  part.axis_bin -= bins.first;
  return part;
}

Detector bin_down(const Detector& detector, int level, bool pitch_known) {
  Detector d = detector;
  require<GeometryError>(level >= 0 && level < 32, "binning ", level, "; a number from 0 to 31 is needed");
  const Index factor = Index{1} << level, row_factor = rows_together(d.rows, level);
  require<GeometryError>(d.bins >= factor && d.rows >= row_factor, "binning ", level, ": ", d.rows,
                         " rows x ", d.bins, " bins are fewer than one cell of ", row_factor, " x ", factor);
  d.bins /= factor;
  d.rows /= row_factor;
  d.axis_bin = binned_position(d.axis_bin, factor);
  const double unit = pitch_known ? 1 : factor;
  d.bin_pitch *= factor / unit;
  d.row_pitch *= row_factor / unit;
  return d;
}

void require_axis(const Detector& d, double axis_bin) {
  const double width = d.bins;
  require<GeometryError>(std::isfinite(axis_bin) && axis_bin >= -width && axis_bin <= 2 * width - 1,
                         "Detector: axis_bin = ", axis_bin,
                         " is more than the detector's width outside its bins 0..", d.bins - 1,
                         "; give the axis in bins from 0");
}

double furthest_axis(const Detector& d) {
  const double width = d.bins;
  return std::max(d.axis_bin + width, 2 * width - 1 - d.axis_bin);
}

void validate(const Detector& d) {
  require<GeometryError>(d.bins > 0, "Detector: bins = ", d.bins, "; at least 1 is needed");
  require<GeometryError>(d.rows > 0, "Detector: rows = ", d.rows, "; at least 1 is needed");
  require_cell("bin_pitch", d.bin_pitch);
  require_cell("row_pitch", d.row_pitch);
  require_axis(d, d.axis_bin);
}

}  // namespace tandem
