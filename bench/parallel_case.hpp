#pragma once

#include <numbers>

#include "../geometry/scan.hpp"
#include "harness.hpp"

namespace tandem::bench {

/// A case with as many bins as pixels along x and y, and views at equal steps over half a turn.
struct Case {
  ParallelBeam scan;
  VolumeGrid grid;
  Case(Index size, Index views, Index slices) {
    scan.detector = {size, slices, 1, 1, 0.5 * (size - 1)};
    for (Index v = 0; v < views; ++v) scan.angles.push_back(std::numbers::pi * v / views);
    grid = fitting_grid(scan);
  }
  double updates() const { return 1.0 * grid.size[0] * grid.size[1] * grid.size[2] * scan.angles.size(); }
};

inline Rows::value_type line(const Case& c, const std::string& direction, double ms, double updates,
                             const Execution& how = {"standard"}) {
  return table_line(how, direction, {c.scan.detector.rows, c.grid.size[0], views_of(c.scan)}, ms, updates);
}

inline std::string words(const std::string& what, Index slices) {
  return what + ", " + std::to_string(slices) + " slices";
}

}  // namespace tandem::bench
