#pragma once

#include <vector>

#include "../core/range.hpp"

namespace tandem::kernels {

/// What images of `rows` x `bins` are multiplied by at their frequencies: (row frequency, bin frequency),
/// with bins / 2 + 1 of the latter. The other half follows, because images and filters are real.
struct ImageFilter {
  Index rows = 0, bins = 0;
  std::vector<float> response = {};
};

/// The least number of at least `count` that is a product of 2, 3, 5 and 7, for which transforms are fast.
Index fast_length(Index count);

/// Filters an image of the size of the filter in place, on one thread of the CPU. It is periodic. What comes
/// out depends on the image and the filter alone, to the bit. Memory: 2 x rows x (bins + 2) floats.
void filter_image(const ImageFilter& filter, float* image);

}  // namespace tandem::kernels
