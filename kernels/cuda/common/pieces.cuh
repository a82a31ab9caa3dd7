#pragma once

#include <cub/block/block_reduce.cuh>
#include <optional>

#include "../../../core/array.hpp"
#include "sent.cuh"

// Work on vectors block by block, each in pieces of its own, so that the order of summation depends on the
// block's extents alone.

namespace tandem::kernels::cuda {

constexpr int threads = 256;
constexpr Index piece = 16384;  ///< elements; a multiple of 4

/// A vector as lines that are contiguous and belong to one block. Blocks are cut into pieces, of one line or
/// of several short ones, so that the order of summation depends on the block's own extents alone.
struct Lines {
  Index blocks, lines, count;  ///< lines a block, elements a line
  Index block_stride, line_stride;

  __host__ __device__ Index together() const { return count < piece ? piece / count : 1; }  ///< lines
  Index pieces_of_line() const { return ceil_div(count, piece); }
  Index pieces() const { return ceil_div(lines, together()) * pieces_of_line(); }  ///< pieces of a block
};

inline Lines lines_of(const Space& space) {
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

/// The piece that block x of a grid works on.
struct Piece {
  Index block, start, lines, count, line_stride;
  __device__ Piece(const Lines& at, Index pieces_of_line) {
    const Index groups = ceil_div(at.lines, at.together()), which = blockIdx.x;  // (block, group, piece)
    const Index group = which / pieces_of_line % groups, first = which % pieces_of_line * piece;
    block = which / pieces_of_line / groups;
    start = block * at.block_stride + group * at.together() * at.line_stride + first;
    lines = min(at.lines - group * at.together(), at.together());
    count = min(at.count - first, piece);
    line_stride = at.line_stride;
  }
};

inline dim3 grid_of(const Lines& at) { return grid_of(at.blocks * at.pieces()); }

/// The sum over a block of threads, in an order that is always the same; thread 0 has it.
inline __device__ double block_sum(double value) {
  using Reduce = cub::BlockReduce<double, threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ typename Reduce::TempStorage scratch;
  return Reduce(scratch).Sum(value);
}

/// Adds the numbers of pieces up to one number per block.
static __global__ void __launch_bounds__(threads)
    add_pieces(Index count, const double* __restrict__ pieces, double* sums) {
  double sum = 0;
  for (Index i = threadIdx.x; i < count; i += threads) sum += pieces[blockIdx.x * count + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Numbers of blocks, as kernels get them: one for all of them, or one each.
struct Scalars {
  float one;
  const float* each;  ///< null if there is one
  __device__ float of(Index block) const { return each ? each[block] : one; }
};

/// Scalars that are on the device as long as this object lives. A single number goes with the launch.
class SentScalars {
 public:
  SentScalars(std::span<const float> values, const Stream& stream) : one_(values[0]) {
    if (values.size() > 1) each_.emplace(values, stream);
  }
  Scalars there() const { return {one_, each_ ? each_->data() : nullptr}; }

 private:
  float one_;
  std::optional<Sent<float>> each_;
};

}  // namespace tandem::kernels::cuda
