#include "rows_beyond.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../core/spelled.hpp"
#include "../beams/beam.hpp"
#include "../methods/method.hpp"
#include "grids.hpp"

namespace tandem::pipeline {

namespace {

/// The distance from the axis, mm, from which on some view sees what is at a height beyond an edge of the
/// detector. `edge`: the height at which it sees the axis. Both are counted outwards from the midplane.
double seen_up_to(const ConeBeam& scan, double edge, double height) {
  if (edge < 0) return scan.sod * std::max(0.0, height > 0 ? 0.0 : height / edge - 1);
  return height <= 0 ? scan.sod : scan.sod * std::max(0.0, 1 - height / edge);
}

/// How far from the axis all views see a slice, mm.
double seen_up_to(const ConeBeam& scan, const VolumeGrid& grid, Index slice) {
  const double row = scan.detector.row_pitch / scan.magnification(),
               above = (scan.detector.rows - 0.5 - scan.midplane_row) * row,
               below = (scan.midplane_row + 0.5) * row;
  return std::min(scan.cut[1] ? scan.sod : seen_up_to(scan, above, grid.z(slice + 0.5)),
                  scan.cut[0] ? scan.sod : seen_up_to(scan, below, -grid.z(slice - 0.5)));
}

/// The distance from the axis up to which there are voxels that bins see, mm.
double field_of(const ConeBeam& scan, const VolumeGrid& grid) {
  const double seen =
      distance_from_axis(scan, (sides(scan.detector).farther + 0.5) * scan.detector.bin_pitch);
  return std::min(seen, column_reach(scan, grid).farthest - scan.sod);
}

std::string words_of_fdk(const ConeBeam& scan, const Job& job) {
  constexpr double rounding = 1e-6;  // share of a voxel
  const VolumeGrid& grid = job.grid;
  const Index first = job.first[2], all = grid.size[2];
  const double field = field_of(scan, grid) - rounding * grid.pitch[0];
  Index whole = 0, last = all;
  double least = field;
  for (Index z = 0; z < all; ++z) least = std::min(least, seen_up_to(scan, grid, z));
  while (whole < all && seen_up_to(scan, grid, whole) < field) ++whole;
  while (last > whole && seen_up_to(scan, grid, last - 1) < field) --last;
  if (whole == 0 && last == all) return {};
  std::ostringstream text;
  text.precision(3);
  text << "and some views do not see all of slices ";
  if (whole > 0) text << first << ":" << first + whole;
  if (whole > 0 && last < all) text << " and ";
  if (last < all) text << first + last << ":" << first + all;
  text << ", of the outermost one from " << (least < rounding * field ? 0 : least) << " mm of " << field
       << " mm from the axis on; fdk takes the sample to go on there as in the outermost rows";
  return text.str();
}

}  // namespace

std::array<bool, 2> outer_rows_matter(const Job& job) {
  if (job.method->iterates()) return sees_beyond_slices(job);
  const auto goes_on = beam_of(job.scan).goes_on_beyond;
  return goes_on ? goes_on(job.scan) : std::array{false, false};
}

std::string consequence_of_outer_rows(const Job& job) {
  if (beam_of(job.scan).goes_on_beyond && !job.method->iterates())
    return words_of_fdk(point_source_of(job.scan), job);
  return "beside the axis also beyond the slices; a solver presses that into the outer slices; give " +
         spelled("slices") + " of which there are enough for all that these rows see";
}

}  // namespace tandem::pipeline
