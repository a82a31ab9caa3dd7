// Sorts columns over their views, a block each: CUB sorts keys and views in shared memory, by their digits,
// lowest first, so that equal values keep their order.

#include <cub/block/block_radix_sort.cuh>

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/launch.cuh"
#include "sorted.hpp"

namespace tandem::kernels::cuda {

namespace {

/// Grid: columns. Beyond its views a column has the largest keys, which stay behind them.
template <int threads, int values_a_thread>
__global__ void __launch_bounds__(threads)
    sort_column(const float* __restrict__ columns, int views, float* __restrict__ sorted,
                std::uint16_t* __restrict__ order) {
  using Sort = cub::BlockRadixSort<std::uint32_t, threads, values_a_thread, std::uint16_t>;
  __shared__ typename Sort::TempStorage memory;
  const Index begin = Index{blockIdx.x} * views;
  const int first = own_thread() * values_a_thread;
  std::uint32_t keys[values_a_thread];
  std::uint16_t places[values_a_thread];
#pragma unroll
  for (int i = 0; i < values_a_thread; ++i) {
    keys[i] = first + i < views ? key_of(columns[begin + first + i]) : 0xffffffffu;
    places[i] = static_cast<std::uint16_t>(first + i);
  }
  Sort(memory).SortBlockedToStriped(keys, places);
#pragma unroll
  for (int i = 0; i < values_a_thread; ++i) {
    const int rank = i * threads + own_thread();
    if (rank >= views) continue;
    sorted[begin + rank] = value_of_key(keys[i]);
    order[begin + rank] = places[i];
  }
}

template <int threads, int values_a_thread>
bool sort_if_fits(const float* columns, ColumnShape n, float* sorted, std::uint16_t* order, Stream& stream) {
  if (n.views > threads * values_a_thread) return false;
  note_launch("sort columns of " + std::to_string(threads * values_a_thread));
  sort_column<threads, values_a_thread>
      <<<grid_of(n.rows * n.bins), threads, 0, queue(stream)>>>(columns, int_of(n.views), sorted, order);
  after_launch();
  return true;
}

}  // namespace

void sort_columns(const float* columns, ColumnShape n, float* sorted, std::uint16_t* order, Stream& stream) {
  const bool done = sort_if_fits<128, 8>(columns, n, sorted, order, stream) ||
                    sort_if_fits<256, 8>(columns, n, sorted, order, stream) ||
                    sort_if_fits<256, 12>(columns, n, sorted, order, stream) ||
                    sort_if_fits<256, 16>(columns, n, sorted, order, stream) ||
                    sort_if_fits<512, 16>(columns, n, sorted, order, stream);
  require<GeometryError>(done, "columns: ", n.views, " views are more than ", most_sorted_views);
}

}  // namespace tandem::kernels::cuda
