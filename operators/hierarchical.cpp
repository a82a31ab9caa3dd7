#include "hierarchical.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../kernels/hierarchical.hpp"
#include "table_operator.hpp"

namespace tandem {

namespace {

std::shared_ptr<const kernels::HierarchicalViews> packed(const ConeBeam& scan, const VolumeGrid& grid,
                                                         Device device, const Execution& how) {
  const double accuracy = hierarchical_accuracy(how);
  require<DeviceError>(accuracy == 0 || !device.is_cuda(), "device ", device.name(),
                       ": --accuracy of the hierarchical model goes with the CPU; leave it out, or give "
                       "--device cpu");
  return kernels::pack_hierarchical(scan, grid, kernels::grouping_on(device), accuracy);
}

}  // namespace

double hierarchical_accuracy(const Execution& wanted) {
  return wanted.accuracy == Execution{}.accuracy ? 0 : wanted.accuracy;
}

LinearOperator hierarchical_projector(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                      const Execution& wanted) {
  const auto table = kernels::hierarchical(device);
  auto views = packed(scan, grid, device, wanted);
  const Space projections = projection_space(scan, device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  return Projector<kernels::HierarchicalViews>{
      cone_volume_space(grid, device), projections, std::move(views), &table.front(), how, 1};
}

Index hierarchical_rows_beside(const ConeBeam& scan, const VolumeGrid& grid, const Execution& how) {
  const kernels::HierarchicalDesign& design = kernels::hierarchical_design(hierarchical_accuracy(how));
  // One more pass makes slices from rows.
  const int passes = kernels::hierarchical_levels(scan, kernels::grouping_on(Device::cpu())) + 1;
  const double most = 1 + 0.5 * (design.of_views.count + passes * design.across.count);
  const double cell = scan.detector.row_pitch / scan.magnification();
  return static_cast<Index>(std::ceil(most * std::max(1.0, grid.pitch[2] / cell)));
}

WorkingMemory hierarchical_memory(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                  const Execution& how) {
  return kernels::hierarchical_memory(*packed(scan, grid, device, how), device);
}

}  // namespace tandem
