#pragma once

#include "../../../kernels/column_spreads.hpp"
#include "plane.hpp"

namespace tandem::pipeline::stripes {

using kernels::ColumnSpreads, kernels::ColumnSum;

/// The spreads of sums of columns (bin, view).
ColumnSpreads spreads_of(const Plane& columns, const ColumnSum& sum, Index rank);

/// Differences of an order between neighbouring columns.
ColumnSum differences(Index order);

}  // namespace tandem::pipeline::stripes
