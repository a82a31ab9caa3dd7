// Cone and fan beams: all slices are one problem, which several devices share, as a team or in tiles.

#include <algorithm>
#include <cmath>
#include <mutex>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/tiled_projector.hpp"
#include "../methods/method.hpp"
#include "../warn.hpp"
#include "beam.hpp"
#include "view_gaps.hpp"

namespace tandem::pipeline {

namespace {

constexpr Model model = Model::separable_footprint;

const FanBeam* fan(const Scan& scan) { return std::get_if<FanBeam>(&scan); }

VolumeGrid seen_by_projector(const Scan& scan, const VolumeGrid& grid) {
  return fan(scan) ? tall_voxels(*fan(scan), grid) : grid;
}
VolumeGrid seen_by_fdk(const Scan& scan, const VolumeGrid& grid) {
  return fan(scan) ? flat_voxels(*fan(scan), grid) : grid;
}

void choose_execution(Plan& plan, const Recipe& recipe) {
  const Execution only{"standard", Precision::float32};
  plan.model = model;
  Execution how = recipe.execution;
  if (how.variant == "automatic") how.variant = only.variant;
  require<DeviceError>(how == only, "cone beam: no ", name_of(how),
                       "; give --variant automatic --precision float32");
  for (const Device device : plan.devices)  // a solver has all slices at once
    if (plan.workers.empty() || !plan.method->takes_whole) plan.workers.push_back({device, how});
  for (const Device device : recipe.devices) {  // whether they have kernels
    projector(point_source_of(plan.scan), plan.solved, model, device);
    plan.matched = plan.matched && is_matched(model, device);
  }
}

void add_warnings(Plan& plan, const Recipe&) {
  const ConeBeam& scan = point_source_of(plan.scan);
  if (const double missing = in_degrees(missing_arc(scan)); missing > 0.01 && !look_like_radians(scan.angles))
    warn(plan.warnings, "the views leave ", missing,
         " degrees of a short scan (half a turn and the fan) open",
         plan.filters() ? ", which count as zero" : "", "; expect limited-angle artefacts",
         plan.filters() ? " and low values" : "");
  warn_of_gap(plan, gap_between_views(scan), 0, whole_turn);
  const double rows = static_cast<double>(scan.detector.rows), midplane = scan.midplane_row;
  if (midplane < -rows || midplane > 2 * rows - 1)
    warn(plan.warnings, "the midplane, row ",
         midplane * static_cast<double>(plan.rows_together) + static_cast<double>(plan.rows.first),
         " of the file, is farther beside rows ", plan.rows.first, ":", plan.rows.last,
         " than these are high; check --midplane-row");
  const Index all = plan.grid.size[2];
  const Range met = plan.rows.size() > 0 ? slices_met(scan, plan.grid, {0, scan.detector.rows}) : Range{0, 0};
  if (met.size() == 0)
    warn(plan.warnings, "no ray meets the volume; all of it is zero");
  else if (met.size() < all)
    warn(plan.warnings, "no ray meets slices 0:", met.first, " and ", met.last, ":", all, "; they are zero");
}

void require_tiles(const Plan& plan) {
  const ConeBeam& scan = point_source_of(plan.scan);
  const auto bytes = static_cast<double>(plan.device_bytes);
  if (plan.method->iterates())
    plan_tiles(scan, seen_by_projector(plan.scan, plan.solved), plan.devices, bytes);
  if (plan.filters()) plan_tiles(symmetric(scan), seen_by_fdk(plan.scan, plan.solved), plan.devices, bytes);
}

WorkingMemory kernels_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections) {
  if (plan.tiled) return {};
  WorkingMemory memory = working_memory(model, volume, projections, worker.device.member(0));
  if (const int members = worker.device.members(); members > 1)  // of a team: see `add_copies`
    memory.backward = std::max(memory.backward, 4.0 * static_cast<double>(volume[0] * volume[1] * volume[2]) /
                                                    static_cast<double>(members));
  return memory;
}

LinearOperator in_tiles(const Plan& plan, const ConeBeam& scan, const VolumeGrid& grid,
                        const std::function<void()>& on_tile) {
  const auto before_each = [on_tile](Device) {
    if (on_tile) on_tile();
  };
  return tiled_projector(scan, grid, plan.devices, static_cast<double>(plan.device_bytes),
                         {plan.streams, before_each});
}

/// Projections of these views alone, which this rank has.
Space portion_of(const ConeBeam& scan, Range own, Device device) {
  return projection_space(scan, device).portion(0, own.first, own.last);
}

/// Vectors are portions, and each rank projects onto its views. If it has none, it is not asked for a part.
LinearOperator over_ranks(const Plan& plan, Device device, const ConeBeam& scan, Range own,
                          const VolumeGrid& grid) {
  const auto of_part = [scan, own, device](const VolumeGrid& lines) {
    return projector(crop(scan, own, {0, scan.detector.rows}), lines, model, device);
  };
  return rank_projector(plan.ranks, {.grid = grid,
                                     .projections = portion_of(scan, own, device),
                                     .lines_at_once = plan.lines_at_once,
                                     .of_part = of_part});
}

LinearOperator projector_of(const Plan& plan, const Worker& worker, const Scan& scan, Range own,
                            const VolumeGrid& grid, const std::function<void()>& on_tile) {
  const VolumeGrid seen = seen_by_projector(scan, grid);
  if (plan.over_ranks()) return over_ranks(plan, worker.device, point_source_of(scan), own, seen);
  return plan.tiled ? in_tiles(plan, point_source_of(scan), seen, on_tile)
                    : projector(point_source_of(scan), seen, model, worker.device);
}

/// FDK's back-projection by the plan's devices.
Array fdk_in_tiles(const Plan& plan, const Problem& problem, const Array& filtered,
                   const std::function<void(double)>& done) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const ConeBeam wide = symmetric(scan);
  const VolumeGrid seen = seen_by_fdk(problem.scan, problem.grid);
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

/// On the CPU a fan beam is gone through in strips of lines: its one slice takes long, `done` wants to hear
/// of it, and there are few data to go through again.
Array in_strips(const Problem& problem, const Array& filtered, const std::function<void(double)>& done) {
  const VolumeGrid& grid = problem.grid;
  const Device device = filtered.space().device();
  const auto [nx, ny, nz] = grid.size;
  const bool long_slice = nz == 1 && fan(problem.scan) && device == Device::cpu();
  const Index strips = std::min<Index>(ny, long_slice ? 16 : 1);
  Array whole(cone_volume_space(grid, device));
  Stream& stream = default_stream(device);
  for (Index k = 0; k < strips; ++k) {
    const Range lines{k * ny / strips, (k + 1) * ny / strips};
    const VolumeGrid strip = region(grid, {0, nx}, lines, {0, nz});
    const VectorView all = whole, part = strips == 1 ? all
                                                     : VectorView{all.data + lines.first * nx,
                                                                  cone_volume_space(strip, device)};
    fdk_backprojector(point_source_of(problem.scan), seen_by_fdk(problem.scan, strip), model, device)
        .apply(1, filtered, 0, part, stream);
    stream.synchronize();  // clocks and progress look at what is done
    done(static_cast<double>(lines.last) / static_cast<double>(ny));
  }
  return whole;
}

/// F for the views of this rank.
LinearOperator ramp_over_ranks(const Plan& plan, const Problem& problem) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const Device device = problem.A.domain().device();
  const Range own = problem.own_views;
  std::optional<LinearOperator> F;
  if (own.size() > 0)
    F = ramp_filter_of_views(scan, plan.options.filter, device,
                             interpolation_of(scan, problem.grid, model))(own);
  return make_operator(
      problem.A.range(), portion_of(symmetric(scan), own, device),
      [F](ConstVectorView y, VectorView filtered, Stream& stream) {
        if (F) F->apply(1, {y.data, F->domain()}, 0, {filtered.data, F->range()}, stream);
      },
      [F](ConstVectorView filtered, VectorView y, Stream& stream) {
        if (F) F->apply_adjoint(1, {filtered.data, F->range()}, 0, {y.data, F->domain()}, stream);
      });
}

Array fdk_over_ranks(const Plan& plan, const Problem& problem, const Array& filtered) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const VolumeGrid seen = seen_by_fdk(problem.scan, problem.grid);
  const Device device = filtered.space().device();
  return backprojector(over_ranks(plan, device, symmetric(scan), problem.own_views, seen), scan, seen) *
         filtered;
}

std::optional<LinearOperator> ramp_of(const Plan& plan, const Problem& problem) {
  if (plan.over_ranks()) return ramp_over_ranks(plan, problem);
  const ConeBeam& scan = point_source_of(problem.scan);
  return ramp_filter(scan, plan.options.filter, problem.A.domain().device(),
                     interpolation_of(scan, problem.grid, model));
}

BackProjection fdk_of(const Plan& plan, const Problem& problem) {
  return [&plan, problem](const Array& filtered, const std::function<void(double)>& done) {
    if (plan.over_ranks()) return fdk_over_ranks(plan, problem, filtered);
    return plan.tiled ? fdk_in_tiles(plan, problem, filtered, done) : in_strips(problem, filtered, done);
  };
}

ByViews fdk_by_views(const Plan& plan, const Problem& problem) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const Device device = problem.worker.device;
  return {
      ramp_filter_of_views(scan, plan.options.filter, device, interpolation_of(scan, problem.grid, model)),
      [scan, seen = seen_by_fdk(problem.scan, problem.grid), device](Range views) {
        return fdk_backprojector(scan, views, seen, model, device);
      }};
}

/// In the frame of the axis, a source that was level with the axis at the principal row is lower by sod sin
/// tilt, and the foot of the perpendicular on an upright detector by sdd sin tilt.
void set_upright(Scan& scan, double tilt) {
  auto& beam = std::get<ConeBeam>(scan);
  beam.midplane_row -= beam.sdd * std::sin(tilt) / beam.detector.row_pitch;
  beam.sod *= std::cos(tilt), beam.sdd *= std::cos(tilt);
}

Optics optics(const Scan& scan) {
  const ConeBeam& cone = point_source_of(scan);
  const double larger = cone.magnification();
  return {cone.detector.bin_pitch / larger, cone.detector.row_pitch / larger, cone.sod, cone.sdd - cone.sod};
}

}  // namespace

extern const Beam cone_beam{nullptr,      set_upright,  choose_execution, add_warnings, require_tiles, optics,
                            kernels_hold, projector_of, ramp_of,          fdk_of,       fdk_by_views};

}  // namespace tandem::pipeline
