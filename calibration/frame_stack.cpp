#include "frame_stack.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::calibration {

namespace {

/// A grid (line, place), whose lines go on at both ends as they end, smoothed by p, 1 - 2 p, p from line to
/// line.
void smooth_across(const std::vector<double>& in, Index lines, Index places, double p,
                   std::vector<double>& out) {
  for (Index line = 0; line < lines; ++line) {
    const double *here = in.data() + line * places, *below = line > 0 ? here - places : here,
                 *above = line + 1 < lines ? here + places : here;
    for (Index k = 0; k < places; ++k)
      out[line * places + k] = (1 - 2 * p) * here[k] + p * (below[k] + above[k]);
  }
}

/// The same within each line.
void smooth_along(const std::vector<double>& in, Index lines, Index places, double p,
                  std::vector<double>& out) {
  for (Index line = 0; line < lines; ++line) {
    const double* at = in.data() + line * places;
    double* to = out.data() + line * places;
    const auto value = [&](Index k, Index before, Index after) {
      return (1 - 2 * p) * at[k] + p * (at[before] + at[after]);
    };
    const Index last = places - 1;
    to[0] = value(0, 0, std::min<Index>(1, last));
    for (Index k = 1; k < last; ++k) to[k] = value(k, k - 1, k + 1);
    to[last] = value(last, std::max<Index>(last - 1, 0), last);
  }
}

/// Smooths a grid along or across its lines, so that a point gets this variance. `next`: as large a grid.
template <class Smooth>
void smooth(std::vector<double>& grid, Index lines, Index places, double variance, std::vector<double>& next,
            const Smooth& once) {
  const double times = std::ceil(2 * variance);
  for (double k = 0; k < times; ++k) {
    once(grid, lines, places, 0.5 * variance / times, next);
    std::swap(grid, next);
  }
}

}  // namespace

FrameStack smoothed(const FrameStack& frames, Index factor, const Smoothing& by) {
  const Index high = few_rows(frames) ? 1 : factor;
  const double f = factor, share = 1 / (high * f);
  FrameStack all{{},
                 frames.rows / high,
                 frames.bins / factor,
                 frames.angles,
                 frames.bin_angle * f,
                 frames.aspect * high / f};
  const std::size_t cells = all.rows * all.bins;
  all.values.resize(all.views() * cells);
  constexpr Index at_once = 8;
  parallel_for_blocks(all.views(), at_once, [&](Range views) {
    std::vector<double> mean(cells), next(cells);
    for (Index view = views.first; view < views.last; ++view) {
      std::ranges::fill(mean, 0);
      const float* from = frames.values.data() + view * frames.rows * frames.bins;
      for (Index row = 0; row < all.rows * high; ++row)
        for (Index bin = 0; bin < all.bins; ++bin)
          for (Index k = 0; k < factor; ++k)
            mean[row / high * all.bins + bin] += share * from[row * frames.bins + bin * factor + k];
      smooth(mean, all.rows, all.bins, by.bins, next, smooth_along);
      if (!few_rows(frames)) smooth(mean, all.rows, all.bins, by.rows, next, smooth_across);
      std::copy(mean.begin(), mean.end(), all.values.begin() + view * all.rows * all.bins);
    }
  });
  return all;
}

void subtract_means(FrameStack& frames) {
  parallel_for(frames.rows, [&](Index row) {
    std::vector<double> sum(frames.bins, 0);
    const auto line = [&](Index view) {
      return frames.values.data() + (view * frames.rows + row) * frames.bins;
    };
    for (Index view = 0; view < frames.views(); ++view)
      for (Index bin = 0; bin < frames.bins; ++bin) sum[bin] += line(view)[bin];
    std::vector<float> mean;
    for (const double each : sum) mean.push_back(static_cast<float>(each / frames.views()));
    for (Index view = 0; view < frames.views(); ++view)
      for (Index bin = 0; bin < frames.bins; ++bin) line(view)[bin] -= mean[bin];
  });
}

Array vector_of(const FrameStack& frames, const Space& space) {
  Stream& stream = default_stream(space.device());
  Array there(space, stream);
  copy(ConstVectorView(frames.values.data(), space.on(Device::cpu())), there, stream);
  stream.synchronize();
  return there;
}

UnsetVector<float> values_of(const Array& vector) {
  const Space& space = vector.space();
  Stream& stream = default_stream(space.device());
  UnsetVector<float> values(vector.size());
  copy(vector, VectorView{values.data(), space.on(Device::cpu())}, stream);
  stream.synchronize();
  return values;
}

Sampler::Cubic::Cubic(double place) {
  const auto cut = static_cast<Index>(place);  // towards 0
  const Index floor = place < cut ? cut - 1 : cut;
  const auto f = static_cast<float>(place - floor);
  first = floor - 1;
  weight = cubic_weights(f);
  slope = {-0.5F + f * (2 - 1.5F * f), f * (-5 + 4.5F * f), 0.5F + f * (4 - 4.5F * f), f * (1.5F * f - 1)};
}

Sampler::Sampler(const FrameStack& frames, double bin, double row)
    : values_(frames.values.data()), cells_(frames.rows * frames.bins), bin_(bin), row_(row) {
  for (Index y = 0; y < 4; ++y)
    lines_[y] = std::clamp<Index>(row_.first + y, 0, frames.rows - 1) * frames.bins + bin_.first;
}

using FourBins = Eigen::Array4f;  // bins, which a processor takes at once

Sample Sampler::of(Index view) const {
  FourBins values = FourBins::Zero(), by_row = FourBins::Zero();
  for (std::size_t y = 0; y < 4; ++y) {
    const Eigen::Map<const FourBins> line(values_ + view * cells_ + lines_[y]);
    values += row_.weight[y] * line, by_row += row_.slope[y] * line;
  }
  const Eigen::Map<const FourBins> weight(bin_.weight.data()), slope(bin_.slope.data());
  return {(weight * values).sum(), (slope * values).sum(), (weight * by_row).sum()};
}

float Sampler::value(Index view) const {
  FourBins values = FourBins::Zero();
  for (std::size_t y = 0; y < 4; ++y)
    values += row_.weight[y] * Eigen::Map<const FourBins>(values_ + view * cells_ + lines_[y]);
  return (Eigen::Map<const FourBins>(bin_.weight.data()) * values).sum();
}

}  // namespace tandem::calibration
