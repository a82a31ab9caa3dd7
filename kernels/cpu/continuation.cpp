#include "continuation.hpp"

#include <algorithm>

namespace tandem::kernels::cpu {

namespace {

constexpr std::size_t width = 2 * lanes;  // numbers at a position

}  // namespace

float end_value(const EndValues& ends, Index row, int end, const float* line) {
  float sum = 0;
  for (Index b = 0; b < ends.bins; ++b) sum += ends.share(row, end, b) * line[ends.bin(end, b)];
  return sum;
}

void give_back(const EndValues& ends, Index row, int end, float value, float* line) {
  for (Index b = 0; b < ends.bins; ++b) line[ends.bin(end, b)] += ends.share(row, end, b) * value;
}

void go_on(const Continuation& beyond, const Ends& values, float* lines) {
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    for (std::size_t c = 0; c < width; ++c)
      lines[i * width + c] += values[low_end][c] * beyond.before[i] + values[high_end][c] * beyond.after[i];
}

Ends come_back(const Continuation& beyond, const float* lines) {
  std::array<double, width> low{}, high{};
  for (std::size_t i = 0; i < beyond.before.size(); ++i)
    for (std::size_t c = 0; c < width; ++c) {
      const float value = lines[i * width + c];
      low[c] += value * beyond.before[i];
      high[c] += value * beyond.after[i];
    }
  Ends sums;
  std::copy(low.begin(), low.end(), sums[low_end].begin());
  std::copy(high.begin(), high.end(), sums[high_end].begin());
  return sums;
}

}  // namespace tandem::kernels::cpu
