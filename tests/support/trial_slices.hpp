#pragma once

#include <cmath>
#include <vector>

#include "../../core/random.hpp"
#include "../../kernels/trial_slices.hpp"

namespace tandem::test {

/// Frames of noise, and slices of two trials: rays that diverge or are parallel, rows that rise, and pixels
/// that some views miss.
struct TrialCase {
  Shape frames{9, 17, 41};  // view, row, bin
  kernels::TrialSlices trials{37, 16.3F};
  std::vector<float> values{};

  TrialCase() {
    Random random(11);
    for (Index k = 0; k < frames[0] * frames[1] * frames[2]; ++k)
      values.push_back(static_cast<float>(random.uniform() - 0.5));
    for (const float deep : {1.0F, 90.0F})
      for (Index view = 0; view < frames[0]; ++view) {
        const auto c = static_cast<float>(std::cos(0.7 * view + 0.1)),
                   s = static_cast<float>(std::sin(0.7 * view + 0.1)), lean = 0.07F;
        const kernels::OverSlice depth =
            deep == 1 ? kernels::OverSlice{1, 0, 0} : kernels::OverSlice{deep, -s, c};
        trials.places.push_back({{20.2F * deep, 1.1F * deep * c, 1.1F * deep * s},
                                 {8.3F * deep, lean * deep * s, -lean * deep * c},
                                 depth});
      }
  }
  Image<const float> image() const {
    const auto [views, rows, bins] = frames;
    return {values.data(), views, rows, bins, rows * bins, bins};
  }
  Shape slices() const { return {2 * static_cast<Index>(trials.places.size()) / frames[0], 37, 37}; }
};

}  // namespace tandem::test
