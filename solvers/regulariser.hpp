#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// A convex function W g(Kx) that keeps a volume regular, in the form that primal-dual solvers need. W is the
/// weight, one number per block. Your own regulariser is such a value.
struct Regulariser {
  LinearOperator K;
  double norm_squared;  ///< an upper bound of |K|^2
  /// q <- the proximal map of step (W g)*, the convex conjugate. `weights` and `steps` have a number for each
  /// block.
  std::function<void(VectorView q, std::span<const float> weights, std::span<const float> steps,
                     Stream& stream)>
      conjugate_prox;
  /// g(Kx), a number for each block, from Kx.
  std::function<std::vector<double>(ConstVectorView Kx, Stream& stream)> value;
  /// (W g)*(q), a number for each block, for q where it is finite. Empty if it is zero there, as for every
  /// norm.
  std::function<std::vector<double>(ConstVectorView q, std::span<const float> weights, Stream& stream)>
      conjugate = {};
  /// The factors along (slice, y, x) if K takes differences of neighbours, as `gradient` does. They make the
  /// steps of `Pdhg` longer. Zeros for any other K.
  std::array<float, 3> differences{};
  float shear = 0;  ///< goes with `differences`, see `gradient`
};

/// Isotropic total variation, the sum of the lengths of the gradient. It is taken in each slice if slices are
/// separate blocks, and else in three dimensions. `scales` are factors of the differences along (slice, y,
/// x), such as the ratio of pitches; with `shear` they may weigh a direction more (`across`). Source: Rudin,
/// Osher, Fatemi, Physica D 60, 1992; Chambolle, Pock, Journal of Mathematical Imaging and Vision 40(1),
/// 2011.
Regulariser total_variation(const Space& volume, std::array<float, 3> scales = {1, 1, 1}, float shear = 0);

/// Total variation with Huber's function of the length v of a gradient: v^2 / (2 threshold) if v is below
/// `threshold`, else v - threshold / 2. So slow changes cost little, which avoids staircases. Source:
/// Chambolle, Pock 2011, section 6.2.3. @throws GeometryError unless threshold > 0
Regulariser huber_total_variation(const Space& volume, float threshold,
                                  std::array<float, 3> scales = {1, 1, 1}, float shear = 0);

/// Half the sum of squares of all voxels: with it, and without bounds, solvers find Tikhonov's solution.
Regulariser tikhonov(const Space& volume);

/// v <- the least of g(u) + |u - v|^2 / (2 step), where each block has its step.
using ProximalMap = std::function<void(VectorView v, std::span<const float> steps, Stream& stream)>;

/// The regulariser g(Kx) of a proximal map of your own: `value` is g, a number for each block. The map of the
/// conjugate follows by Moreau's identity. It tells no gap. @throws GeometryError unless norm_squared > 0
Regulariser regulariser_of(LinearOperator K, double norm_squared, ProximalMap prox,
                           std::function<std::vector<double>(ConstVectorView Kx, Stream& stream)> value);

}  // namespace tandem
