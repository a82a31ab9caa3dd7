#pragma once

#include <string>

#include "../geometry/scan.hpp"
#include "harness.hpp"

namespace tandem::bench {

/// The case of Georgin, Batenburg, Chapdelaine et al. 2019: N^3 voxels, a detector of 1.5 N x 1.125 N cells
/// that are twice as wide as voxels, and magnification 2.
struct ConeCase {
  ConeBeam scan;
  VolumeGrid grid;
  ConeCase(Index size, Index views) {
    const double n = size;
    const Index bins = 3 * size / 2, rows = 9 * size / 8;
    scan = {{bins, rows, 2, 2, 0.5 * (bins - 1)}, {}, 2400 * n / 1024, 4800 * n / 1024, 0.5 * (rows - 1)};
    for (Index v = 0; v < views; ++v) scan.angles.push_back(whole_turn * v / views);
    grid = {{size, size, size}, {1, 1, 1}, {}};
  }
  double updates() const { return 1.0 * grid.size[0] * grid.size[1] * grid.size[2] * scan.angles.size(); }
};

/// The line of a table for `applications` of the pair by separable footprints, or of one of its two
/// operators.
inline Rows::value_type footprint_line(const ConeCase& c, const std::string& direction, double ms,
                                       double applications = 1) {
  return table_line({"separable_footprint"}, direction, {c.grid.size[2], c.grid.size[0], views_of(c.scan)},
                    ms, applications * c.updates());
}

}  // namespace tandem::bench
