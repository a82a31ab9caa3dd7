#include "fbp_of_views.hpp"

#include "algebra.hpp"
#include "fbp.hpp"
#include "projector.hpp"

namespace tandem {

LinearOperator fbp_of_views(const ParallelBeam& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution& execution) {
  const ParallelBeam wide = symmetric(whole);
  const ParallelBeam some = crop(wide, views, {0, wide.detector.rows}, {0, wide.detector.bins});
  return backprojector(projector(some, grid, model, device, execution), some, grid) *
         ramp_filter(whole, views, weights, filter, device,
                     interpolation_of(whole, grid, model, execution, device));
}

LinearOperator fbp_of_views(const ConeBeam& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution&) {
  return fdk_backprojector(whole, views, grid, model, device) *
         ramp_filter(whole, views, weights, filter, device, interpolation_of(whole, grid, model));
}

LinearOperator fbp_of_views(const FanBeam& whole, Range views, std::span<const float> weights,
                            const VolumeGrid& grid, Filter filter, Model model, Device device,
                            const Execution& execution) {
  return fbp_of_views(static_cast<const ConeBeam&>(whole), views, weights, flat_voxels(whole, grid), filter,
                      model, device, execution);
}

}  // namespace tandem
