#pragma once

// Scans whose views have a filter. Used only within the library.

#include <span>
#include <type_traits>

#include "../core/error.hpp"
#include "ramp_filter.hpp"

namespace tandem {

/// Calls `work` with a scan whose views have angles, since a filter weighs views by angles. @throws
/// GeometryError for a kind without angles
template <class Work>
auto with_filter(const Scan& scan, const Work& work) {
  return std::visit(
      [&](const auto& s) -> std::invoke_result_t<Work, const ConeBeam&> {
        if constexpr (requires { s.angles; }) return work(s);
        throw GeometryError("ramp filter: a " + std::string(s.kind) +
                            " beam has none; a solver takes it, such as cgls");
      },
      scan);
}

/// B F for some views of a scan: (view, row, bin) of these views -> (slice, y, x). F has these weights
/// (`filter_weights`). With the weights of the whole scan, the sum over all views is the result of `fbp` or
/// `fdk`, up to rounding. `execution` is for a parallel beam, since other beams have only one. @throws as
/// `fbp` and `fdk` do
LinearOperator fbp_of_views(const Scan& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution& execution);

}  // namespace tandem
