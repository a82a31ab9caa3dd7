// Views of any geometry: all slices are one problem, which devices and ranks share as they share a cone beam.
// They have no filter.

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../geometry/flexible_views.hpp"
#include "../../geometry/vector3.hpp"
#include "../../operators/projector.hpp"
#include "../methods/method.hpp"
#include "../plan/route.hpp"
#include "../plan/warn.hpp"
#include "beam.hpp"
#include "shared_out.hpp"

namespace tandem::pipeline {

namespace {

const FlexibleBeam& flexible(const Scan& scan) { return std::get<FlexibleBeam>(scan); }

Vector3 unit_normal(const FlexibleView& view) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  return 1 / length(normal) * normal;
}

/// How far a grid may reach along x and y, as if a source went round at this distance. INFINITY for parallel
/// rays, and for detectors that lie flat.
double nearest_source(const Scan& scan) {
  constexpr double voxels = 5;  // the projector needs 4 before the source
  const FlexibleBeam& beam = flexible(scan);
  const double kept = voxels * beam.detector.bin_pitch / magnification(beam);
  double nearest = INFINITY;
  for (const FlexibleView& view : beam.views) {
    if (beam.parallel) break;
    const Vector3 normal = unit_normal(view);
    const double level = std::hypot(normal[0], normal[1]);
    nearest = std::min(nearest, (std::abs(dot(view.source, normal)) - kept) / level);
  }
  return nearest;
}

/// Where the rays to the corners of all detectors pass, up to `radius` before and behind the origin.
std::optional<std::array<double, 2>> heights_of_corners(const Scan& scan, double radius) {
  const FlexibleBeam& beam = flexible(scan);
  std::array<double, 2> seen{INFINITY, -INFINITY};
  for (const FlexibleView& view : beam.views) {
    const Vector3 normal = unit_normal(view);
    for (const double side : {-0.5, 0.5})
      for (const double end : {-0.5, 0.5}) {
        const Vector3 corner = view.detector +
                               side * static_cast<double>(beam.detector.bins) * view.bin_step +
                               end * static_cast<double>(beam.detector.rows) * view.row_step;
        const Vector3 way = beam.parallel ? view.source : corner - view.source;
        const double speed = dot(way, normal);
        for (const double depth : {-radius, radius}) {
          const double height = corner[2] + (depth - dot(corner, normal)) / speed * way[2];
          seen = {std::min(seen[0], height), std::max(seen[1], height)};
        }
      }
  }
  return seen;
}

void choose_flexible_execution(Plan& plan, const Recipe& recipe, const std::function<double()>&) {
  require<GeometryError>(!plan.job.filters(),
                         "ramp filter: views of any geometry have none; give a solver, such as "
                         "--reconstruction-algorithm cgls",
                         plan.job.method->filters ? "" : ", and --initial zero");
  require<GeometryError>(!recipe.follow, "--follow: views of any geometry have no filter; leave it out");
  const Execution only{"standard", Precision::float32};
  Execution how = recipe.execution;
  if (how.variant == "automatic") how.variant = only.variant;
  require<DeviceError>(how == only, "flexible beam: no ", name_of(how),
                       "; give --variant automatic --precision float32");
  plan.flow.model = Model::separable_footprint;
  plan.flow.workers.push_back({plan.flow.devices.front(), how});
  for (const Device device : recipe.devices)  // whether they have kernels
    projector(flexible(plan.job.scan), plan.job.solved, plan.flow.model, device);
}

bool is_seen(const FlexibleViews& all, const Detector& d, const std::array<double, 3>& voxel) {
  const double x = voxel[0], y = voxel[1], z = voxel[2];
  return std::ranges::any_of(all.views, [&](const FlexiblePlace& view) {
    const double depth = view.depth.at(x, y, z), bin = view.bin.at(x, y, z) / depth,
                 row = view.row.at(x, y, z) / depth;
    return bin >= -0.5 && bin <= static_cast<double>(d.bins) - 0.5 && row >= -0.5 &&
           row <= static_cast<double>(d.rows) - 0.5;
  });
}

/// The share of a grid that no view sees, of voxels that are spread over it.
double share_unseen(const FlexibleBeam& scan, const VolumeGrid& grid) {
  constexpr Index most = 16;  // along each axis
  const FlexibleViews all = places(scan, grid);
  std::array<Index, 3> count{};
  for (std::size_t k = 0; k < 3; ++k) count[k] = std::min(most, grid.size[k]);
  const auto at = [&](std::size_t axis, Index k) {
    const double step = static_cast<double>(grid.size[axis]) / static_cast<double>(count[axis]);
    return (static_cast<double>(k) + 0.5) * step - 0.5;
  };
  Index unseen = 0;
  for (Index z = 0; z < count[2]; ++z)
    for (Index y = 0; y < count[1]; ++y)
      for (Index x = 0; x < count[0]; ++x)
        unseen += !is_seen(all, scan.detector, {at(0, x), at(1, y), at(2, z)});
  return static_cast<double>(unseen) / static_cast<double>(count[0] * count[1] * count[2]);
}

void add_flexible_warnings(Plan& plan, const Recipe&) {
  constexpr double worth_saying = 0.01;
  const FlexibleBeam& scan = flexible(plan.job.scan);
  const double unseen = plan.job.rows.size() > 0 ? share_unseen(scan, plan.job.grid) : 1;
  if (unseen == 1)
    warn(plan.warnings, "no ray meets the volume; all of it is zero");
  else if (unseen > worth_saying)
    warn(plan.warnings, "no view sees ", std::round(100 * unseen),
         " % of the volume, which is made up there; give a smaller --size, --slices or --region");
}

WorkingMemory flexible_kernels_hold(const Plan&, const Worker& worker, Shape volume, Shape projections) {
  return with_sums_of_team(flexible_working_memory(volume, projections, worker.device.member(0)),
                           worker.device, volume);
}

LinearOperator flexible_projector(const Flow&, const Worker& worker, const Scan& scan, Range,
                                  const VolumeGrid& grid, const std::function<void()>&) {
  return projector(flexible(scan), grid, Model::separable_footprint, worker.device);
}

LinearOperator flexible_projector_in_tiles(const Flow& flow, const Worker&, const Scan& scan, Range,
                                           const VolumeGrid& grid, const std::function<void()>& on_tile) {
  return tiled(flow, flexible(scan), grid, on_tile);
}

LinearOperator flexible_projector_over_ranks(const Flow& flow, const Worker& worker, const Scan& scan,
                                             Range own, const VolumeGrid& grid,
                                             const std::function<void()>&) {
  return split(flow, worker.device, flexible(scan), own, grid);
}

void require_flexible_tiles(const Plan& plan) {
  plan_tiles(flexible(plan.job.scan), plan.job.solved, plan.flow.devices,
             static_cast<double>(plan.flow.device_bytes));
}

/// Pixels at the origin, and the mean of the distances from it.
Optics flexible_optics(const Scan& scan) {
  const FlexibleBeam& beam = flexible(scan);
  const double larger = magnification(beam);
  Optics optics{.bin_mm = beam.detector.bin_pitch / larger, .row_mm = beam.detector.row_pitch / larger};
  if (beam.parallel) return optics;
  double before = 0, behind = 0;
  for (const FlexibleView& view : beam.views) {
    before += std::abs(dot(view.source, unit_normal(view)));
    behind += std::abs(dot(view.detector, unit_normal(view)));
  }
  const auto count = static_cast<double>(beam.views.size());
  optics.to_sample_mm = before / count, optics.to_detector_mm = behind / count;
  return optics;
}

constexpr Placement flexible_on_devices{vectors_on_devices, false,   flexible_kernels_hold,
                                        flexible_projector, nullptr, nullptr};
constexpr Placement flexible_in_tiles{words_of_tiles, true,   tiles_hold, flexible_projector_in_tiles,
                                      nullptr,        nullptr};
constexpr Placement flexible_over_ranks{
    words_of_ranks, false, flexible_kernels_hold, flexible_projector_over_ranks, nullptr, nullptr};

}  // namespace

extern const Beam flexible_beam{nullptr,
                                nullptr,
                                nullptr,
                                nearest_source,
                                heights_of_corners,
                                choose_flexible_execution,
                                add_flexible_warnings,
                                &flexible_on_devices,
                                &flexible_in_tiles,
                                &flexible_over_ranks,
                                require_flexible_tiles,
                                flexible_optics,
                                nullptr};

}  // namespace tandem::pipeline
