#pragma once

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// How well (A, B) is a pair, B being what apply_adjoint runs. The coupling degree is the field's number, and
/// blind: a pair wrong by half a bin scores 1.0001. The mismatch sees everything.
struct Adjointness {
  double coupling;         ///< mean of <Ax, y> / <x, By>, entries uniform in [0, 1): sees scale
  double coupling_spread;  ///< standard deviation over the trials
  double mismatch;         ///< estimate of ||A - Bt||_F / ||A||_F from +-1 vectors
};

/// Seeded, so that two runs agree. Inner products in double. Cost: 4 applies a trial.
/// The mismatch scatters by 1 / sqrt(2 trials) of itself.
Adjointness adjointness(const LinearOperator& A, int trials = 16, unsigned seed = 1);

}  // namespace tandem
