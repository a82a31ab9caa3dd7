#pragma once

#include <utility>

#include "../../operators/random.hpp"
#include "../../solvers/solver.hpp"

namespace tandem::test {

/// A solver, and one that follows it from signs.
template <class S>
struct Led {
  Array signs;
  S solver, follower;

  Led(const LinearOperator& A, const Array& b) : Led(A, b, Sums::leader_and_follower()) {}
  Led(const LinearOperator& A, const Array& b, std::pair<Sums, Sums> sums)
      : signs(A.range()),
        solver(A, b, Array(A.domain()), sums.first),
        follower(A, filled(signs), Array(A.domain()), sums.second) {}
  void step(const ActiveBlocks& active) {
    solver.step(active);
    follower.step(active);
  }
  const Array& solution() const { return solver.solution(); }
  const std::vector<double>& residual_norms() const { return solver.residual_norms(); }
  std::vector<double> freedom() const { return degrees_of_freedom(signs, *follower.residual()); }

 private:
  static const Array& filled(Array& signs) {
    fill_with_signs(signs, 1, default_stream(signs.space().device()));
    return signs;
  }
};

}  // namespace tandem::test
