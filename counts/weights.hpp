#pragma once

#include "../core/array.hpp"
#include "../core/comm.hpp"

namespace tandem::pipeline {

/// What a solver multiplies the squares of residuals by: 1 / (v + the median of all v), for the variance v of
/// a datum, scaled to the mean 1 in each block. 0 where v is infinite. The median stands for what else keeps
/// A x from the data: without it, the rays of most light would decide alone, at edges that no voxels resolve.
/// Source of weights by counts: Sauer, Bouman, IEEE Transactions on Signal Processing 41(2), 1993.
Array weights_of(Array variances);
/// All ranks: the same for a block of which this rank has the views from `first` on, of so many.
Array weights_of(Array variances, Index first, Index views, const Comm& ranks);

}  // namespace tandem::pipeline
