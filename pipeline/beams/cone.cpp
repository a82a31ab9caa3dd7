// Cone and fan beams: all slices are one problem, which several devices share as a team. Tiles and ranks have
// their own files.

#include <algorithm>
#include <cmath>
#include <optional>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/projector.hpp"
#include "../methods/method.hpp"
#include "../plan/route.hpp"
#include "../plan/warn.hpp"
#include "beam.hpp"
#include "cone.hpp"
#include "shared_out.hpp"

namespace tandem::pipeline {

namespace {

const FanBeam* fan(const Scan& scan) { return std::get_if<FanBeam>(&scan); }

}  // namespace

VolumeGrid seen_by_projector(const Scan& scan, const VolumeGrid& grid) {
  return fan(scan) ? tall_voxels(*fan(scan), grid) : grid;
}
VolumeGrid seen_by_fdk(const Scan& scan, const VolumeGrid& grid) {
  return fan(scan) ? flat_voxels(*fan(scan), grid) : grid;
}

std::optional<LinearOperator> cone_ramp(const Flow& flow, const Filter& how, const Problem& problem) {
  const ConeBeam& scan = point_source_of(problem.scan);
  return ramp_filter(
      scan, how, problem.A.domain().device(),
      interpolation_of(scan, problem.grid, flow.pair.model, flow.execution(), problem.A.domain().device()));
}

namespace {

/// Only the accuracy: the model alone chooses the kernels of a cone beam.
Execution of_accuracy(const Execution& how) { return {.accuracy = how.accuracy}; }

/// Whether groups of views make as good a picture, as measured (docs/kernels/hierarchical.md): waves near the
/// Nyquist frequency of bins are better by footprints, which matters where nothing blurs along rows.
bool groups_are_as_good(const Scan& scan, const Filter& filter) {
  if (detector_of(scan).rows == 1) return falls_off(filter);
  return filter.window != Window::sharp && filter.window != Window::none;
}

/// FDK goes by groups of views where these are faster.
std::optional<Model> faster_cone_model(const Job& job, const Recipe& recipe) {
  const Device device = recipe.devices.front();
  const Index devices = std::ssize(recipe.devices);
  const bool alone = recipe.ranks.is_alone() && (devices == 1 || device.is_cuda()) && !recipe.follow,
             as_usual = recipe.execution == Execution{} && recipe.most_slices == 0 &&
                        job.grid.size == job.full_size;  // parts of a volume are alike, and small
  if (!alone || !as_usual || !job.method->filters || !groups_are_as_good(job.scan, job.options.fbp_filter))
    return {};
  if (!hierarchical_is_faster(filtered_scan(point_source_of(job.scan)), seen_by_fdk(job.scan, job.solved),
                              device, devices))
    return {};
  return Model::hierarchical;
}

/// The model of the plan: the hierarchical one only if the recipe says so.
Model model_for(const Plan& plan, const Recipe& recipe) {
  if (recipe.model != Model::hierarchical) return cone_model;
  const Method& method = *plan.job.method;
  require<GeometryError>(!method.kind.only_positive,
                         spelled("model") + " hierarchical: its coefficients may be negative, which ",
                         method.name, " cannot take; leave " + spelled("model") + " out");
  require<GeometryError>(!recipe.follow && (recipe.ranks.is_alone() || !method.iterates()),
                         spelled("model") + " hierarchical: one process takes all views at once; leave out ",
                         recipe.follow ? spelled("follow") : "the other ranks", ", or " + spelled("model"));
  return Model::hierarchical;
}

void choose_cone_execution(Plan& plan, const Recipe& recipe, const std::function<double()>&) {
  const Execution only{.variant = "standard", .accuracy = recipe.execution.accuracy};
  const Model model = plan.flow.pair.model = model_for(plan, recipe);
  require_only(only, recipe, "cone");
  for (const Device device : plan.flow.active_devices)  // since a solver has all slices at once
    if (plan.flow.workers.empty() || !route_of(plan.flow).one_problem)
      plan.flow.workers.push_back({device, only});
  for (const Device device : recipe.devices) {  // throws if a device has no kernels
    const ConeBeam& scan = point_source_of(plan.job.scan);
    if (plan.job.method->filters)
      fdk_backprojector(scan, seen_by_fdk(plan.job.scan, plan.job.solved), model, device, of_accuracy(only));
    else
      projector(scan, seen_by_projector(plan.job.scan, plan.job.solved), model, device, of_accuracy(only));
    plan.flow.pair.matched = plan.flow.pair.matched && is_matched(model, device);
  }
}

void add_cone_warnings(Plan& plan, const Recipe&) {
  const ConeBeam& scan = point_source_of(plan.job.scan);
  if (!look_like_radians(scan.angles)) warn_of_missing_arc(plan.warnings, plan.job, missing_arc(scan));
  warn_of_gap(plan.warnings, plan.job, scan.angles, gap_between_views(scan), 0, whole_turn);
  const double rows = scan.detector.rows, midplane = scan.midplane_row;
  if (midplane < -rows || midplane > 2 * rows - 1)
    warn(plan.warnings, "the midplane, row ", midplane * plan.job.rows_together + plan.job.rows.first,
         " of the file, is farther beside rows ", plan.job.rows.first, ":", plan.job.rows.last,
         " than these are high; check " + spelled("midplane-row"));
  const Index all = plan.job.grid.size[2];
  const Range met =
      plan.job.rows.size() > 0 ? slices_met(scan, plan.job.grid, {0, scan.detector.rows}) : Range{0, 0};
  if (met.size() == 0)
    warn(plan.warnings, "no ray meets the volume; nothing was measured there");
  else if (met.size() < all)
    warn(plan.warnings, "no ray meets slices 0:", met.first, " and ", met.last, ":", all,
         "; nothing was measured there");
}

WorkingMemory cone_kernels_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections) {
  if (plan.flow.pair.model == Model::hierarchical) {
    const ConeBeam& scan = point_source_of(plan.job.scan);
    const VolumeGrid& grid = plan.job.solved;
    const ConeBeam wide = filtered_scan(scan);
    if (plan.job.method->filters)
      return hierarchical_memory_of_part(
          hierarchical_memory(wide, seen_by_fdk(plan.job.scan, grid), worker.device, worker.execution,
                              AlongRows::as_footprints),
          projections[1], wide.detector.rows);
    return hierarchical_memory(plan.job.filters() ? wide : scan, seen_by_projector(plan.job.scan, grid),
                               worker.device, worker.execution);
  }
  return with_sums_of_team(working_memory(plan.flow.pair.model, volume, projections, worker.device.member(0)),
                           worker.device, volume);
}

LinearOperator cone_projector(const Flow& flow, const Worker& worker, const Scan& scan, Range,
                              const VolumeGrid& grid, const std::function<void()>&) {
  return projector(point_source_of(scan), seen_by_projector(scan, grid), flow.pair.model, worker.device,
                   of_accuracy(worker.execution));
}

/// Back-projects a fan beam on the CPU in strips of lines, so that `done` can be called during its one slice,
/// which takes long. The data, which each strip reads again, are few.
Array in_strips(Model model, const Execution& how, const Problem& problem, const Array& filtered,
                const std::function<void(double)>& done) {
  const VolumeGrid& grid = problem.grid;
  const Device device = filtered.space().device();
  const auto [nx, ny, nz] = grid.size;
  const bool long_slice =
      nz == 1 && fan(problem.scan) && device == Device::cpu() && model != Model::hierarchical;
  const Index strips = std::min<Index>(ny, long_slice ? 16 : 1);
  Array whole(cone_volume_space(grid, device));
  Stream& stream = default_stream(device);
  for (Index k = 0; k < strips; ++k) {
    const Range lines{k * ny / strips, (k + 1) * ny / strips};
    const VolumeGrid strip = region(grid, {0, nx}, lines, {0, nz});
    const VectorView all = whole, part = strips == 1 ? all
                                                     : VectorView{all.data + lines.first * nx,
                                                                  cone_volume_space(strip, device)};
    fdk_backprojector(point_source_of(problem.scan), seen_by_fdk(problem.scan, strip), model, device, how)
        .apply(1, filtered, 0, part, stream);
    stream.synchronize();  // so that clocks and progress see finished work
    done(1.0 * lines.last / ny);
  }
  return whole;
}

BackProjection fdk_of(const Flow& flow, const Filter&, const Problem& problem) {
  return [problem, model = flow.pair.model, how = flow.execution()](const Array& filtered,
                                                                    const std::function<void(double)>& done) {
    return in_strips(model, how, problem, filtered, done);
  };
}

ByViews fdk_by_views(const Filter& how, const Problem& problem) {
  const ConeBeam& scan = point_source_of(problem.scan);
  const Device device = problem.worker.device;
  return {when_asked_for([how, scan, grid = problem.grid, device] {
            return ramp_filter_of_views(scan, how, device, interpolation_of(scan, grid, cone_model));
          }),
          [scan, seen = seen_by_fdk(problem.scan, problem.grid), device](Range views) {
            return fdk_backprojector(scan, views, seen, cone_model, device);
          }};
}

/// Gives the scan an upright detector. Seen along the tilted axis, the source lies sod sin(tilt) lower, and
/// the foot of its perpendicular on an upright detector lies sdd sin(tilt) lower.
void set_upright(Scan& scan, double tilt) {
  auto& beam = std::get<ConeBeam>(scan);
  beam.midplane_row -= beam.sdd * std::sin(tilt) / beam.detector.row_pitch;
  beam.sod *= std::cos(tilt), beam.sdd *= std::cos(tilt);
}

DetectorPose pose(const Scan& scan, double roll, double tilt, Index first_row) {
  DetectorPose found{roll, tilt, point_source_of(scan), first_row};
  found.upright.angles.clear();
  return found;
}

double source_distance(const Scan& scan) { return point_source_of(scan).sod; }

std::optional<std::array<double, 2>> heights_seen(const Scan& scan, double radius) {
  if (!rays_cross_slices(scan)) return std::nullopt;
  const ConeBeam& cone = point_source_of(scan);
  const double slope = cone.detector.row_pitch / cone.sdd, low = -0.5 - cone.midplane_row,
               high = cone.detector.rows - 0.5 - cone.midplane_row;
  return {{low * slope * (cone.sod + (low < 0 ? radius : -radius)),
           high * slope * (cone.sod + (high > 0 ? radius : -radius))}};
}

/// Where rows are left out, slices need none of them.
std::array<bool, 2> goes_on_beyond(const Scan& scan) {
  const auto [below, above] = point_source_of(scan).cut;
  const bool crossed = rays_cross_slices(scan);
  return {crossed && !below, crossed && !above};
}

Optics cone_optics(const Scan& scan) {
  const ConeBeam& cone = point_source_of(scan);
  const double larger = cone.magnification();
  return {cone.detector.bin_pitch / larger, cone.detector.row_pitch / larger, cone.sod, cone.sdd - cone.sod};
}

}  // namespace

const Placement cone_on_devices{vectors_on_devices, false,     cone_kernels_hold,
                                cone_projector,     cone_ramp, fdk_of};

extern const Beam cone_beam{.set_upright = set_upright,
                            .pose = pose,
                            .source_distance = source_distance,
                            .heights_seen = heights_seen,
                            .goes_on_beyond = goes_on_beyond,
                            .choose_execution = choose_cone_execution,
                            .add_warnings = add_cone_warnings,
                            .on_devices = &cone_on_devices,
                            .in_tiles = &cone_in_tiles,
                            .over_ranks = &cone_over_ranks,
                            .require_tiles = require_cone_tiles,
                            .optics = cone_optics,
                            .of_views = fdk_by_views,
                            .faster_model = faster_cone_model,
                            .models = {Model::separable_footprint, Model::hierarchical}};

}  // namespace tandem::pipeline
