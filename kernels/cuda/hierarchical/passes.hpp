#pragma once

#include <cuda_runtime.h>

#include "../../hierarchical.hpp"

namespace tandem::kernels::cuda {

/// A child and its parent, as kernels see them. Planes lie on the device.
struct PassAlongRows {
  FrameTurn turn;
  double middle_row;
  bool flat;
  Taps taps;
  const DisparityPlane *own, *turned;
  int planes;         ///< turned ones
  bool of_one;        ///< all of them come from the first of its own
  int columns, rows;  ///< the most that a plane has, here of the output
};
void turn_rows(const PassAlongRows& pass, const float* from, float* to, cudaStream_t s);
void turn_rows_back(const PassAlongRows& pass, const float* from, float* to, cudaStream_t s);

/// What a place reads: samples from `first` on.
struct Place {
  int first;
  float weights[most_taps];
};

/// Some planes of a parent, and a child.
struct Crossings {
  FrameTurn turn;
  double axis_column, step_u;
  Line own_columns;  ///< u by columns of the child
  Line t;            ///< of the child's turned planes
  bool is_view;
  ViewWeight weight;
  Taps across, along;
  const DisparityPlane *planes, *turned;  ///< of the parent, from the first one on; of the child
  int count, turned_count;
  int first_column[lines_together], columns[lines_together];  ///< of the child, by plane
  int most_columns, most_own_columns, most_rows;  ///< of the parent; of the child that a plane reads; rows
  int turned_columns, turned_rows;                ///< the most of the child's turned planes
  Place *places_across, *places_along;            ///< [plane][column]
  float* between;                                 ///< [plane][column of the child][row]
};
void find_places(const Crossings& c, cudaStream_t s);
/// The same for several children whose crossings lie on the device, each with its turned numbers, in one
/// pass: views of a group. `like`: one of them.
struct ViewCrossing {
  Crossings crossings;
  const float* turned;
};
void gather_views(const ViewCrossing* views, int count, const Crossings& like, float* sums,
                  Index first_number, cudaStream_t s);
/// sums, of the first of these planes on, += what the child gives; and the transpose, turned += its part.
void gather_planes(const Crossings& c, const float* turned, float* sums, Index first_number, cudaStream_t s);
void scatter_planes(const Crossings& c, const float* values, Index first_number, float* turned,
                    cudaStream_t s);

/// Some lines of voxels.
struct LinesPass {
  const DisparityPlane* lines;
  int count, first, columns, rows;  ///< lines; the first of all; voxels of a line; the most rows
  bool along_x, flat;
  Index nx, nz, first_number;
  double middle_row, z0, pitch_z, sod, step_v;
  Taps taps;
};
void add_lines(const LinesPass& pass, const float* sums, float* columns, cudaStream_t s);
void spread_lines(const LinesPass& pass, const float* columns, float* values, cudaStream_t s);

}  // namespace tandem::kernels::cuda
