// Views of any geometry: all slices are one problem, which devices and ranks share as they share a cone beam.
// There is a filter if the sources lie nearly on a circle or a helix.

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../geometry/fitted_orbit.hpp"
#include "../../geometry/flexible_views.hpp"
#include "../../geometry/level_scan.hpp"
#include "../../geometry/parallel_fans.hpp"
#include "../../geometry/vector3.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/distributed/team_operator.hpp"
#include "../../operators/orbit_fbp.hpp"
#include "../../operators/projector.hpp"
#include "../methods/method.hpp"
#include "../plan/gpu_gaps.hpp"
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

/// The distance of the nearest source, which bounds a grid along x and y as if that source went round.
/// INFINITY for parallel rays, and for detectors that lie flat.
double nearest_source(const Scan& scan) {
  constexpr double voxels = 5;  // the projector needs 4 voxels before the source
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

/// The lowest and the highest point of the rays to the corners of all detectors, up to `radius` before and
/// behind the origin.
std::optional<std::array<double, 2>> heights_of_corners(const Scan& scan, double radius) {
  const FlexibleBeam& beam = flexible(scan);
  std::array<double, 2> seen{INFINITY, -INFINITY};
  for (const FlexibleView& view : beam.views) {
    const Vector3 normal = unit_normal(view);
    for (const double side : {-0.5, 0.5})
      for (const double end : {-0.5, 0.5}) {
        const Vector3 corner = point_on(beam, view, end * beam.detector.rows, side * beam.detector.bins);
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

std::string without_filter(const Job& job) {
  if (job.method->filters) return "give a solver, such as " + spelled("reconstruction-algorithm") + " cgls";
  const std::string weight = job.looks_ahead ? spelled("tv-weight") + " X" : "";
  const std::string initial = job.filters() ? spelled("initial") + " zero" : "";
  return "give " + weight + (weight.empty() || initial.empty() ? "" : " and ") + initial +
         ", which needs no filter";
}

/// What a solver has a filter for.
std::string use_of_filter(const Job& job) {
  return job.filters() ? spelled("initial") + " fbp" : "the search for " + spelled("tv-weight");
}

/// @throws GeometryError for views that have no filter, or more than one device for the start of a solver
void require_filter(const Job& job, const Recipe& recipe) {
  require<GeometryError>(job.method->filters || recipe.ranks.is_alone(), use_of_filter(job),
                         ": of views of any geometry, one process takes all; start one, or ",
                         without_filter(job));
  try {
    const bool beside = filtered_rows(job.scan).views_beside > 0;  // views that the share of a device lacks
    require<GeometryError>(job.method->filters || !beside || recipe.devices.size() <= 1, use_of_filter(job),
                           ": of a helix, one device takes all; give one " + spelled("device"));
  } catch (const GeometryError& error) {
    if (job.method->filters) throw;  // the message below names a solver
    throw GeometryError(std::string(error.what()) + " (" + without_filter(job) + ")");
  }
}

void choose_flexible_execution(Plan& plan, const Recipe& recipe, const std::function<double()>&) {
  if (plan.job.filters() || plan.job.looks_ahead) require_filter(plan.job, recipe);
  require<GeometryError>(!recipe.follow,
                         spelled("follow") + ": views of any geometry come all at once; leave it out");
  const Execution only{"standard", Precision::float32};
  require_only(only, recipe, "flexible");
  plan.flow.pair.model = Model::separable_footprint;
  const std::string lack = lacking_on_gpus(plan.job, recipe);
  for (const Device device : recipe.devices)
    require<DeviceError>(lack.empty() || !device.is_cuda(), plan.job.method_name(), ": device ",
                         device.name(), " has no ", lack,
                         "; give " + spelled("device") + " cpu, or a filter, fdk");
  for (const Device device : plan.flow.active_devices)  // a solver has all slices at once
    if (plan.flow.workers.empty() || !route_of(plan.flow).one_problem)
      plan.flow.workers.push_back({device, only});
  for (const Device device : recipe.devices)  // whether they have kernels
    projector(flexible(plan.job.scan), plan.job.solved, plan.flow.pair.model, device);
}

bool is_seen(const FlexibleViews& all, const Detector& d, const std::array<double, 3>& voxel) {
  const double x = voxel[0], y = voxel[1], z = voxel[2];
  return std::ranges::any_of(all.views, [&](const FlexiblePlace& view) {
    const auto [row, bin] = view.curve.bent(view.on_flat(x, y, z));
    return bin >= -0.5 && bin <= d.bins - 0.5 && row >= -0.5 && row <= d.rows - 0.5;
  });
}

/// The share of a grid that no view sees, from samples that are spread over it.
double share_unseen(const FlexibleBeam& scan, const VolumeGrid& grid) {
  constexpr Index most = 16;  // samples along each axis
  const FlexibleViews all = places(scan, grid);
  std::array<Index, 3> count{};
  for (std::size_t k = 0; k < 3; ++k) count[k] = std::min(most, grid.size[k]);
  const auto at = [&](std::size_t axis, Index k) {
    const double step = 1.0 * grid.size[axis] / count[axis];
    return (k + 0.5) * step - 0.5;
  };
  Index unseen = 0;
  for (Index z = 0; z < count[2]; ++z)
    for (Index y = 0; y < count[1]; ++y)
      for (Index x = 0; x < count[0]; ++x)
        unseen += !is_seen(all, scan.detector, {at(0, x), at(1, y), at(2, z)});
  return 1.0 * unseen / (count[0] * count[1] * count[2]);
}

/// The largest angle of a ray with the plane across the axis in which its source lies, rad.
double cone_angle(const FlexibleBeam& scan, const Vector3& axis) {
  double most = 0;
  for (const FlexibleView& view : scan.views)
    for (const double side : {-0.5, 0.5}) {
      const Vector3 ray = view.detector - view.source + side * scan.detector.rows * view.row_step;
      most = std::max(most, std::abs(std::asin(dot(ray, axis) / length(ray))));
    }
  return most;
}

/// The mean angle, rad, by which rays to the middle of a grid rise over the plane across the axis.
double elevation(const FlexibleBeam& scan, const Vector3& axis, const VolumeGrid& grid) {
  double sum = 0;
  for (const FlexibleView& view : scan.views) {
    const Vector3 ray = scan.parallel ? view.source : Vector3(grid.centre) - view.source;
    sum += std::asin(dot(ray, axis) / length(ray));
  }
  return std::abs(sum) / scan.views.size();
}

double to_a_tenth(double value) { return std::round(10 * value) / 10; }

/// Warns of slices at both ends that a helix sees from less than half a turn.
void warn_of_ends(std::vector<std::string>& warnings, const HelixScan& helix, const VolumeGrid& grid) {
  constexpr double worth_saying = 0.02;  // share of the directions
  const auto is_whole = [&](Index slice) { return share_unseen(helix, grid, slice) <= worth_saying; };
  Index first = 0, last = grid.size[2];
  while (first < last && !is_whole(first)) ++first;
  while (last > first && !is_whole(last - 1)) --last;
  const Detector d = detector_of(helix);
  if (first == last)
    return warn(warnings,
                "the helix sees no slice from half a turn; all are made up in part: a turn rises by ",
                to_a_tenth(std::abs(helix.orbit.rise)), " mm, the detector is ",
                to_a_tenth(d.rows * d.row_pitch), " mm high at the axis");
  if (const Index some = grid.size[2] - (last - first); some > 0)
    warn(warnings, "the helix sees ", some, " of ", grid.size[2],
         " slices at its ends from less than half a turn; they are made up in part: slices ", first, " to ",
         last - 1, " are whole");
}

void warn_of_helix(std::vector<std::string>& warnings, const FlexibleBeam& scan, const VolumeGrid& grid,
                   const FittedOrbit& orbit) {
  if (scan.parallel) return warn(warnings, "fbp of a helix: one turn a slice");
  const double angle = to_a_tenth(in_degrees(cone_angle(scan, orbit.axis)));
  const std::optional<HelixScan> helix = helix_scan(scan, orbit);
  if (!helix)
    return warn(warnings, "fdk of a helix: one turn a slice, not exact at cone angles of ", angle,
                " degrees");
  warn(warnings, "fdk of a helix: weighted over half turns (WFBP), not exact at cone angles of ", angle,
       " degrees");
  warn_of_ends(warnings, *helix, grid);
}

/// Warns of what a filter does not do exactly for this orbit.
void warn_of_orbit(std::vector<std::string>& warnings, const FlexibleBeam& scan, const VolumeGrid& grid) {
  constexpr double usual_cone = 10, level = 0.5, worth_saying = 5e-4;
  const FittedOrbit orbit = fitted_orbit(scan);
  const double rise = in_degrees(elevation(scan, orbit.axis, grid));
  if (orbit.goes_on)
    warn_of_helix(warnings, scan, grid, orbit);
  else if (rise > (scan.parallel ? level : usual_cone))
    warn(warnings, "a filter of laminography, with rays that rise by ", to_a_tenth(rise),
         " degrees, shows edges; values are too low, for which a solver is needed");
  if (orbit.stray > worth_saying)
    warn(warnings, "the filter takes ", scan.parallel ? "directions of rays" : "sources", " as nearly on a ",
         orbit.goes_on ? "helix" : "circle", "; they are off it by up to ", to_a_tenth(100 * orbit.stray),
         " % of its radius");
}

/// Warns of missing views with the same words as for a circle, if there is an orbit.
void warn_of_views(Plan& plan) {
  const FlexibleBeam& scan = flexible(plan.job.scan);
  try {
    const ViewsOnOrbit views = views_on_orbit(scan);
    if (!scan.parallel) warn_of_missing_arc(plan.warnings, plan.job, views.open);
    warn_of_gap(plan.warnings, plan.job, views.angles, views.gap, scan.parallel ? views.open : 0,
                views.period);
  } catch (const GeometryError&) {  // without an orbit nobody knows which views are missing
  }
}

void add_flexible_warnings(Plan& plan, const Recipe&) {
  constexpr double worth_saying = 0.01;
  const FlexibleBeam& scan = flexible(plan.job.scan);
  const double unseen = plan.job.rows.size() > 0 ? share_unseen(scan, plan.job.grid) : 1;
  if (unseen == 1)
    warn(plan.warnings, "no ray meets the volume; nothing was measured there");
  else if (unseen > worth_saying)
    warn(plan.warnings, "no view sees ", std::round(100 * unseen),
         " % of the volume, which is made up there; give a smaller " + spelled("size") + ", " +
             spelled("slices") + " or " + spelled("region"));
  warn_of_views(plan);
  if (plan.job.filters()) warn_of_orbit(plan.warnings, scan, plan.job.grid);
}

WorkingMemory flexible_kernels_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections) {
  const FlexibleBeam& scan = flexible(plan.job.scan);
  return with_sums_of_team(working_memory(scan, volume, projections, worker.device.member(0)), worker.device,
                           volume);
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
  require<DeviceError>(
      !plan.job.filters(),
      "ramp filter: the vectors of views of any geometry must fit the device; give a larger " +
          spelled("device-memory") + ", a smaller " + spelled("size") + ", " + spelled("binning") + ", or ",
      without_filter(plan.job));
  plan_tiles(flexible(plan.job.scan), plan.job.solved, plan.flow.active_devices, plan.flow.memory.device);
}

/// The size of pixels at the origin, and the mean distances from it.
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
  const double count = beam.views.size();
  optics.to_sample_mm = before / count, optics.to_detector_mm = behind / count;
  return optics;
}

Interpolation interpolation_in(const Problem& problem) {
  return interpolation_of(flexible(problem.scan), problem.grid, Model::separable_footprint);
}

/// The operators that `of_device` makes for the views of each member of a team.
template <class OfDevice>
std::vector<LinearOperator> for_members(const Space& projections, const OfDevice& of_device) {
  std::vector<LinearOperator> all;
  for (int k = 0; k < projections.shares(); ++k)
    all.push_back(of_device(projections.device().member(k))(
        Range{projections.first_plane(k), projections.first_plane(k + 1)}));
  return all;
}

std::optional<LinearOperator> flexible_filter(const Flow&, const Filter& how, const Problem& problem) {
  const FlexibleBeam& scan = flexible(problem.scan);
  const Device team = problem.A.domain().device();
  const Interpolation interpolation = interpolation_in(problem);
  if (team.members() == 1) return ramp_filter(scan, how, team, interpolation);
  const Space data = projection_space(scan, team);
  return team_operator(data, projection_space(level_scan(scan).scan, team),
                       for_members(data, [&](Device member) {
                         return ramp_filter_of_views(scan, how, member, interpolation);
                       }));
}

/// The operator B of a team: each member back-projects its own views, and then all get the sum.
LinearOperator flexible_backprojector(const Problem& problem) {
  const FlexibleBeam& scan = flexible(problem.scan);
  const Device team = problem.A.domain().device();
  if (team.members() == 1) return fdk_backprojector(scan, problem.grid, Model::separable_footprint, team);
  const Space filtered = projection_space(level_scan(scan).scan, team);
  return team_operator(filtered, cone_volume_space(problem.grid, team),
                       for_members(filtered, [&](Device member) {
                         return fdk_backprojector_of_views(scan, problem.grid, member);
                       }));
}

BackProjection flexible_back_projection(const Flow&, const Filter&, const Problem& problem) {
  return
      [B = flexible_backprojector(problem)](const Array& filtered, const std::function<void(double)>& done) {
        Array volume = B * filtered;
        done(1);
        return volume;
      };
}

/// F and B for blocks of views. All rows of the detector are taken, since level lines of the filter cross
/// rows.
ByViews flexible_by_views(const Filter& how, const Problem& problem) {
  const FlexibleBeam& scan = flexible(problem.scan);
  const Device device = problem.worker.device;
  return {when_asked_for([how, scan, device, interpolation = interpolation_in(problem)] {
            return ramp_filter_of_views(scan, how, device, interpolation);
          }),
          fdk_backprojector_of_views(scan, problem.grid, device), views_behind_filtered(scan)};
}

constexpr Placement flexible_on_devices{vectors_on_devices, false,           flexible_kernels_hold,
                                        flexible_projector, flexible_filter, flexible_back_projection};
constexpr Placement flexible_in_tiles{words_of_tiles, true,   tiles_hold, flexible_projector_in_tiles,
                                      nullptr,        nullptr};
constexpr Placement flexible_over_ranks{
    words_of_ranks, false, flexible_kernels_hold, flexible_projector_over_ranks, nullptr, nullptr};

}  // namespace

extern const Beam flexible_beam{.source_distance = nearest_source,
                                .heights_seen = heights_of_corners,
                                .choose_execution = choose_flexible_execution,
                                .add_warnings = add_flexible_warnings,
                                .on_devices = &flexible_on_devices,
                                .in_tiles = &flexible_in_tiles,
                                .over_ranks = &flexible_over_ranks,
                                .require_tiles = require_flexible_tiles,
                                .optics = flexible_optics,
                                .of_views = flexible_by_views,
                                .models = {Model::separable_footprint}};

}  // namespace tandem::pipeline
