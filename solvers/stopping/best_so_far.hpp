#pragma once

#include <vector>

#include "../../core/array.hpp"
#include "../run.hpp"

namespace tandem {

/// The solution with the smallest residual, each block by itself, for solvers that may diverge. It holds one
/// volume.
class BestSoFar {
 public:
  explicit BestSoFar(const Space& volume);
  /// Looks at a solution, as an observer of `run`.
  void look_at(const Progress& now);
  /// Replaces the last solution of each block that diverged by its best one.
  void replace(Array& solution, const std::vector<bool>& diverged) const;

 private:
  Array best_;
  std::vector<double> least_;  // residual norms
};

}  // namespace tandem
