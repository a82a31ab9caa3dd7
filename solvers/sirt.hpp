#pragma once

#include "../core/public.hpp"
#include "../operators/linear_operator.hpp"
#include "run.hpp"

namespace TANDEM_PUBLIC tandem {

struct SirtOptions {
  float relaxation = 1.0f;  ///< in (0, 2)
  bool nonnegative = false;
};

/// x <- P(x + lambda C At R (b - Ax)), R = 1/(A 1), C = 1/(At 1), zero where the sum is zero, so that rays
/// and voxels that meet nothing keep their value. Bears mildly unmatched pairs. Costs one A and one At a
/// step. Source: Kak, Slaney 1988, section 7.4; Gregor, Benson, IEEE TMI 27(7), 2008.
class Sirt {
 public:
  /// @throws SpaceError unless b is in range, x0 in domain; GeometryError for a relaxation outside (0, 2).
  Sirt(LinearOperator A, const Array& b, Array x0, SirtOptions options = {});
  Sirt(LinearOperator A, Array&& b, Array x0,
       SirtOptions options = {}) = delete;  // b must outlive the solver
  void step(const ActiveBlocks& active);
  const Array& solution() const& { return x_; }
  Array solution() && { return std::move(x_); }
  const std::vector<double>& residual_norms() const { return residual_norms_; }
  const std::vector<double>& falls() const { return falls_; }  ///< of the last step; infinite at the start
  std::vector<double> traces();  ///< of A C At R; costs two A and one At, a set beside

 private:
  void update_residual();

  LinearOperator A_;
  const Array& b_;
  SirtOptions options_;
  Stream& stream_;
  Array x_, r_, row_weight_, column_weight_, update_;
  std::vector<double> residual_norms_, falls_;
};

}  // namespace tandem
