// Vectors of a cone or fan beam that are too large for the devices: they lie on the host, and devices get
// tiles.

#include <mutex>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../methods/method.hpp"
#include "cone.hpp"
#include "shared_out.hpp"

namespace tandem::pipeline {

void require_cone_tiles(const Plan& plan) {
  require<DeviceError>(plan.flow.pair.model != Model::hierarchical,
                       spelled("model") +
                           " hierarchical: the vectors do not fit the devices, and it has no tiles; give " +
                           spelled("device") + " cpu, or leave " + spelled("model") + " out");
  const ConeBeam& scan = point_source_of(plan.job.scan);
  const double bytes = plan.flow.memory.device;
  if (plan.job.method->iterates())
    plan_tiles(scan, seen_by_projector(plan.job.scan, plan.job.solved), plan.flow.active_devices, bytes);
  if (plan.job.filters())
    plan_tiles(filtered_scan(scan), seen_by_fdk(plan.job.scan, plan.job.solved), plan.flow.active_devices,
               bytes);
}

namespace {

LinearOperator projector_in_tiles(const Flow& flow, const Worker&, const Scan& scan, Range,
                                  const VolumeGrid& grid, const std::function<void()>& on_tile) {
  return tiled(flow, point_source_of(scan), seen_by_projector(scan, grid), on_tile);
}

/// The back-projection of FDK by the plan's devices.
Array back_projected(const Flow& flow, const Problem& problem, const Array& filtered,
                     const std::function<void(double)>& done) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const ConeBeam wide = filtered_scan(scan);
  const VolumeGrid seen = seen_by_fdk(problem.scan, problem.grid);
  const Tiling tiles = plan_tiles(wide, seen, flow.active_devices, flow.memory.device).backward;
  const double all = tiles.strips.size() * tiles.views.size();
  std::mutex one_at_a_time;
  double begun = 0;
  const auto tell = [&] {
    const std::lock_guard lock(one_at_a_time);
    done(begun++ / all);
  };
  return backprojector(tiled(flow, wide, seen, tell), scan, seen) * filtered;
}

BackProjection fdk_in_tiles(const Flow& flow, const Filter&, const Problem& problem) {
  return [&flow, problem](const Array& filtered, const std::function<void(double)>& done) {
    return back_projected(flow, problem, filtered, done);
  };
}

}  // namespace

const Placement cone_in_tiles{words_of_tiles, true, tiles_hold, projector_in_tiles, cone_ramp, fdk_in_tiles};

}  // namespace tandem::pipeline
