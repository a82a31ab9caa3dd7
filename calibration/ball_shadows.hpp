#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "../core/space.hpp"

namespace tandem::calibration {

/// The shadow of one ball in one view.
struct Spot {
  Eigen::Vector2d cell;  ///< bin and row of its middle: the mean of cells, weighted by their values
  double variance;       ///< across the direction in which it is longest; the height of a cell is 1
};

/// The shadows of balls in one frame of line integrals, (row, bin). A shadow is a round spot above a quarter
/// of the frame's peak, with a rim of background about it, which is taken away as a plane. Spots that touch
/// each other or the edge of the frame are left out, and so is all that is not round. `bin_size` is the width
/// of a cell over its height.
std::vector<Spot> ball_shadows(std::span<const float> frame, Index rows, Index bins, double bin_size = 1);

}  // namespace tandem::calibration
