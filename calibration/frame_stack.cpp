#include "frame_stack.hpp"

#include <algorithm>
#include <cmath>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::calibration {

namespace {

/// A line of a grid that goes on at both ends as it ends, smoothed by p, 1 - 2 p, p.
void smooth(const std::vector<double>& in, Index first, Index step, Index count, double p,
            std::vector<double>& out) {
  const auto at = [&](Index k) { return in[first + std::clamp<Index>(k, 0, count - 1) * step]; };
  for (Index k = 0; k < count; ++k) out[first + k * step] = (1 - 2 * p) * at(k) + p * (at(k - 1) + at(k + 1));
}

/// Smooths lines of a grid, `apart` values from one to the next, so that a point gets this variance.
void smooth_lines(std::vector<double>& grid, Index lines, Index apart, Index step, Index count,
                  double variance) {
  const double times = std::ceil(2 * variance);
  std::vector<double> next(grid.size());
  for (double k = 0; k < times; ++k) {
    for (Index line = 0; line < lines; ++line)
      smooth(grid, line * apart, step, count, 0.5 * variance / times, next);
    std::swap(grid, next);
  }
}

}  // namespace

FrameStack smoothed(const FrameStack& frames, Index factor, const Smoothing& by) {
  const Index high = few_rows(frames) ? 1 : factor;
  const double f = factor;
  FrameStack all{{},
                 frames.rows / high,
                 frames.bins / factor,
                 frames.angles,
                 frames.bin_angle * f,
                 frames.aspect * high / f};
  const std::size_t cells = all.rows * all.bins;
  all.values.assign(all.views() * cells, 0);
  parallel_for(all.views(), [&](Index view) {
    std::vector<double> mean(cells, 0);
    const float* from = frames.values.data() + view * frames.rows * frames.bins;
    for (Index row = 0; row < all.rows * high; ++row)
      for (Index bin = 0; bin < all.bins * factor; ++bin)
        mean[row / high * all.bins + bin / factor] += 1.0 * from[row * frames.bins + bin] / (1.0 * high * f);
    smooth_lines(mean, all.rows, all.bins, 1, all.bins, by.bins);
    if (!few_rows(frames)) smooth_lines(mean, all.bins, 1, all.bins, all.rows, by.rows);
    std::copy(mean.begin(), mean.end(), all.values.begin() + view * all.rows * all.bins);
  });
  return all;
}

void subtract_means(FrameStack& frames) {
  const Index cells = frames.rows * frames.bins;
  parallel_for(cells, [&](Index cell) {
    double sum = 0;
    for (Index v = 0; v < frames.views(); ++v) sum += frames.values[v * cells + cell];
    const auto mean = static_cast<float>(sum / frames.views());
    for (Index v = 0; v < frames.views(); ++v) frames.values[v * cells + cell] -= mean;
  });
}

Sampler::Cubic::Cubic(double place) {
  const double floor = std::floor(place), f = place - floor;
  first = floor_index(floor) - 1;
  weight = {f * (-0.5 + f * (1 - 0.5 * f)), 1 + f * f * (-2.5 + 1.5 * f), f * (0.5 + f * (2 - 1.5 * f)),
            f * f * (0.5 * f - 0.5)};
  slope = {-0.5 + f * (2 - 1.5 * f), f * (-5 + 4.5 * f), 0.5 + f * (4 - 4.5 * f), f * (1.5 * f - 1)};
}

Sample Sampler::of(Index view) const {
  const float* frame = frames_.values.data() + view * frames_.rows * frames_.bins;
  Sample s;
  for (std::size_t y = 0; y < 4; ++y) {
    const Index row = std::clamp<Index>(row_.first + y, 0, frames_.rows - 1);
    const float* line = frame + row * frames_.bins + bin_.first;
    double value = 0, slope = 0;
    for (std::size_t x = 0; x < 4; ++x) {
      value += bin_.weight[x] * line[x];
      slope += bin_.slope[x] * line[x];
    }
    s.value += row_.weight[y] * value, s.by_bin += row_.weight[y] * slope, s.by_row += row_.slope[y] * value;
  }
  return s;
}

}  // namespace tandem::calibration
