#include "hierarchical.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "../core/rounding.hpp"
#include "../core/spelled.hpp"
#include "../kernels/hierarchical.hpp"
#include "table_operator.hpp"

namespace tandem {

namespace {

std::shared_ptr<const kernels::HierarchicalViews> packed(const ConeBeam& scan, const VolumeGrid& grid,
                                                         Device device, const Execution& how,
                                                         AlongRows rows) {
  const double accuracy = hierarchical_accuracy(how);
  require<DeviceError>(
      accuracy == 0 || !device.is_cuda(), "device ", device.name(),
      ": another accuracy of the hierarchical model goes with the CPU; leave it out, or give " +
          spelled("device") + " cpu");
  return kernels::pack_hierarchical(scan, grid, kernels::grouping_on(device), accuracy, rows);
}

}  // namespace

double hierarchical_accuracy(const Execution& wanted) {
  return wanted.accuracy == Execution{}.accuracy ? 0 : wanted.accuracy;
}

LinearOperator hierarchical_projector(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                      const Execution& wanted, AlongRows rows) {
  const auto table = kernels::hierarchical(device);
  auto views = packed(scan, grid, device, wanted, rows);
  const Space projections = projection_space(scan, device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  return Projector<kernels::HierarchicalViews>{
      cone_volume_space(grid, device), projections, std::move(views), &table.front(), how, 1};
}

bool hierarchical_is_faster(const ConeBeam& scan, const VolumeGrid& grid, Device device, Index devices) {
  constexpr Index of_a_cone = 96, of_a_fan = 768, of_a_cone_on_cuda = 432;  // voxels and views, see the page
  const auto [nx, ny, nz] = grid.size;
  const bool flat = scan.detector.rows == 1;
  if (flat && device.is_cuda()) return false;
  const Index voxels = flat ? std::min(nx, ny) : std::min({nx, ny, nz}), least = flat ? of_a_fan
                                                                                 : device.is_cuda()
                                                                                     ? of_a_cone_on_cuda
                                                                                     : of_a_cone;
  // the rows beside a slab count for more the more slabs there are
  return std::min(voxels, views_of(scan)) >= devices * least && kernels::hierarchical_holds(scan, grid);
}

Index hierarchical_rows_beside(const ConeBeam& scan, const VolumeGrid& grid, const Execution& how) {
  const kernels::HierarchicalDesign& design = kernels::hierarchical_design(hierarchical_accuracy(how));
  // One more pass makes slices from rows.
  const int passes = kernels::hierarchical_levels(scan, kernels::grouping_on(Device::cpu())) + 1;
  const double most = 1 + 0.5 * (design.of_views.count + passes * design.across.count);
  const double cell = scan.detector.row_pitch / scan.magnification();
  return ceil_index(most * std::max(1.0, grid.pitch[2] / cell));
}

WorkingMemory hierarchical_memory(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                  const Execution& how, AlongRows rows) {
  return kernels::hierarchical_memory(*packed(scan, grid, device, how, rows), device);
}

WorkingMemory hierarchical_memory_of_part(WorkingMemory memory, Index rows, Index all) {
  // columns are whole vectors of rows, with one more at either end
  const double share = std::min(1.0, 1.0 * (rows + 2 * kernels::rows_a_vector) / all);
  return {share * memory.forward, share * memory.backward};
}

Index hierarchical_slices_together() { return kernels::rows_a_vector; }

}  // namespace tandem
