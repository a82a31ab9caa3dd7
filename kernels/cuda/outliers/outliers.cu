// Outliers in frames of counts. A value is above the median of n others by the threshold if it is above so
// many of them by the threshold that the median must be one of them. Counting takes no median, so that only
// outliers need one. A thread has one pixel. The window comes from the L1 cache.

#include "../../outliers.hpp"

#include <algorithm>

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/batch.cuh"
#include "../common/pixels.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

/// The window of one pixel.
struct Window {
  Index views, rows, bins, used_bins;  ///< size of all frames
  int frames_there, rows_there, size;
  Border border;
  __device__ int pixels() const { return frames_there * rows_there * size; }

  /// use(value) for each pixel of the window around one.
  template <class Pixel, class Use>
  __device__ void for_all(const Pixel* counts, Index view, Index row, Index bin, const Use& use) const {
    const Index first = bin - size / 2;
    const bool inside = first >= 0 && first + size <= used_bins;
    for (int f = 0; f < frames_there; ++f) {
      const Index v = bin_within(view - frames_there / 2 + f, views, view, border);
      for (int k = 0; k < rows_there; ++k) {
        const Index r = bin_within(row - rows_there / 2 + k, rows, row, border);
        const Pixel* line = counts + (v * rows + r) * bins;
        if (inside)
          for (int b = 0; b < size; ++b) use(static_cast<float>(line[first + b]));
        else
          for (int b = 0; b < size; ++b)
            use(static_cast<float>(line[bin_within(first + b, used_bins, bin, border)]));
      }
    }
  }
};

/// The value of a pixel after a look at the `finite` pixels of its window that are so: their median if the
/// pixel is an outlier among them, else its own.
template <class Pixel>
__device__ float among_finite(const Window& window, const Pixel* counts, Index view, Index row, Index bin,
                              int finite, float threshold, bool dark) {
  const float median = ranked_value((finite - window.pixels() % 2) / 2, [&](const auto& use) {
    window.for_all(counts, view, row, bin, [&](float other) {
      if (isfinite(other)) use(other);
    });
  });
  const auto y = static_cast<float>(counts[(view * window.rows + row) * window.bins + bin]);
  return y - median >= threshold || (dark && median - y >= threshold) ? median : y;
}

/// Grid: (bins, rows, views). A block takes every gridDim.z-th view.
template <class Pixel>
__global__ void __launch_bounds__(threads)
    replace(Window window, float threshold, bool dark, Range heeded, const Pixel* __restrict__ from,
            Pixel* __restrict__ to, unsigned long long* replaced) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  const int pixels = window.pixels();
  const int rank = (pixels - pixels % 2) / 2;  // rank of the median
  const bool counts = heeded.first <= row && row < heeded.last;
  unsigned found = 0;
  for (Index view = blockIdx.z; view < window.views; view += gridDim.z) {
    if (bin >= window.used_bins) break;
    const Index at = (view * window.rows + row) * window.bins + bin;
    const Pixel own = from[at];
    const auto y = static_cast<float>(own);
    int above = 0, below = 0, finite = 0;
    window.for_all(from, view, row, bin, [&](float other) {
      above += y - other >= threshold;
      below += other - y >= threshold;
      finite += std::is_integral_v<Pixel> || isfinite(other);
    });
    bool out = isfinite(y) && finite == pixels && (above > rank || (dark && below >= pixels - rank));
    float value = y;
    if (out)
      value = ranked_value(rank, [&](const auto& use) { window.for_all(from, view, row, bin, use); });
    else if (isfinite(y) && finite < pixels)
      value = among_finite(window, from, view, row, bin, finite, threshold, dark), out = value != y;
    to[at] = out ? static_cast<Pixel>(value) : own;
    found += out && counts;
  }
  const unsigned warp = __reduce_add_sync(~0u, found);
  if (warp > 0 && threadIdx.x % 32 == 0) atomicAdd(replaced, warp);
}

Index replace_outliers(const FrameOutliers& how, const std::byte* from, std::byte* to, Stream& stream) {
  note_launch("outliers");
  const auto [views, rows, bins] = how.counts;
  const Window window{
      views,          rows, bins, how.used_bins, int_of(how.frames), int_of(how.rows), int_of(how.rule.size),
      how.rule.border};
  unsigned long long replaced = 0;
  const Sent<unsigned long long> tally(std::span<const unsigned long long>(&replaced, 1), stream);
  const dim3 blocks = grid_of(ceil_div<Index>(how.used_bins, threads), rows, std::min<Index>(views, 65535));
  with_pixels(how.type, from, [&](const auto* pixels) {
    using Pixel = std::remove_cvref_t<decltype(*pixels)>;
    replace<Pixel><<<blocks, threads, 0, queue(stream)>>>(window, how.rule.threshold, how.rule.dark,
                                                          how.heeded, pixels, reinterpret_cast<Pixel*>(to),
                                                          tally.data());
  });
  after_launch();
  bring(std::span(&replaced, 1), tally, stream);
  return replaced;
}

}  // namespace

const OutlierKernels outlier_kernels{replace_outliers};

}  // namespace tandem::kernels::cuda
