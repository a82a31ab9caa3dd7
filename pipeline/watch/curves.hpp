#pragma once

#include <vector>

#include "../../core/space.hpp"

namespace tandem::pipeline {

/// A quantity after some iterations of a solver, in the order of iterations.
struct Curve {
  std::vector<int> iterations;
  std::vector<double> values;

  void add(int iteration, double value) {
    iterations.push_back(iteration);
    values.push_back(value);
  }
  int last() const { return iterations.empty() ? -1 : iterations.back(); }
};

/// How a solver went on some slices. All curves are sums, so that chunks can be added up. If a quantity would
/// need another vector, only the middle slice of each chunk is used.
struct CurveSums {
  Curve changes, sizes;        ///< |x - x of the step before|^2 and |x|^2 of the middle slice
  Curve objective;             ///< what the solver minimises, over the whole chunk; may be empty
  Curve errors, similarities;  ///< mean square error and SSIM of the middle slice, if there is a truth
};

/// Calls `each(name, curve)` with every curve of the sums.
template <class Sums, class Each>
void for_each_curve(Sums& sums, const Each& each) {
  each("changes", sums.changes), each("sizes", sums.sizes), each("objective", sums.objective);
  each("errors", sums.errors), each("similarities", sums.similarities);
}

/// The curves of a whole run. Each curve has its own iterations.
struct Curves {
  std::vector<Index> slices;  ///< the middle slices of the chunks, which were looked at
  Curve change;               ///< |x - x of the step before| / |x| of these slices
  Curve objective;
  Curve psnr, ssim;  ///< PSNR (dB) and SSIM of these slices, with the value range of the whole truth
};

/// The sum of curves. A curve that ends early keeps its last value.
Curve sum_of(const std::vector<const Curve*>& curves);

/// Whether a costly quantity is due: after each of the first 20 iterations, and then whenever the number of
/// iterations has grown by 5 %.
bool is_due(int iteration, const Curve& curve);
/// Whether a quantity that costs an application is due: after 0, 1, 2, 5, 10, 20, 50, ... iterations.
bool is_rarely_due(int iteration);

}  // namespace tandem::pipeline
