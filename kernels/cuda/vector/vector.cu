#include <cub/block/block_reduce.cuh>

#include "../common/launch.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

/// A part of a vector as lines that are contiguous and belong to one block. Lines of a block are cut into
/// pieces of `piece` elements, so that the order of summation depends on the block's own extents alone.
struct Lines {
  Index blocks, lines, count;  ///< lines a block, elements a line
  Index block_stride, line_stride;
  __host__ __device__ Index start(Index block, Index line) const {
    return block * block_stride + line * line_stride;
  }
};

Lines lines_of(const Space& space) {
  const Shape n = space.shape();
  switch (space.blocks()) {
    case Blocks::slices:
      return {n[0], 1, n[1] * n[2], n[1] * n[2], 0};
    case Blocks::rows:
      return {n[1], n[0], n[2], n[2], n[1] * n[2]};
    case Blocks::whole:
      break;
  }
  return {1, 1, n[0] * n[1] * n[2], 0, 0};
}

constexpr Index piece = 16384;

/// In an order that is always the same; the sum is thread 0's.
__device__ double block_sum(double value) {
  using Reduce = cub::BlockReduce<double, threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ typename Reduce::TempStorage scratch;
  return Reduce(scratch).Sum(value);
}

/// Block x: one piece of one line of one block of the vector.
__global__ void __launch_bounds__(threads) piece_dots(Lines at, Index pieces, const float* __restrict__ x,
                                                      const float* __restrict__ y, double* sums) {
  const Index which = blockIdx.x;  // (block, line, piece)
  const Index line = which / pieces % at.lines, block = which / pieces / at.lines;
  const Index first = which % pieces * piece, last = min(at.count, first + piece);
  const Index start = at.start(block, line);
  double sum = 0;
  for (Index i = first + threadIdx.x; i < last; i += threads)
    sum += static_cast<double>(x[start + i]) * static_cast<double>(y[start + i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[which] = sum;
}

__global__ void __launch_bounds__(threads)
    add_pieces(Index count, const double* __restrict__ pieces, double* sums) {
  double sum = 0;
  for (Index i = threadIdx.x; i < count; i += threads) sum += pieces[blockIdx.x * count + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

void dot(ConstVectorView x, ConstVectorView y, std::span<double> sums, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Lines at = lines_of(x.space);
  const Index pieces = ceil_div(at.count, piece), all = at.blocks * at.lines * pieces;
  const Scratch<double> partial(static_cast<std::size_t>(all), s), total(sums.size(), s);
  piece_dots<<<static_cast<unsigned>(all), threads, 0, s>>>(at, pieces, x.data, y.data, partial.data());
  after_launch();
  add_pieces<<<static_cast<unsigned>(at.blocks), threads, 0, s>>>(at.lines * pieces, partial.data(),
                                                                  total.data());
  after_launch();
  check(cudaMemcpyAsync(sums.data(), total.data(), sums.size_bytes(), cudaMemcpyDeviceToHost, s));
  check(cudaStreamSynchronize(s));
}

/// body(element, block), each element by one thread.
template <class Body>
__global__ void __launch_bounds__(threads) each(Index count, Lines at, Body body) {
  const Index i = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (i >= count) return;
  const Index block = at.block_stride == 0 ? 0 : i / at.block_stride % at.blocks;
  body(i, block);
}

template <class Body>
void for_each(const Space& space, Stream& stream, Body body) {
  const Index count = space.size();
  each<<<static_cast<unsigned>(ceil_div<Index>(count, threads)), threads, 0, queue(stream)>>>(
      count, lines_of(space), body);
  after_launch();
}

void axpby(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
           Stream& stream) {
  const Scratch<float> scalars_a(a, queue(stream)), scalars_b(b, queue(stream));
  const bool one_a = a.size() == 1, one_b = b.size() == 1;
  for_each(x.space, stream,
           [=, u = x.data, v = y.data, pa = scalars_a.data(), pb = scalars_b.data()] __device__(Index i,
                                                                                                Index block) {
             const float s = pa[one_a ? 0 : block], t = pb[one_b ? 0 : block];
             v[i] = t == 0 ? s * u[i] : s * u[i] + t * v[i];
           });
}

void multiply(ConstVectorView x, VectorView y, Stream& stream) {
  for_each(y.space, stream, [u = x.data, v = y.data] __device__(Index i, Index) { v[i] *= u[i]; });
}

void fill(VectorView x, float value, Stream& stream) {
  for_each(x.space, stream, [=, u = x.data] __device__(Index i, Index) { u[i] = value; });
}

void reciprocal_or_zero(VectorView x, std::span<const float> floor, Stream& stream) {
  const Scratch<float> floors(floor, queue(stream));
  const bool one = floor.size() == 1;
  for_each(x.space, stream, [=, u = x.data, least = floors.data()] __device__(Index i, Index block) {
    u[i] = u[i] > least[one ? 0 : block] ? 1 / u[i] : 0.0f;
  });
}

void clamp_below(VectorView x, float lowest, Stream& stream) {
  for_each(x.space, stream, [=, u = x.data] __device__(Index i, Index) { u[i] = fmaxf(u[i], lowest); });
}

}  // namespace

const VectorKernels vector_kernels{dot, axpby, multiply, fill, reciprocal_or_zero, clamp_below};

}  // namespace tandem::kernels::cuda
