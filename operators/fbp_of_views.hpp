#pragma once

#include <span>

#include "../core/execution.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// B F for some views of a scan: (view, row, bin) of these views -> (slice, y, x). F has these weights
/// (`filter_weights`). With the weights of the whole scan, the sum over all views is the result of `fbp` or
/// `fdk`, up to rounding. `execution` is for a parallel beam, since other beams have only one. @throws as
/// `fbp` and `fdk` do
LinearOperator fbp_of_views(const Scan& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution& execution);

}  // namespace tandem
