#pragma once

#include "../plan/plan.hpp"

namespace tandem::pipeline {

/// Line integrals and volume of a chunk of some slices, and what of the volume is written, bytes. Where rays
/// cross slices, all line integrals, on the wider detector that FDK may need. If vectors lie on several
/// ranks, the most that one of them has.
struct Sizes {
  double projections, volume, written;
};
Sizes sizes_of(const Plan& plan, Index slices);

/// The number of views, and of bins that line integrals have at the most.
Index views_of(const Job& job);
Index bins_of(const Job& job);
/// Rows whose line integrals a chunk of some slices has.
Index rows_held(const Job& job, Index slices);

/// The most views of which one device of a worker has the projections: members of a team share them.
Index views_of_share(const Plan& plan, const Worker& worker);
/// What the filter weighs cells and rays with, bytes.
double weight_bytes(const Job& job, Index slices);
/// Line integrals, and perhaps their weights: how many numbers there are for a datum.
double data_sets(const Job& job);

/// What kernels hold beside the vectors of one pass over a block of views, bytes.
double kernels_of_block(const Plan& plan, const Worker& worker, Index slices, Index views);
/// What the method holds on each device of a worker, in its largest phase: vectors and what kernels take
/// beside them, bytes.
double computing_bytes(const Plan& plan, const Worker& worker, Index slices);

}  // namespace tandem::pipeline
