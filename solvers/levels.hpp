#pragma once

#include <optional>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// Two values that voxels have, such as those of air and of one material. `Pdhg` takes its first steps as
/// without levels. In the stages that follow, the objective has the term G (x - low) (high - x) of each voxel
/// too, with a larger G in each stage. The term is concave, so each stage takes its tangent at the volume
/// where the stage begins (convex-concave procedure: Yuille, Rangarajan, Neural Computation 15(4), 2003).
struct Levels {
  static constexpr int stages = 8;
  float low = 0, high = 1;
  int first_steps = 100, steps_a_stage = 50;
  /// The largest G, as a share of the mean of the diagonal of At w A. Between 0.02 and 0.1 it hardly matters.
  float most = 0.05f;

  int steps() const { return first_steps + stages * steps_a_stage; }
};

/// @throws GeometryError unless low < high, and all numbers of steps are positive
void validate(const Levels& levels);

}  // namespace tandem
