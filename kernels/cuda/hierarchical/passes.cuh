#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "../../hierarchical.hpp"
#include "../common/batch.cuh"

namespace tandem::kernels::cuda {

/// A plane of a parent, or a line of voxels.
struct ParentPlane {
  double t;
  Line u;
  Index column_0;  ///< the number at which column 0 would begin, with row 0
  int first_column, columns, first_row, rows;
};

/// Zeros before and behind the numbers of a group, where rounding may read.
constexpr int numbers_beside = 8192;

/// A turned plane of a child. Places among its numbers count modulo 2^32.
struct ChildPlane {
  unsigned column_0;  ///< where column 0 would begin, with row 0, from the zeros before all numbers on
  int rows, first_row, last_row;
};
struct PlaneColumns {
  int first, last;
};

/// A child as its parent reads it.
struct Joint {
  FrameTurn turn;
  Line t;  ///< places of planes
  const ChildPlane* planes;
  const PlaneColumns* columns;
  float* data;                                         ///< numbers, with the zeros before them
  int count;                                           ///< planes
  int first_column, last_column, first_row, last_row;  ///< columns and rows that any plane has
};

constexpr int lines_a_block = 8, columns_a_block = 16, own_columns_a_block = 32;

/// Some planes of a parent with children of one kind.
struct Merging {
  const ParentPlane* planes;
  int count;
  double axis_column, step_u;
  bool of_views;
  ViewWeight weight;
  Taps along_u, along_t;
  int most_columns, most_rows;  ///< size of as many planes as a block has, together
  int reach;                    ///< the most columns of a child that the columns of a block read
  double drift;                 ///< the most columns by which these drift against those of a block
  int spread;                   ///< the most columns of a plane that read those of a block, in the transpose
  int together = 1;             ///< planes whose places fit into shared memory, in the transpose
  int threads_log2 = 8;         ///< one of these has 2^this threads that find its places
};

/// Bytes of shared memory that a block may have on this card, for kernels that choose their size by it.
inline std::size_t shared_memory_here() {
  int device = 0;
  check(cudaGetDevice(&device));
  return most_shared_memory(Device::cuda(device));
}

/// Sets `sums`, from the first of these planes on, to what the children give, or adds it.
void gather(const Merging& merging, const Joint* children, int count, bool add, float* sums, cudaStream_t s);
/// The same for views, if columns of the planes lie about as far apart as theirs; false, and nothing done, if
/// they do not.
bool gather_views(const Merging& merging, const Joint* views, int count, bool add, float* sums,
                  cudaStream_t s);
/// The transpose: sets each child to its part of what all planes have.
void scatter(const Merging& merging, const std::vector<Joint>& children, const float* values, cudaStream_t s);

/// The pass of a child along v.
struct Turning {
  FrameTurn turn;
  double middle_row, axis_column, step_u;
  bool flat, of_one;  ///< of_one: all turned planes come from one
  Taps taps;
  const ParentPlane *own, *turned;
  int planes;                   ///< turned planes
  int most_columns, most_rows;  ///< size of the result
};
void turn_rows(const Turning& pass, const float* own, float* turned, cudaStream_t s);
void turn_rows_back(const Turning& pass, const float* turned, float* own, cudaStream_t s);

/// Lines of voxels.
struct VoxelPass {
  const ParentPlane* lines;  ///< lines from `first` on
  int first, count;
  bool along_x, flat;
  int most_rows;
  double middle_row, z0, pitch_z, sod, step_v;
  Taps taps;
};
/// volume <- alpha lines + beta volume; and the transpose, lines = volume.
void add_lines(const VoxelPass& pass, const float* rows, Update update, Image<float> volume, cudaStream_t s);
void spread_lines(const VoxelPass& pass, Image<const float> volume, float* rows, cudaStream_t s);

/// (bin, row) <- rays of a view times their slant, or the other way round.
void bins_of_view(const ConeFrame& n, Image<const float> projections, Index view, float* bins,
                  cudaStream_t s);
void store_view(const ConeFrame& n, const float* bins, Index view, Update update, Image<float> projections,
                cudaStream_t s);

/// Cells of a line that become samples (`Thinning`), in the middle of `outer` x cells x `inner` numbers.
struct ThinPass {
  const std::int32_t* first;  ///< first cell of each sample
  const float* weights;       ///< [sample][cell]
  int count;                  ///< cells a sample
  Index samples, cells, outer, inner;
};
void thin(const ThinPass& pass, const float* cells, float* samples, cudaStream_t s);
void thin_back(const ThinPass& pass, const float* samples, float* cells, cudaStream_t s);

}  // namespace tandem::kernels::cuda
