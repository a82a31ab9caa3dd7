// Parallel beam: slices are problems of their own, and there are many projectors.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/projector.hpp"
#include "../methods/method.hpp"
#include "../plan/make_problem.hpp"
#include "../plan/warn.hpp"
#include "beam.hpp"
#include "row_axes.hpp"

namespace tandem::pipeline {

namespace {

const ParallelBeam& parallel(const Scan& scan) { return std::get<ParallelBeam>(scan); }

/// Gives each row its axis. A point t bins from the axis and z rows above the middle is seen at bin axis + t
/// cos + z sin and at row middle - t sin + z cos. After resampling, bin b of row r holds what was at row r -
/// (b
/// - unmoved) tan.
void roll(Scan& scan, double angle, Range bins) {
  auto& beam = std::get<ParallelBeam>(scan);
  const Detector& d = beam.detector;
  const double unmoved = 0.5 * (bins.first + bins.last - 1),  // the bin
      middle = 0.5 * (d.rows - 1);
  for (Index row = 0; row < d.rows; ++row) {
    const double height = row - middle - (d.axis_bin - unmoved) * std::tan(angle);
    beam.row_axis_bins.push_back(d.axis_bin + height * std::sin(angle) * std::cos(angle));
  }
}

/// Names the matched pairs that could be used in the place of one that does not match.
std::string matched_for(const ParallelBeam& scan, const VolumeGrid& grid, Device device) {
  std::string list;
  for (const Execution& e : executions(device)) try {
      if (is_matched(resolved(e, scan, grid, Model::pixel_driven, device), device))
        list += (list.empty() ? spelled("variant") + " " : ", or " + spelled("variant") + " ") + e.variant +
                " " + spelled("precision") + " " + std::string(name_of(e.precision));
    } catch (const GeometryError&) {  // this variant does not take these pixels
    }
  return list;
}

Pairing pairing_of(const Plan& plan, const Recipe& recipe) {
  const bool any = recipe.allow_unmatched || !plan.job.method->needs_matched_pair;
  return any ? Pairing::any : Pairing::matched;
}

bool voxels_are_wider(const Plan& plan) {
  return plan.job.grid.pitch[0] > 1.01 * detector_of(plan.job.scan).bin_pitch;
}

/// The model of the recipe. The default is the Fourier model under four conditions: it is faster; it leaves
/// nothing out; it adds nothing from beyond the detector to pixels that half of the views see; and a few
/// slices of it take at most half of the memory, since it takes all views at once. Half acquisitions have
/// such pixels, but FBP widens the detector.
Model model_for(Plan& plan, const Recipe& recipe, const std::function<double()>& bytes) {
  require<GeometryError>(recipe.model != Model::fourier || !plan.job.method->kind.only_positive,
                         spelled("model") + " fourier: its coefficients may be negative, which ",
                         plan.job.method->name,
                         " cannot take; give " + spelled("model") + " pixel_driven or joseph");
  if (recipe.model) return *recipe.model;
  if (recipe.follow || plan.job.method->subsets || plan.job.method->kind.only_positive)
    return Model::pixel_driven;
  const auto& scan = parallel(plan.job.scan);
  const Execution& how = recipe.execution;
  const Device device = plan.flow.home();
  if (how.variant != "automatic" || how.precision != Precision::float32 || voxels_are_wider(plan) ||
      (half_acquisition(scan) && !plan.job.method->filters) ||
      !fourier_is_faster(scan, plan.job.solved, how, device))
    return Model::pixel_driven;
  try {
    if (2 * fourier_memory(scan, plan.job.solved, 8, how, device).backward < bytes()) return Model::fourier;
    warn(plan.warnings,
         "memory is too small for the Fourier model: pixel_driven is taken, which is slower here and gives ",
         "other last digits; give more memory, or " + spelled("model") +
             " pixel_driven wherever numbers are compared");
    return Model::pixel_driven;
  } catch (const DeviceError&) {  // the grid is larger than what the device can transform
    return Model::pixel_driven;
  }
}

/// @throws GeometryError if the method needs a matched pair, and the worker has none
void choose_pair(Plan& plan, const Recipe& recipe, Worker& worker) {
  const auto& scan = parallel(plan.job.scan);
  const Pairing pairing = pairing_of(plan, recipe);
  const bool at_home = worker.device.is_cuda() == plan.flow.home().is_cuda();
  const Execution wanted =
      at_home ? recipe.execution : like(recipe.execution, plan.flow.home(), worker.device);
  worker.execution = resolved(wanted, scan, plan.job.solved, plan.flow.pair.model, worker.device, pairing);
  if (is_matched(worker.execution, worker.device)) return;
  plan.flow.pair.matched = false;
  if (!plan.job.method->needs_matched_pair) return;
  const std::string what =
      name_of(worker.execution) + ": the back-projection is not the transpose of the projection";
  require<GeometryError>(pairing == Pairing::any, what, ", which a solver needs; give ",
                         matched_for(scan, plan.job.solved, worker.device),
                         ", or " + spelled("allow-unmatched"));
  warn(plan.warnings, what, "; a solver may stop short of the solution, or run away from it");
}

void choose_parallel_execution(Plan& plan, const Recipe& recipe, const std::function<double()>& bytes) {
  for (const Device device : plan.flow.active_devices) plan.flow.workers.push_back({device, {}});
  plan.flow.pair.model = model_for(plan, recipe, bytes);
  require<GeometryError>(plan.flow.pair.model != Model::fourier || !plan.job.method->subsets,
                         spelled("model") + " fourier takes all views at once, ", plan.job.method->name,
                         " some at a time; give " + spelled("model") + " pixel_driven or joseph");
  for (Worker& worker : plan.flow.workers) choose_pair(plan, recipe, worker);
}

/// Warns if another variant would be faster for the few slices of a chunk than the one for all slices.
void warn_of_chunks(Plan& plan, const Recipe& recipe) {
  if (plan.flow.chunk_slices == plan.job.grid.size[2]) return;
  const Scan few = scan_of(plan, {0, plan.flow.chunk_slices});
  const VolumeGrid& g = plan.job.solved;
  const Execution best = resolved(recipe.execution, parallel(few),
                                  region(g, {0, g.size[0]}, {0, g.size[1]}, {0, plan.flow.chunk_slices}),
                                  plan.flow.pair.model, plan.flow.home(), pairing_of(plan, recipe));
  if (best != plan.flow.execution())
    warn(plan.warnings, "memory holds ", plan.flow.chunk_slices, " slices at once, too few for ",
         name_of(plan.flow.execution()),
         " to be fast, which runs for all slices; give more memory, or " + spelled("variant") + " ",
         best.variant);
}

/// Warns of rows that would be half acquisitions by their own axis. The mean of the axes of all rows decides,
/// and so it decides the same for each row.
void warn_of_rows_aside(Plan& plan) {
  const ParallelBeam& scan = parallel(plan.job.scan);
  if (!plan.job.method->filters || half_acquisition(scan) || !all_round(scan.angles)) return;
  Detector row = scan.detector;
  for (std::size_t k = 0; k < scan.row_axis_bins.size(); ++k) {
    row.axis_bin = scan.row_axis_bins[k];
    if (!is_aside(row)) continue;
    warn(
        plan.warnings, "row ", k, " has its axis at bin ", row.axis_bin,
        ", far from the mean of all rows, bin ", scan.detector.axis_bin,
        ": what one side of the detector alone sees counts half in such rows; give an iterative method, or " +
            spelled("rotation-axis") + " X with the rows of one axis");
    return;
  }
}

/// Warns of an axis far aside in a scan that is not all round, such as one that was meant in mm.
void warn_of_axis_aside(Plan& plan) {
  constexpr double far = 0.1;  // share of the bins
  const Detector& d = detector_of(plan.job.scan);
  const double seen = std::max(0.0, std::min(d.axis_bin, d.bins - 1 - d.axis_bin) + 0.5);
  if (all_round(angles_of(plan.job.scan)) || seen > far * d.bins) return;
  warn(plan.warnings, "the rotation axis, bin ", plan.job.axis_in_file,
       ", is far from the middle of the columns, and the views are not all round: only what is within ", seen,
       " bins of the axis is seen from all sides; give the axis in bins from 0, or a scan of a whole turn");
}

void add_parallel_warnings(Plan& plan, const Recipe& recipe) {
  warn_of_chunks(plan, recipe);
  warn_of_axis_aside(plan);
  const double period = half_acquisition(plan.job.scan) ? whole_turn : half_turn;
  const std::vector<double>& angles = angles_of(plan.job.scan);
  const std::vector<double> weights = view_weights(angles, period);
  const double seen = std::accumulate(weights.begin(), weights.end(), 0.0);
  warn_of_gap(plan.warnings, plan.job, angles, widest_gap(angles, period), std::max(0.0, period - seen),
              period);
  warn_of_rows_aside(plan);
  if (plan.flow.pair.model == Model::fourier && voxels_are_wider(plan))
    warn(plan.warnings, "voxels are ", plan.job.grid.pitch[0] / detector_of(plan.job.scan).bin_pitch,
         " bins wide: the Fourier model leaves out what is finer than two voxels; give a smaller " +
             spelled("voxel-size") + " to keep it");
}

WorkingMemory parallel_kernels_hold(const Plan& plan, const Worker& worker, Shape volume, Shape projections) {
  if (plan.flow.pair.model == Model::fourier) {
    const ParallelBeam& scan = parallel(plan.job.scan);
    const bool weighs = plan.job.filters() && half_acquisition(scan);
    WorkingMemory memory = fourier_memory(weighs ? symmetric(scan) : scan, plan.job.solved, volume[0],
                                          worker.execution, worker.device);
    if (weighs) memory.backward += 4.0 * Space(projections).size();
    if (plan.job.options.fbp_filter.padding == Padding::circle)  // a second back-projection, of what they add
      memory.backward = 2 * memory.backward + 4.0 * Space(projections).size();
    return memory;
  }
  return working_memory(worker.execution, volume, projections, worker.device);
}

LinearOperator parallel_projector(const Flow& flow, const Worker& worker, const Scan& scan, Range,
                                  const VolumeGrid& grid, const std::function<void()>&) {
  return projector(parallel(scan), grid, flow.pair.model, worker.device, worker.execution);
}

/// The operator F. Empty for the Fourier model, which filters itself.
std::optional<LinearOperator> ramp_of(const Flow& flow, const Filter& how, const Problem& problem) {
  if (flow.pair.model == Model::fourier) return {};
  const Worker& worker = problem.worker;
  const ParallelBeam& scan = parallel(problem.scan);
  return ramp_filter(scan, how, worker.device,
                     interpolation_of(scan, problem.grid, flow.pair.model, worker.execution, worker.device));
}

LinearOperator backprojector_of(const Flow& flow, const Filter& how, const Problem& problem) {
  const ParallelBeam& scan = parallel(problem.scan);
  const Device device = problem.worker.device;
  const Execution& runs = problem.worker.execution;
  if (flow.pair.model == Model::fourier) return fourier_fbp(scan, problem.grid, how, device, runs);
  const ParallelBeam wide = symmetric(scan);
  if (problem.A.range() == projection_space(wide, device))
    return backprojector(problem.A, scan, problem.grid);
  return backprojector(projector(wide, problem.grid, flow.pair.model, device, runs), scan, problem.grid);
}

BackProjection fbp_of(const Flow& flow, const Filter& how, const Problem& problem) {
  return [B = backprojector_of(flow, how, problem)](const Array& filtered, const auto&) {
    Stream& stream = default_stream(B.range().device());
    Array slices(B.range(), stream);
    // filtered data may be those of another axis, if it does not bear on them
    B.apply(1,
            {filtered.data(), filtered.space().size() == B.domain().size() ? B.domain() : filtered.space()},
            0, slices, stream);
    stream.synchronize();
    return slices;
  };
}

std::optional<std::array<double, 2>> slices_are_apart(const Scan&, double) { return std::nullopt; }

Optics parallel_optics(const Scan& scan) {
  const Detector& d = detector_of(scan);
  return {.bin_mm = d.bin_pitch, .row_mm = d.row_pitch};
}

}  // namespace

constexpr Placement on_devices{vectors_on_devices, false,   parallel_kernels_hold,
                               parallel_projector, ramp_of, fbp_of};

extern const Beam parallel_beam{.roll = roll,
                                .heights_seen = slices_are_apart,
                                .choose_execution = choose_parallel_execution,
                                .add_warnings = add_parallel_warnings,
                                .on_devices = &on_devices,
                                .optics = parallel_optics,
                                .models = {Model::pixel_driven, Model::joseph, Model::fourier}};

}  // namespace tandem::pipeline
