#pragma once

#include <functional>
#include <optional>
#include <span>

#include "../../core/space.hpp"

namespace tandem::pipeline {

/// Somebody who sits before a solver at work, says where it begins and when it is enough.
struct Onlooker {
  /// Is called before the first step (with 0) and after each one, with |b - Ax| over that of the start. If it
  /// returns false, the solver ends, and the volume is what there is. It cancels by throwing.
  std::function<bool(int iteration, double residual)> step = {};
  std::optional<Index> slice = {};    ///< the slice that is shown; default: the middle one
  std::span<const float> start = {};  ///< voxels of the grid that is written, for the initial volume
  double pause = 1;                   ///< seconds between two iterates that are shown, at least
};

}  // namespace tandem::pipeline
