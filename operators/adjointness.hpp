#pragma once

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// How well A and B match, where B is what apply_adjoint runs. The coupling degree is in common use, but it
/// sees only the scale: a pair that is wrong by half a bin has 1.0001. The mismatch sees every difference.
struct Adjointness {
  double coupling;         ///< mean of <Ax, y> / <x, By>, entries uniform in [0, 1)
  double coupling_spread;  ///< standard deviation over the trials
  double mismatch;         ///< estimate of ||A - Bt||_F / ||A||_F, from vectors of +1 and -1
};

/// Measures both numbers. The seed makes two runs agree. Inner products are taken in double. Cost: 4
/// applications per trial. The relative scatter of the mismatch is 1 / sqrt(2 trials).
Adjointness adjointness(const LinearOperator& A, int trials = 16, unsigned seed = 1);

}  // namespace tandem
