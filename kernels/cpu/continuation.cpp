#include "continuation.hpp"

#include <array>

#include "fourier_transform.hpp"

namespace tandem::kernels::cpu {

namespace {

constexpr std::size_t width = 2 * lanes;  // numbers at a position: two rows in each lane

}  // namespace

void go_on(const Continuation& beyond, Range own, float* lines) {
  if (beyond.zeros()) return;
  std::array<float, width> low{}, high{};
  const float share = 1 / static_cast<float>(beyond.bins);
  for (Index b = 0; b < beyond.bins; ++b) {
    const float *first = lines + (own.first + b) * 2 * lanes, *last = lines + (own.last - 1 - b) * 2 * lanes;
    for (std::size_t c = 0; c < width; ++c) {
      low[c] += share * first[c];
      high[c] += share * last[c];
    }
  }
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    for (std::size_t c = 0; c < width; ++c)
      lines[i * width + c] += low[c] * beyond.before[i] + high[c] * beyond.after[i];
}

void come_back(const Continuation& beyond, Range own, float* lines) {
  if (beyond.zeros()) return;
  std::array<double, width> low{}, high{};
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    for (std::size_t c = 0; c < width; ++c) {
      const float value = lines[i * width + c];
      low[c] += static_cast<double>(value * beyond.before[i]);
      high[c] += static_cast<double>(value * beyond.after[i]);
    }
  const double share = 1 / static_cast<double>(beyond.bins);
  for (Index b = 0; b < beyond.bins; ++b) {
    float *first = lines + (own.first + b) * 2 * lanes, *last = lines + (own.last - 1 - b) * 2 * lanes;
    for (std::size_t c = 0; c < width; ++c) {
      first[c] += static_cast<float>(share * low[c]);
      last[c] += static_cast<float>(share * high[c]);
    }
  }
}

}  // namespace tandem::kernels::cpu
