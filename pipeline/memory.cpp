#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "../core/units.hpp"
#include "beams/beam.hpp"
#include "host_memory.hpp"
#include "methods/method.hpp"
#include "steps/chain.hpp"

namespace tandem::pipeline {

namespace {

/// Line integrals and volume of a chunk of some slices, bytes. Where rays cross slices, all line integrals,
/// on the wider detector that FDK may need.
struct Sizes {
  double projections, volume;
};

Index views_of(const Plan& plan) { return static_cast<Index>(angles_of(plan.scan).size()); }

Index bins_of(const Plan& plan) {
  return (plan.filters() ? filtered_detector(plan.scan) : detector_of(plan.scan)).bins;
}

/// Of the projections, for a chunk of some slices.
Index rows_of(const Plan& plan, Index slices) {
  return rows_are_slices(plan.scan) ? slices : detector_of(plan.scan).rows;
}

Sizes sizes_of(const Plan& plan, Index slices) {
  return {4.0 * static_cast<double>(views_of(plan) * rows_of(plan, slices) * bins_of(plan)),
          4.0 * static_cast<double>(slices * plan.grid.size[0] * plan.grid.size[1])};
}

/// What kernels hold beside what they read and write, where a worker has its vectors.
WorkingMemory kernels_of(const Plan& plan, const Worker& worker, Index slices) {
  return beam_of(plan.scan).working_memory(plan, worker, {slices, plan.grid.size[1], plan.grid.size[0]},
                                           {views_of(plan), rows_of(plan, slices), bins_of(plan)});
}

/// What the filter weighs cells and rays with.
double weight_bytes(const Plan& plan, Index slices) {
  const Index cells = rows_of(plan, slices) * bins_of(plan);
  if (rows_are_slices(plan.scan)) return half_acquisition(plan.scan) ? 4.0 * static_cast<double>(cells) : 0;
  return 4.0 * static_cast<double>(views_of(plan) * bins_of(plan) + cells);
}

/// What the method holds where a worker computes, in its largest phase: vectors and what kernels take beside
/// them.
double computing_bytes(const Plan& plan, const Worker& worker, Index slices) {
  const auto [projections, volume] = sizes_of(plan, slices);
  const WorkingMemory kernels = kernels_of(plan, worker, slices);
  // weights of the bins of moved rows, and what they make of vectors on their way
  const double weights = plan.method->iterates() && has_row_axes(plan.scan) ? 3 : 0;
  // the memory of one phase is kept for the same phase of the next chunk
  double sets = 0, volumes = 0, beside = 0;
  for (const Holding& held : plan.method->holds) {
    sets = std::max(sets, static_cast<double>(held.projections));
    volumes = std::max(volumes, static_cast<double>(held.volumes));
    beside = std::max(
        beside, std::max(held.projects ? kernels.forward : 0, held.back_projects ? kernels.backward : 0));
  }
  return weight_bytes(plan, slices) + (sets + weights) * projections + volumes * volume + beside;
}

/// The counts of chunks that are on their way: in as many places, or in the part of the scan that was read
/// last and the one before.
double counts_held(const Plan& plan, double a_slice, Index slices, double places) {
  const Index part = plan.slices_a_read;
  if (part <= slices) return places * static_cast<double>(slices) * a_slice;
  return (part < plan.grid.size[2] ? 2.0 : 1.0) * static_cast<double>(part) * a_slice;
}

/// Of float counts some may not be finite, which takes the CPU.
bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info) {
  return gpu_does_all(plan.preprocessing) && info.type != PixelType::float32;
}

/// Counts, of the widest type, and line integrals on a GPU.
double preparing_bytes(const Plan& plan, Index slices) {
  const Index rows = rows_are_slices(plan.scan) ? slices * plan.rows_together : plan.rows.size();
  return 4.0 * static_cast<double>(views_of(plan) * rows * plan.bins.size()) +
         sizes_of(plan, slices).projections;
}

/// Line integrals, and perhaps their weights.
double data_sets(const Plan& plan) { return plan.preprocessing.weights ? 2 : 1; }

/// What steps hold beside counts and line integrals: their own memory, and rows with margins before these are
/// cut off.
double steps_hold(const Plan& plan, Index rows_read, Index rows_kept) {
  const Index rows = rows_read / plan.rows_together, bins = detector_of(plan.scan).bins,
              views = views_of(plan);
  const double wide = rows > rows_kept ? 4.0 * data_sets(plan) * static_cast<double>(views * rows * bins) : 0;
  return wide + bytes_of_steps(plan.preprocessing, {views, rows, bins}, {views, rows_read, plan.bins.size()});
}

}  // namespace

/// Each set of flats becomes three numbers a cell, and the darks one. Pixels of all frames are read, and of
/// one set at a time they become one. Steps change them as numbers, and look at what they were.
ReferenceBytes reference_bytes(const Plan& plan, const io::ScanInfo& info, double cells) {
  const double binned = cells / static_cast<double>(plan.rows_together << plan.preprocessing.binning);
  const std::span<const Step> steps = plan.preprocessing.table();
  const bool changed = std::ranges::any_of(
      steps, [&](const Step& step) { return step.on_references && step.asked_for(plan.preprocessing); });
  const auto frames = static_cast<double>(std::max(info.flats, info.darks));
  return {4 * cells * (2 + (changed ? 3 : 1) * frames),
          4 * binned * (1 + 3 * static_cast<double>(plan.flats.sets.size()))};
}

/// Each place of the conveyor keeps the memory of its counts. A worker holds line integrals, and what it
/// computes with; its volume then waits, or is written. Where rays cross slices, the scan is read once,
/// before anything is computed; slabs travel behind each other as volumes.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const bool apart = rows_are_slices(plan.scan);
  const Index own = apart ? slices * plan.rows_together : plan.rows.size();
  const Index rows = std::min(own + 2 * plan.margin * plan.rows_together, plan.rows_there.size());
  const double cells =
      static_cast<double>(rows) * static_cast<double>(plan.bins.size());  // of a frame, as read
  const double counts =
      static_cast<double>(views_of(plan)) * cells * static_cast<double>(io::bytes_of(info.type));
  const ReferenceBytes references = reference_bytes(plan, info, cells);
  const auto [projections, volume] = sizes_of(plan, slices);
  double work = 0;
  for (const Worker& worker : plan.workers)
    work += worker.device.is_cuda()
                ? (prepared_on_gpu(plan, info) ? 0 : data_sets(plan) * projections) + volume
                : computing_bytes(plan, worker, slices);
  // no more than all slices are on their way: in places with counts, and volumes that wait and are written
  const double chunks = static_cast<double>(plan.grid.size[2]) / static_cast<double>(slices);
  const auto workers = static_cast<double>(plan.workers.size());
  const double places = std::min(chunks, workers + 2);
  const double waiting = volume * std::clamp(chunks - workers, 0.0, 2.0);
  const double a_slice = counts / static_cast<double>(slices);
  const double whole = apart ? counts_held(plan, a_slice, slices, places) + work + waiting
                             : std::max(counts + projections, work + volume + waiting);
  const auto part = static_cast<double>(std::max(slices, plan.slices_a_read)) / static_cast<double>(slices);
  const double held = references.held * (apart ? places + (part > 1 ? part : 0) : 1);
  return references.reading + held + whole + steps_hold(plan, rows, rows_of(plan, slices)) +
         static_cast<double>(info.decoded_bytes);
}

/// Also what the filter takes for its batches. Workers that share a GPU add up.
double device_bytes(const Plan& plan, Index slices) {
  constexpr double filter = 128 * bytes_per_mib;
  const double a_row = 72 * static_cast<double>(bins_of(plan));  // its response, if it is moved: of 8 bins
  std::map<Device, double> of_device;
  for (const Worker& worker : plan.workers)
    if (worker.device.is_cuda() == plan.home().is_cuda())  // a CPU beside GPUs has memory of its own
      of_device[worker.device] +=
          std::max(preparing_bytes(plan, slices), computing_bytes(plan, worker, slices)) + filter +
          a_row * static_cast<double>(slices);
  double most = 0;
  for (const auto& [device, bytes] : of_device) most = std::max(most, bytes);
  return most;
}

double host_budget(const Recipe& recipe) {
  return recipe.host_bytes ? static_cast<double>(*recipe.host_bytes)
                           : static_cast<double>(held_memory()) + static_cast<double>(spare_host_memory());
}

double device_budget(const Plan& plan, const Recipe& recipe) {
  const auto& asked = recipe.device_bytes;
  double least = asked ? static_cast<double>(*asked) : INFINITY;
  bool gpu = false;
  for (const Device device : plan.devices)
    if (device.is_cuda()) least = std::min(least, 0.9 * static_cast<double>(free_memory(device))), gpu = true;
  return gpu ? least : std::min(least, static_cast<double>(spare_host_memory()));
}

}  // namespace tandem::pipeline
