#pragma once

#include "../operators/linear_operator.hpp"
#include "bounds.hpp"
#include "run.hpp"

namespace tandem {

struct MltrOptions {
  Bounds bounds = above_zero;  ///< the lowest bound must be finite
};

/// Maximises the likelihood of transmission counts: Poisson counts y whose means are b exp(-Ax), with b
/// counts without an object. No logarithm of a count is taken, so a count of zero is a datum like any other.
/// A step goes from x towards z = P(x + At(b exp(-Ax) - y) / At(A1 b exp(-Ax))), where P clamps to the
/// bounds, by a share in (0, 1] for each block. The share is one, unless the curvature at z could make the
/// likelihood fall; docs/kernels.md derives it. So the likelihood falls only by rounding. It has no maximum
/// if all counts of a voxel are zero: then each step adds about 1 / A1, up to the highest bound. Where no ray
/// passes, x stays as it is. A must not have negative coefficients; a pair may be slightly unmatched.
/// Sources: Lange, Fessler, IEEE TIP 4(10), 1995; Nuyts and others, Physics in Medicine and Biology 43(4),
/// 1998.
class Mltr : public SolverBase<LinearOperator> {
 public:
  static constexpr SolverCost cost{.volumes = 3,      // x, z, the curvatures
                                   .projections = 6,  // y, b, A1, Ax, y - b exp(-Ax), scratch
                                   .preparation = {2, 0},
                                   .step = {1, 2},
                                   .traces = {0, 2}};

  /// x0 is clamped. A ray whose blank is 0 does not count. @throws SpaceError unless both are in range() and
  /// x0 is in domain(); GeometryError if they have elements that are negative or not finite, or if there is
  /// no lowest bound
  Mltr(LinearOperator A, Data counts, Data blank, Array x0, MltrOptions options = {});
  void step(const ActiveBlocks& active);
  const std::vector<double>& residual_norms() const { return residual_norms_; }  ///< |y - b exp(-Ax)|
  const Array* residual() const { return &rest_; }                               ///< y - b exp(-Ax)
  /// For the last step; infinite at the start. What noise fits is in the likelihood: its slope along d over
  /// the mean of r^2 / (b exp(-Ax)), which is the variance of a count in units of its mean.
  const std::vector<double>& falls() const { return falls_; }
  std::vector<double> traces();     ///< two thirds of the trace of A C At with C = 1 / At A1, one per block
  std::vector<double> objective();  ///< -log of the likelihood, without terms that do not depend on x
  SolverState state() {
    return {{"x", x_},
            {"projected", projected_},
            {"rest", rest_},
            {"falls", falls_},
            {"residual_norms", residual_norms_}};
  }

 private:
  void keep_rays_that_count();
  void aim();
  std::vector<float> shares(const ActiveBlocks& active);
  std::vector<double> spreads();
  void update_residual();

  MltrOptions options_;
  Array counts_, blank_, lengths_, projected_, rest_, scratch_, aim_, curvatures_;
  std::vector<double> falls_;
};

}  // namespace tandem
