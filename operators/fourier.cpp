#include "fourier.hpp"

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "../kernels/fourier.hpp"
#include "algebra.hpp"
#include "circles.hpp"
#include "continuation.hpp"
#include "fbp.hpp"
#include "ramp_filter.hpp"
#include "table_operator.hpp"

namespace tandem {

namespace {

using kernels::FourierViews;

LinearOperator make(const ParallelBeam& scan, const VolumeGrid& grid, FourierViews views, double scale,
                    const Execution& wanted, Device device) {
  const Execution how = resolved_fourier(wanted, scan, device);
  return Projector<FourierViews>{volume_space(grid, device),
                                 projection_space(scan, device),
                                 std::make_shared<const FourierViews>(std::move(views)),
                                 find(kernels::fourier(device), how.variant),
                                 how,
                                 static_cast<float>(scale)};
}

}  // namespace

LinearOperator fourier_projector(const ParallelBeam& scan, const VolumeGrid& grid, Device device,
                                 const Execution& how) {
  const double scale = grid.pitch[0] * grid.pitch[1] / scan.detector.bin_pitch;
  FourierViews views = fourier_views(kernels::fourier_plan(scan, grid, how.accuracy), scan, grid);
  return make(scan, grid, std::move(views), scale, how, device);
}

LinearOperator fourier_fbp(const ParallelBeam& scan, const VolumeGrid& grid, Filter filter, Device device,
                           const Execution& how) {
  const bool half = half_acquisition(scan);
  const ParallelBeam wide = symmetric(scan);
  const auto plan = kernels::fourier_plan(wide, grid, how.accuracy);
  std::vector<double> row_shifts;
  for (const double axis : scan.row_axis_bins) row_shifts.push_back(scan.detector.axis_bin - axis);
  const Interpolation interpolation = interpolation_of(scan, grid, Model::fourier);
  FourierViews views = with_response(
      fourier_views(plan, wide, grid),
      filter_response(filter, plan->length, scan.detector.bin_pitch, interpolation),
      half ? std::vector<float>(scan.angles.size(), 1.0f) : view_shares(scan), std::move(row_shifts));
  views.beyond = continuation_of_weighed_rows(filter, scan, plan->length);
  const LinearOperator back = adjoint(make(wide, grid, std::move(views), 1, how, device));
  LinearOperator all = half ? back * weigh_rays(scan, device) : back;
  const auto circles = added_circles(scan, filter, device, interpolation);
  if (!circles) return all;
  return all + backprojector(fourier_projector(wide, grid, device, how), scan, grid) * *circles;
}

Execution resolved_fourier(const Execution& wanted, const ParallelBeam& scan, Device device) {
  const auto table = kernels::fourier(device);
  require<DeviceError>(!table.empty(), "device ", device.name(),
                       ": the Fourier model has no kernels here; give " + spelled("device") + " cpu");
  return resolve(table, wanted, Pairing::matched, FourierViews{}, projection_space(scan).shape(), device);
}

bool fourier_is_faster(const ParallelBeam& scan, const VolumeGrid& grid, const Execution& how,
                       Device device) {
  return !kernels::fourier(device).empty() &&
         kernels::fourier_is_faster(kernels::fourier_sizes(scan, grid, how.accuracy), views_of(scan), device);
}

WorkingMemory fourier_memory(const ParallelBeam& scan, const VolumeGrid& grid, Index slices,
                             const Execution& how, Device device) {
  const double bytes = kernels::fourier_memory(kernels::fourier_sizes(scan, grid, how.accuracy),
                                               views_of(scan), slices, device);
  return {bytes, bytes};
}

}  // namespace tandem
