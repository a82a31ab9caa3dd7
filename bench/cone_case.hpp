#pragma once

#include "../geometry/scan.hpp"

namespace tandem::bench {

/// After Georgin, Batenburg, Chapdelaine et al. 2019: N^3 voxels, detector 1.5 N x 1.125 N cells of twice the
/// voxel, magnification 2.
struct ConeCase {
  ConeBeam scan;
  VolumeGrid grid;
  ConeCase(Index size, Index views) {
    const double n = static_cast<double>(size);
    const Index bins = 3 * size / 2, rows = 9 * size / 8;
    scan = {{bins, rows, 2, 2, 0.5 * static_cast<double>(bins - 1)},
            {},
            2400 * n / 1024,
            4800 * n / 1024,
            0.5 * static_cast<double>(rows - 1)};
    for (Index v = 0; v < views; ++v)
      scan.angles.push_back(whole_turn * static_cast<double>(v) / static_cast<double>(views));
    grid = {{size, size, size}, {1, 1, 1}, {}};
  }
  double updates() const {
    return static_cast<double>(grid.size[0] * grid.size[1] * grid.size[2]) *
           static_cast<double>(scan.angles.size());
  }
};

}  // namespace tandem::bench
