// Medians across columns. A thread has one rank and walks along the bins: its window lies in order in
// registers, one value leaves and another comes in, each by as many comparisons as the window has places.
// Neighbouring threads have neighbouring ranks. Windows that are too wide for that, or that have several
// ranks, are counted through for each bit of the median.

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/launch.cuh"
#include "sorted.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 128;
constexpr Index bins_a_thread = 256;

/// Keys in ascending order. Places that are not used are half below and half above all keys, so that the
/// median is always in the middle.
template <int places>
class Window {
 public:
  __device__ explicit Window(int size) {
#pragma unroll
    for (int i = 0; i < places; ++i) keys_[i] = i < places / 2 - size / 2 ? 0u : 0xffffffffu;
  }
  __device__ std::uint32_t median() const { return keys_[places / 2]; }
  /// Puts a key in the place of the largest one.
  __device__ void insert(std::uint32_t key) {
#pragma unroll
    for (int i = places - 1; i > 0; --i) keys_[i] = max(keys_[i - 1], min(keys_[i], key));
    keys_[0] = min(keys_[0], key);
  }
  __device__ void remove(std::uint32_t key) {
    bool behind = false;
#pragma unroll
    for (int i = 0; i < places - 1; ++i) {
      behind = behind || keys_[i] == key;
      keys_[i] = behind ? keys_[i + 1] : keys_[i];
    }
    keys_[places - 1] = 0xffffffffu;
  }

 private:
  std::uint32_t keys_[places];
};

/// Grid: (ranks, parts of the bins, rows).
template <int places>
__global__ void __launch_bounds__(threads)
    slide(const float* __restrict__ sorted, Index bins, Index ranks, int size, float* __restrict__ medians) {
  const Index rank = Index{blockIdx.x} * threads + threadIdx.x;
  if (rank >= ranks) return;
  const Index begin = blockIdx.z * bins * ranks + rank;
  const auto key = [&](Index bin) { return key_of(sorted[begin + reflected(bin, bins) * ranks]); };
  const Index first = blockIdx.y * bins_a_thread, last = min(bins, first + bins_a_thread);
  const int before = size / 2, behind = size - 1 - before;
  Window<places> window(size);
#pragma unroll 1
  for (Index bin = first - before; bin <= first + behind; ++bin) window.insert(key(bin));
#pragma unroll 1
  for (Index bin = first; bin < last; ++bin) {
    medians[begin + bin * ranks] = value_of_key(window.median());
    window.remove(key(bin - before));
    window.insert(key(bin + 1 + behind));
  }
}

/// Grid: (ranks, bins, rows).
__global__ void __launch_bounds__(threads)
    count_through(const float* __restrict__ sorted, Index bins, Index ranks, int bins_there, int ranks_there,
                  float* __restrict__ medians) {
  const Index rank = Index{blockIdx.x} * threads + threadIdx.x;
  if (rank >= ranks) return;
  const Index begin = blockIdx.z * bins * ranks;
  for (Index bin = blockIdx.y; bin < bins; bin += gridDim.y) {
    const auto for_all = [&](const auto& use) {
      for (int b = 0; b < bins_there; ++b) {
        const Index line = begin + reflected(bin - bins_there / 2 + b, bins) * ranks;
        for (int r = 0; r < ranks_there; ++r)
          use(sorted[line + reflected(rank - ranks_there / 2 + r, ranks)]);
      }
    };
    medians[begin + bin * ranks + rank] = ranked_value(bins_there * ranks_there / 2, for_all);
  }
}

template <int places>
bool slide_if_fits(const float* sorted, ColumnShape n, Index size, float* medians, Stream& stream) {
  if (size > places) return false;
  note_launch("medians of " + std::to_string(places));
  const dim3 blocks =
      grid_of(ceil_div<Index>(n.views, threads), ceil_div<Index>(n.bins, bins_a_thread), n.rows);
  slide<places><<<blocks, threads, 0, queue(stream)>>>(sorted, n.bins, n.views, int_of(size), medians);
  after_launch();
  return true;
}

}  // namespace

void medians_of_columns(const float* sorted, ColumnShape n, Index bins, Index ranks, float* medians,
                        Stream& stream) {
  if (ranks == 1 && (slide_if_fits<21>(sorted, n, bins, medians, stream) ||
                     slide_if_fits<61>(sorted, n, bins, medians, stream) ||
                     slide_if_fits<127>(sorted, n, bins, medians, stream)))
    return;
  note_launch("medians by counting");
  const dim3 blocks = grid_of(ceil_div<Index>(n.views, threads), std::min<Index>(n.bins, 65535), n.rows);
  count_through<<<blocks, threads, 0, queue(stream)>>>(sorted, n.bins, n.views, int_of(bins), int_of(ranks),
                                                       medians);
  after_launch();
}

}  // namespace tandem::kernels::cuda
