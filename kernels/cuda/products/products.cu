// Products of data, and roots of them.

#include "../../products.hpp"

#include <algorithm>

#include "../../launches.hpp"
#include "../../ordered.hpp"
#include "../common/batch.cuh"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

/// A thread has a row of a view, which it adds up in the order of the CPU. Grid: (view, row), in one line.
__global__ void __launch_bounds__(threads) add_bins(Image<const float> y, double* sums) {
  const Index which = Index{blockIdx.x} * threads + threadIdx.x;
  if (which >= y.n0 * y.n1) return;
  double sum = 0;
  for (Index bin = 0; bin < y.n2; ++bin) sum += element(y, which / y.n1, which % y.n1, bin);
  sums[which] = sum;
}

/// Grid: (bins, rows, views). A block takes every gridDim.z-th view. `lowest`: the key of each row.
__global__ void __launch_bounds__(threads)
    multiply_all(Image<const float> other, Image<float> y, std::uint32_t* lowest) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  std::uint32_t own = 0xffffffffu;
  for (Index view = blockIdx.z; view < y.n0 && bin < y.n2; view += gridDim.z) {
    const float product = element(y, view, row, bin) * element(other, view, row, bin);
    element(y, view, row, bin) = product;
    own = min(own, key_of(product));
  }
  const std::uint32_t of_warp = __reduce_min_sync(~0u, own);
  if (threadIdx.x % 32 == 0) atomicMin(&lowest[row], of_warp);
}

/// The same grid.
__global__ void __launch_bounds__(threads) take_roots(const double* __restrict__ lifts, Image<float> y) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x, row = blockIdx.y;
  if (bin >= y.n2) return;
  for (Index view = blockIdx.z; view < y.n0; view += gridDim.z) {
    float& value = element(y, view, row, bin);
    value = static_cast<float>(sqrt(fmax(0.0, value + lifts[row])));
  }
}

dim3 blocks_of(const Image<float>& y) {
  return grid_of(ceil_div<Index>(y.n2, threads), y.n1, std::min<Index>(y.n0, 64));
}

std::vector<double> sums_of_views(Image<const float> y, Stream& stream) {
  note_launch("sums of views");
  std::vector<double> sums(y.n0 * y.n1);
  const Scratch<double> there(sums.size(), queue(stream));
  add_bins<<<grid_of(ceil_div<Index>(y.n0 * y.n1, threads)), threads, 0, queue(stream)>>>(y, there.data());
  after_launch();
  bring(std::span(sums), there, stream);
  return sums;
}

std::vector<float> multiply(Image<const float> other, Image<float> y, Stream& stream) {
  note_launch("products");
  std::vector<std::uint32_t> keys(y.n1, 0xffffffffu);
  const Sent<std::uint32_t> lowest(keys, stream);
  multiply_all<<<blocks_of(y), threads, 0, queue(stream)>>>(other, y, lowest.data());
  after_launch();
  bring(std::span(keys), lowest, stream);
  std::vector<float> values;
  for (const std::uint32_t key : keys) values.push_back(value_of_key(key));
  return values;
}

void roots(std::span<const double> lifts, Image<float> y, Stream& stream) {
  note_launch("roots");
  const Sent<double> there(lifts, stream);
  take_roots<<<blocks_of(y), threads, 0, queue(stream)>>>(there.data(), y);
  after_launch();
}

}  // namespace

const ProductKernels product_kernels{sums_of_views, multiply, roots};

}  // namespace tandem::kernels::cuda
