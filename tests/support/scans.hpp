#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "../../core/random.hpp"
#include "../../geometry/views.hpp"

namespace tandem::test {

/// Views spread over half a turn, each moved by up to 0.4 of their spacing, in no order.
inline std::vector<double> irregular_angles(Index count, Random& random) {
  std::vector<double> angles;
  const double step = std::numbers::pi / static_cast<double>(count);
  for (Index k = 0; k < count; ++k)
    angles.push_back((static_cast<double>(k) + 0.8 * (random.uniform() - 0.5)) * step + 0.3);
  for (std::size_t k = angles.size(); k > 1; --k) std::swap(angles[k - 1], angles[random.bits() % k]);
  return angles;
}

/// count views at equal steps over `arc` rad from 0 on; `both_ends` puts the last one at `arc`.
inline std::vector<double> regular_angles(Index count, double arc = std::numbers::pi,
                                          bool both_ends = false) {
  std::vector<double> angles;
  for (Index k = 0; k < count; ++k)
    angles.push_back(arc * static_cast<double>(k) / static_cast<double>(both_ends ? count - 1 : count));
  return angles;
}

/// A scan with irregular angles and its axis 1.37 bins off the middle.
inline ParallelBeam scan_of(Index views, Index rows, Index bins, double bin_pitch = 1,
                            std::uint64_t seed = 7) {
  Random random(seed);
  ParallelBeam scan;
  scan.detector = {.bins = bins, .rows = rows, .bin_pitch = bin_pitch, .row_pitch = bin_pitch};
  scan.detector.axis_bin = 0.5 * static_cast<double>(bins - 1) + 1.37;
  scan.angles = irregular_angles(views, random);
  return scan;
}

inline VolumeGrid grid_of(Index nx, Index ny, Index nz, double pitch = 1) {
  return {.size = {nx, ny, nz}, .pitch = {pitch, pitch, pitch}};
}

inline ParallelBeam with_rows(ParallelBeam scan, Index rows) {
  scan.detector.rows = rows;
  return scan;
}

inline VolumeGrid with_slices(VolumeGrid grid, Index slices) {
  grid.size[2] = slices;
  return grid;
}

/// A case that projectors must bear: a name, and a scan and a grid of one slice.
struct ProjectorCase {
  std::string name;
  ParallelBeam scan;
  VolumeGrid grid;
};

inline std::vector<ProjectorCase> projector_cases() {
  std::vector<ProjectorCase> cases;
  const auto add = [&](std::string name, ParallelBeam scan, VolumeGrid grid) {
    cases.push_back({std::move(name), std::move(scan), grid});
  };
  add("tiny", scan_of(5, 1, 11), grid_of(7, 5, 1));
  add("full", scan_of(53, 1, 47), grid_of(37, 41, 1));
  add("voxels of half a bin", scan_of(11, 1, 13, 0.7), grid_of(19, 17, 1, 0.35));
  add("voxels of 2.3 bins", scan_of(11, 1, 61, 0.7), grid_of(17, 19, 1, 1.61));
  add("voxels of 5 bins", scan_of(7, 1, 53, 0.2), grid_of(5, 7, 1, 1.0));
  add("region", scan_of(13, 1, 31), region(grid_of(41, 37, 1), {17, 38}, {2, 19}, {0, 1}));
  add("one view", scan_of(1, 1, 11), grid_of(7, 5, 1));
  ParallelBeam one_bin = scan_of(5, 1, 1);
  one_bin.detector.axis_bin = -0.4;
  add("one bin", one_bin, grid_of(7, 5, 1));
  add("one pixel", scan_of(5, 1, 5), grid_of(1, 1, 1));
  ParallelBeam outside = scan_of(13, 1, 17);
  outside.detector.axis_bin = -9.3;
  add("axis outside", outside, grid_of(23, 17, 1));
  ParallelBeam straight = scan_of(1, 1, 23);
  straight.angles.clear();
  for (int k = -5; k <= 12; ++k) straight.angles.push_back(k * std::numbers::pi / 4);
  add("eighths of a turn", straight, grid_of(17, 19, 1));
  straight.detector.axis_bin = 11;
  add("positions on bins", straight, grid_of(17, 19, 1));
  return cases;
}

}  // namespace tandem::test
