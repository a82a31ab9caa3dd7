#include "fbp_of_views.hpp"

#include "algebra.hpp"
#include "fbp.hpp"
#include "filtered_scan.hpp"
#include "projector.hpp"

namespace tandem {

LinearOperator fbp_of_views(const Scan& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution& execution) {
  return with_filter(whole, [&](const auto& s) {
    const LinearOperator F =
        ramp_filter(s, views, weights, filter, device, interpolation_of(s, grid, model, execution, device));
    if constexpr (requires { fdk_backprojector(s, views, grid, model, device); }) {
      return fdk_backprojector(s, views, grid, model, device) * F;
    } else {
      const auto some = crop(symmetric(s), views);
      return backprojector(projector(some, grid, model, device, execution), some, grid) * F;
    }
  });
}

}  // namespace tandem
