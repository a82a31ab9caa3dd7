#pragma once

#include "../kernels/ramp.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// How rows of so many bins go on, which begin at bin `first` of a transform of this length. Used only within
/// operators/. The ramp of the padded row must not meet what it goes on with a second time, from the other
/// side of the circle. So the shapes are not the tapers themselves, but those rows of the whole circle of
/// which its ramp is what the ramp of the unbounded line makes of the tapers.
kernels::Continuation continuation(const Filter& filter, Index bins, Index first, Index length);

/// The same for rows that are moved and not filtered: the tapers themselves, times the last value of a row.
kernels::Continuation continuation_of_moved(Padding padding, Index bins, Index first, Index length);

}  // namespace tandem
