#include "fbp.hpp"

#include "../core/error.hpp"
#include "algebra.hpp"
#include "filtered_scan.hpp"
#include "fourier.hpp"
#include "hierarchical.hpp"
#include "orbit_fbp.hpp"
#include "projector.hpp"

namespace tandem {

LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid) {
  // the hat of each view has the area pitch^2 / bin_pitch (geometry/views.hpp), and interpolation needs the
  // area one
  return static_cast<float>(scan.detector.bin_pitch / (grid.pitch[0] * grid.pitch[1])) * adjoint(A);
}

LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid) {
  const double m = scan.magnification();
  const double cell = scan.detector.bin_pitch * scan.detector.row_pitch / (m * m);
  return static_cast<float>(cell / (grid.pitch[0] * grid.pitch[1] * grid.pitch[2])) * adjoint(A);
}

namespace {

/// The projector that FDK's back-projection is the transpose of.
LinearOperator projector_of_fdk(const ConeBeam& wide, const VolumeGrid& grid, Model model, Device device,
                                const Execution& how = {}) {
  const Execution of_accuracy{.accuracy = how.accuracy};
  return model == Model::hierarchical
             ? hierarchical_projector(wide, grid, device, of_accuracy, AlongRows::as_footprints)
             : projector(wide, grid, model, device, of_accuracy);
}

/// The voxels of a fan. Rays of Joseph's model run through their middles only, however flat they are.
VolumeGrid voxels_of_fan(const FanBeam& scan, const VolumeGrid& grid, Model model) {
  require<GeometryError>(
      model != Model::joseph,
      "fdk of a fan beam: model joseph has no back-projection of voxels that are flat; give "
      "separable_footprint, pixel_driven or hierarchical");
  return flat_voxels(scan, grid);
}

}  // namespace

LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid, Model model, Device device,
                                 const Execution& how) {
  return backprojector(projector_of_fdk(filtered_scan(scan), grid, model, device, how), scan, grid);
}

LinearOperator fdk_backprojector(const FanBeam& scan, const VolumeGrid& grid, Model model, Device device,
                                 const Execution& how) {
  return fdk_backprojector(static_cast<const ConeBeam&>(scan), voxels_of_fan(scan, grid, model), model,
                           device, how);
}

LinearOperator fdk_backprojector(const ConeBeam& scan, Range views, const VolumeGrid& grid, Model model,
                                 Device device) {
  const ConeBeam wide = filtered_scan(scan), some = crop(wide, views, {0, wide.detector.rows});
  return backprojector(projector_of_fdk(some, grid, model, device), scan, grid);
}

LinearOperator fdk_backprojector(const FanBeam& scan, Range views, const VolumeGrid& grid, Model model,
                                 Device device) {
  return fdk_backprojector(static_cast<const ConeBeam&>(scan), views, voxels_of_fan(scan, grid, model), model,
                           device);
}

LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter, Model model, Device device,
                   const Execution& how) {
  return fdk_backprojector(scan, grid, model, device, how) *
         ramp_filter(scan, filter, device, interpolation_of(scan, grid, model, how, device));
}

LinearOperator fdk(const FanBeam& scan, const VolumeGrid& grid, Filter filter, Model model, Device device,
                   const Execution& how) {
  return fdk(static_cast<const ConeBeam&>(scan), voxels_of_fan(scan, grid, model), filter, model, device,
             how);
}

LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid, Filter filter,
                   const Interpolation& interpolation) {
  return backprojector(A, scan, grid) * ramp_filter(scan, filter, A.domain().device(), interpolation);
}

LinearOperator ramp_filter(const Scan& scan, const VolumeGrid& grid, Filter filter,
                           std::optional<Model> model, Device device, const Execution& execution) {
  return std::visit(
      [&](const auto& s) {
        const Model its = model.value_or(usual_model(scan));
        const Execution how = resolved(execution, symmetric(s), grid, its, device);
        return ramp_filter(s, filter, device, interpolation_of(s, grid, its, how, device));
      },
      scan);
}

LinearOperator backprojector(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model,
                             Device device, const Execution& execution) {
  return std::visit(
      [&](const auto& s) {
        const Model its = model.value_or(usual_model(scan));
        if constexpr (requires { fdk_backprojector(s, grid, its, device, execution); })
          return fdk_backprojector(s, grid, its, device, execution);
        else if constexpr (requires { fdk_backprojector(s, grid, its, device); })
          return fdk_backprojector(s, grid, its, device);
        else
          return backprojector(projector(symmetric(s), grid, its, device, execution), s, grid);
      },
      scan);
}

LinearOperator fbp(const Scan& scan, const VolumeGrid& grid, Filter filter, std::optional<Model> model,
                   Device device, const Execution& execution) {
  return std::visit(
      [&](const auto& s) {
        if constexpr (requires { fourier_fbp(s, grid, filter, device, execution); })
          if (model == Model::fourier) return fourier_fbp(s, grid, filter, device, execution);
        return backprojector(scan, grid, model, device, execution) *
               ramp_filter(scan, grid, filter, model, device, execution);
      },
      scan);
}

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
