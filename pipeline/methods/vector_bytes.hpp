#pragma once

#include "../plan/plan.hpp"

namespace tandem::pipeline {

/// Sizes, bytes, of the line integrals and the volume of a chunk of some slices, and of the part of the
/// volume that is written. If rays cross slices, `projections` has all line integrals, on the wider detector
/// that FDK may need. If vectors are split over ranks, a size is the largest that a rank has.
struct VectorBytes {
  double projections, volume, written;
};
VectorBytes vector_bytes(const Plan& plan, Index slices);

/// The number of views; and the most bins that line integrals have.
Index views_of(const Job& job);
Index bins_of(const Job& job);
/// The number of rows whose line integrals a chunk of some slices has.
Index rows_held(const Plan& plan, Index slices);

/// The most views whose projections one device of a worker holds. Members of a team share the views.
Index views_of_share(const Plan& plan, const Worker& worker);
/// The size of the weights of cells and rays that the filter uses, bytes.
double weight_bytes(const Plan& plan, Index slices);
/// The number of values per datum: a line integral, and perhaps its weight.
double data_sets(const Job& job);

/// The memory of kernels beside the vectors, in one pass over a block of views, bytes.
double kernels_of_block(const Plan& plan, const Worker& worker, Index slices, Index views);
/// The memory, bytes, of the method on each device of a worker, in its largest phase: vectors, and what
/// kernels take beside them.
double computing_bytes(const Plan& plan, const Worker& worker, Index slices);

}  // namespace tandem::pipeline
