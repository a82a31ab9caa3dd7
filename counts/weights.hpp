#pragma once

#include "../core/array.hpp"
#include "../core/comm.hpp"

namespace tandem::pipeline {

/// The weights by which a solver multiplies the squares of residuals: 1 / (v + the median of all v), for the
/// variance v of a datum, scaled to the mean 1 in each block. The weight is 0 if v is infinite. The median
/// stands for all else that keeps A x from the data: without it, the rays of most light would decide alone,
/// at edges that no voxels resolve. Source of weights by counts: Sauer, Bouman, IEEE Transactions on Signal
/// Processing 41(2), 1993.
Array weights_of(Array variances);
/// The same for a block of so many views, of which this rank has those from `first` on. All ranks call it.
Array weights_of(Array variances, Index first, Index views, const Comm& ranks);

}  // namespace tandem::pipeline
