#pragma once

#include <vector>

#include "../../core/parallel.hpp"
#include "../footprint.hpp"

namespace tandem::kernels::cpu {

/// l_theta of the cells of all views. All views of a circle have the same values, which are kept.
class Slants {
 public:
  Slants(const ConeViews& n, Index rows, Index bins)
      : n_(n), bins_(bins), kept_(n.circular ? rows * bins : 0) {
    if (!n.circular) return;
    parallel_for(rows, [&](Index row) {
      for (Index bin = 0; bin < bins; ++bin) kept_[row * bins + bin] = slant_of<float>(n, row, bin);
    });
  }
  float operator()(Index view, Index row, Index bin) const {
    return n_.circular ? kept_[row * bins_ + bin] : slant_of<float>(n_.views[view], row, bin);
  }

 private:
  const ConeViews& n_;
  Index bins_;
  std::vector<float> kept_;
};

}  // namespace tandem::kernels::cpu
