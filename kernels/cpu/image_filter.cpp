#include "../image_filter.hpp"

#include <algorithm>
#include <complex>

#include "image_transform.hpp"

namespace tandem::kernels {

Index fast_length(Index count) {
  for (Index n = std::max<Index>(count, 1);; ++n) {
    Index rest = n;
    for (const Index prime : {2, 3, 5, 7})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

void filter_image(const ImageFilter& filter, float* image) {
  const cpu::Images one{1, filter.rows, filter.bins};
  std::vector<std::complex<float>> spectrum(filter.response.size());
  cpu::transform_images(one, image, spectrum.data());
  const float scale = 1.0f / (filter.rows * filter.bins);
  for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= filter.response[k] * scale;
  cpu::transform_back(one, spectrum.data(), image);
}

}  // namespace tandem::kernels
