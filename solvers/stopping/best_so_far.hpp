#pragma once

#include <vector>

#include "../../core/array.hpp"
#include "../../core/public.hpp"
#include "../run.hpp"

namespace TANDEM_PUBLIC tandem {

/// The solution whose residual was least, each block by itself: for solvers that may run away. It holds one
/// volume.
class BestSoFar {
 public:
  explicit BestSoFar(const Space& volume);
  /// As an observer of `run`.
  void look_at(const Progress& now);
  /// Puts the best solutions of the blocks that diverged in the place of their last ones.
  void replace(Array& solution, const std::vector<bool>& diverged) const;

 private:
  Array best_;
  std::vector<double> least_;  // residual norms
};

}  // namespace tandem
