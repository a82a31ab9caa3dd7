#pragma once

#include <optional>

#include "../core/public.hpp"
#include "ramp_filter.hpp"

namespace TANDEM_PUBLIC tandem {

/// The operator B, which is adjoint(A) times bin pitch / pixel area, so that B F y is an image in 1/mm for
/// every model.
LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid);

/// The operator B for a cone beam, which is adjoint(A) times the area of a cell as it appears at the axis,
/// divided by the volume V of a voxel. Then B F y is an image in 1/mm for every model. The reason: the
/// coefficients of a voxel sum to V sdd r / (d^2 cell) over all cells, with r from the source to the cell;
/// the cosines after the ramp are sdd / r; and FDK needs (sod / d)^2. A is a projector of
/// `filtered_scan(scan)`.
LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid);

/// The operator B with a projector that it makes itself, for any part of a volume. For a fan beam it takes
/// the voxels of `flat_voxels`. `how.accuracy` is that of Model::hierarchical. Shapes: (view, row, bin) on
/// the detector of `filtered_scan(scan)` -> (slice, y, x). @throws GeometryError for a fan beam by joseph
LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu(),
                                 const Execution& how = {});
LinearOperator fdk_backprojector(const FanBeam& scan, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu(),
                                 const Execution& how = {});
/// The part of B for some views, which takes filtered data of these views.
LinearOperator fdk_backprojector(const ConeBeam& scan, Range views, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());
LinearOperator fdk_backprojector(const FanBeam& scan, Range views, const VolumeGrid& grid,
                                 Model model = Model::separable_footprint, Device device = Device::cpu());

/// B F for a cone beam or a fan beam (FDK), on a circle or an arc. On a circle the detector may also be to
/// one side of the axis.
LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu(),
                   const Execution& how = {});
LinearOperator fdk(const FanBeam& scan, const VolumeGrid& grid, Filter filter = {},
                   Model model = Model::separable_footprint, Device device = Device::cpu(),
                   const Execution& how = {});

/// B F for a parallel beam. It is exact for angles that fill half a turn, in any order and with any spacing,
/// and for a half acquisition. No gap between neighbours may be a hole (`view_weights`). A is a projector of
/// `symmetric(scan)`, which differs from the scan only for a half acquisition. `interpolation` is that of its
/// transpose
/// (`interpolation_of`).
LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid,
                   Filter filter = {}, const Interpolation& interpolation = {});

/// F, B and B F for a scan of any kind, with projectors that they make themselves. `model` and `execution`
/// are as in `projector`. B F of a parallel beam with Model::fourier is `fourier_fbp`. @throws as `projector`
LinearOperator ramp_filter(const Scan& scan, const VolumeGrid& grid, Filter filter = {},
                           std::optional<Model> model = {}, Device device = Device::cpu(),
                           const Execution& execution = {});
LinearOperator backprojector(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model = {},
                             Device device = Device::cpu(), const Execution& execution = {});
LinearOperator fbp(const Scan& scan, const VolumeGrid& grid, Filter filter = {},
                   std::optional<Model> model = {}, Device device = Device::cpu(),
                   const Execution& execution = {});

}  // namespace tandem
