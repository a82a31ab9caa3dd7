#include "hierarchical.hpp"

#include <algorithm>
#include <cmath>

#include "../kernels/hierarchical.hpp"
#include "table_operator.hpp"

namespace tandem {

LinearOperator hierarchical_projector(const ConeBeam& scan, const VolumeGrid& grid, Device device,
                                      const Execution& wanted) {
  const auto table = kernels::hierarchical(device);
  auto views = kernels::pack_hierarchical(scan, grid, kernels::grouping_on(device));
  const Space projections = projection_space(scan, device);
  const Execution how = resolve(table, wanted, Pairing::matched, *views, projections.shape(), device);
  return Projector<kernels::HierarchicalViews>{
      cone_volume_space(grid, device), projections, std::move(views), &table.front(), how, 1};
}

Index hierarchical_rows_beside(const ConeBeam& scan, const VolumeGrid& grid) {
  constexpr double most = 16;
  const double cell = scan.detector.row_pitch / scan.magnification();
  return static_cast<Index>(std::ceil(most * std::max(1.0, grid.pitch[2] / cell)));
}

WorkingMemory hierarchical_memory(const ConeBeam& scan, const VolumeGrid& grid, Device device) {
  return kernels::hierarchical_memory(*kernels::pack_hierarchical(scan, grid, kernels::grouping_on(device)),
                                      device);
}

}  // namespace tandem
