#include "problem.hpp"

#include <algorithm>
#include <mutex>

#include "../geometry/coverage.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/tiled_projector.hpp"
#include "methods/method.hpp"

namespace tandem::pipeline {

namespace {

LinearOperator projector_of(const Plan& plan, const ParallelBeam& scan, const VolumeGrid& grid,
                            const std::function<void()>&) {
  return projector(scan, grid, Model::pixel_driven, plan.home(), plan.execution);
}

LinearOperator in_tiles(const Plan& plan, const ConeBeam& scan, const VolumeGrid& grid,
                        const std::function<void()>& on_tile) {
  const auto before_each = [on_tile](Device) {
    if (on_tile) on_tile();
  };
  return tiled_projector(scan, grid, plan.devices, static_cast<double>(plan.device_bytes),
                         {plan.recipe.streams, before_each});
}

LinearOperator projector_of(const Plan& plan, const ConeBeam& scan, const VolumeGrid& grid,
                            const std::function<void()>& on_tile) {
  const VolumeGrid seen = tall_for_fan(scan, grid);
  return plan.tiled ? in_tiles(plan, scan, seen, on_tile)
                    : projector(scan, seen, Model::separable_footprint, plan.home());
}

/// FDK's back-projection by the plan's devices.
Array fdk_in_tiles(const Plan& plan, const ConeBeam& scan, const VolumeGrid& grid, const Array& filtered,
                   const std::function<void(double)>& done) {
  const ConeBeam wide = symmetric(scan);
  const VolumeGrid seen = flat_for_fan(scan, grid);
  const Tiling tiles = plan_tiles(wide, seen, plan.devices, static_cast<double>(plan.device_bytes)).backward;
  const auto all = static_cast<double>(tiles.strips.size() * tiles.views.size());
  std::mutex one_at_a_time;
  double begun = 0;
  const auto tell = [&] {
    const std::lock_guard lock(one_at_a_time);
    done(begun++ / all);
  };
  return backprojector(in_tiles(plan, wide, seen, tell), scan, seen) * filtered;
}

Array in_strips(const ConeBeam& scan, const VolumeGrid& grid, const Array& filtered,
                const std::function<void(double)>& done) {
  const Device device = filtered.space().device();
  const auto [nx, ny, nz] = grid.size;
  const bool long_slice = nz == 1 && scan.detector.rows == 1 && !device.is_cuda();
  const Index strips = std::min<Index>(ny, long_slice ? 64 : 1);
  Array whole(cone_volume_space(grid, device));
  Stream& stream = default_stream(device);
  for (Index k = 0; k < strips; ++k) {
    const Range lines{k * ny / strips, (k + 1) * ny / strips};
    const VolumeGrid strip = region(grid, {0, nx}, lines, {0, nz});
    const VectorView part{whole.data() + lines.first * nx, cone_volume_space(strip, device)};
    fdk_backprojector(scan, strip, Model::separable_footprint, device).apply(1, filtered, 0, part, stream);
    stream.synchronize();  // clocks and progress look at what is done
    done(static_cast<double>(lines.last) / static_cast<double>(ny));
  }
  return whole;
}

}  // namespace

Scan scan_of(const Plan& plan, Range slices) {
  if (plan.cone()) return plan.scan;
  const Index views = static_cast<Index>(angles_of(plan.scan).size());
  return crop(plan.scan, {0, views}, slices, {0, detector_of(plan.scan).bins});
}

Problem problem_of(const Plan& plan, Range slices, const std::function<void()>& on_tile) {
  Scan scan = scan_of(plan, slices);
  const VolumeGrid grid = region(plan.grid, {0, plan.grid.size[0]}, {0, plan.grid.size[1]}, slices);
  LinearOperator A = std::visit([&](const auto& s) { return projector_of(plan, s, grid, on_tile); }, scan);
  return {std::move(scan), grid, std::move(A)};
}

void require_tiles(const Plan& plan) {
  const ConeBeam& scan = *plan.cone();
  const auto bytes = static_cast<double>(plan.device_bytes);
  if (plan.method->iterates()) plan_tiles(scan, tall_for_fan(scan, plan.grid), plan.devices, bytes);
  if (plan.filters()) plan_tiles(symmetric(scan), flat_for_fan(scan, plan.grid), plan.devices, bytes);
}

bool has_row_axes(const Scan& scan) {
  const auto* parallel = std::get_if<ParallelBeam>(&scan);
  return parallel && !parallel->row_axis_bins.empty();
}

LinearOperator filter_of(const Problem& problem, const Filter& filter) {
  const Device device = problem.A.domain().device();
  return std::visit([&](const auto& scan) { return ramp_filter(scan, filter, device); }, problem.scan);
}

Array back_projected(const Plan& plan, const Problem& problem, const Array& filtered,
                     const std::function<void(double)>& done) {
  if (const auto* cone = std::get_if<ConeBeam>(&problem.scan))
    return plan.tiled ? fdk_in_tiles(plan, *cone, problem.grid, filtered, done)
                      : in_strips(*cone, problem.grid, filtered, done);
  return backprojector(problem.A, std::get<ParallelBeam>(problem.scan), problem.grid) * filtered;
}

}  // namespace tandem::pipeline
