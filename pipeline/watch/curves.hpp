#pragma once

#include <vector>

#include "../../core/space.hpp"

namespace tandem::pipeline {

/// A quantity after some iterations of a solver, in order.
struct Curve {
  std::vector<int> iterations;
  std::vector<double> values;

  void add(int iteration, double value) {
    iterations.push_back(iteration);
    values.push_back(value);
  }
  int last() const { return iterations.empty() ? -1 : iterations.back(); }
};

/// How a solver went on some slices. All are sums, so that chunks can be added up. The middle slice of each
/// chunk stands for all its slices, where a quantity would cost as much as a vector.
struct CurveSums {
  Curve changes, sizes;        ///< squares of the last step's change of the middle slice, and of this slice
  Curve objective;             ///< what the solver minimises, of the whole chunk; empty if it does not tell
  Curve errors, similarities;  ///< of the middle slice, if there is a truth: mean square error, SSIM
};

/// Calls `each(name, curve)` with every curve of the sums.
template <class Sums, class Each>
void for_each_curve(Sums& sums, const Each& each) {
  each("changes", sums.changes), each("sizes", sums.sizes), each("objective", sums.objective);
  each("errors", sums.errors), each("similarities", sums.similarities);
}

/// The curves of a whole run. Iterations of different curves differ.
struct Curves {
  std::vector<Index> slices;  ///< that were looked at: the middle ones of the chunks
  Curve change;               ///< |x - x of the step before| / |x| of these slices
  Curve objective;
  Curve psnr, ssim;  ///< of these slices; dB; by the range of the whole truth
};

/// The sum of curves. A curve that ends early keeps its last value.
Curve sum_of(const std::vector<const Curve*>& curves);

/// Whether a costly quantity is due: after each of the first 20 iterations, and then when there are 5 % more.
bool is_due(int iteration, const Curve& curve);
/// The same for one that costs an application: after 0, 1, 2, 5, 10, 20, 50, ... iterations.
bool is_rarely_due(int iteration);

}  // namespace tandem::pipeline
