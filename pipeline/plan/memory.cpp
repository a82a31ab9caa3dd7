#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "../../core/ceil_div.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../beams/beam.hpp"
#include "../methods/method.hpp"
#include "../stations/landing.hpp"
#include "../stations/read.hpp"
#include "chunks_due.hpp"
#include "grids.hpp"
#include "host_memory.hpp"
#include "row_axes.hpp"

namespace tandem::pipeline {

namespace {

/// Line integrals and volume of a chunk of some slices, and what of the volume is written, bytes. Where rays
/// cross slices, all line integrals, on the wider detector that FDK may need.
struct Sizes {
  double projections, volume, written;
};

Index views_of(const Plan& plan) { return static_cast<Index>(angles_of(plan.scan).size()); }

Index bins_of(const Plan& plan) {
  const Index solved = plan.method->iterates() ? detector_of(solved_scan(plan.scan, plan.solved)).bins : 0,
              filtered = (plan.filters() ? filtered_detector(plan.scan) : detector_of(plan.scan)).bins;
  return std::max(solved, filtered);
}

/// Of the projections, for a chunk of some slices.
Index rows_of(const Plan& plan, Index slices) {
  return rows_are_slices(plan.scan) ? slices : detector_of(plan.scan).rows;
}

/// On which the method works to make so many.
Index slices_solved(const Plan& plan, Index slices) { return solved_slices(plan, {0, slices}).size(); }

/// The most of so many views, or lines, that a rank has, if they are portions.
Index portion(const Plan& plan, Index count) {
  return plan.over_ranks() ? portion_of_rank(count, 0, plan.ranks.size()).size() : count;
}

Sizes sizes_of(const Plan& plan, Index slices) {
  return {4.0 * static_cast<double>(portion(plan, views_of(plan)) * rows_of(plan, slices) * bins_of(plan)),
          4.0 * static_cast<double>(slices_solved(plan, slices) * plan.solved.size[0] *
                                    portion(plan, plan.solved.size[1])),
          4.0 * static_cast<double>(slices * plan.grid.size[0] * portion(plan, plan.grid.size[1]))};
}

/// The most views of which one device of a worker has the projections: members of a team share them.
Index views_of_share(const Plan& plan, const Worker& worker) {
  return ceil_div<Index>(portion(plan, views_of(plan)), worker.device.members());
}

/// Lines of the volume that a kernel takes at once.
Index lines_of_kernels(const Plan& plan) {
  return plan.over_ranks() ? plan.lines_at_once : plan.solved.size[1];
}

/// A part of a strip, which goes from rank to rank; 0 if none does.
double part_bytes(const Plan& plan) {
  return 4.0 * static_cast<double>(plan.lines_at_once * plan.solved.size[0] * plan.solved.size[2]);
}

/// The rows that steps make at once, for a chunk of some slices.
Index rows_made(const Plan& plan, Index slices) {
  return plan.over_ranks() ? plan.rows_prepared : rows_of(plan, slices);
}

/// What kernels, and parts of strips that travel, hold beside vectors, on each device where a worker has its
/// vectors.
WorkingMemory kernels_of(const Plan& plan, const Worker& worker, Index slices) {
  const WorkingMemory kernels = beam_of(plan.scan).working_memory(
      plan, worker, {slices_solved(plan, slices), lines_of_kernels(plan), plan.solved.size[0]},
      {views_of_share(plan, worker), rows_of(plan, slices), bins_of(plan)});
  return plan.over_ranks() ? working_memory_of_rank(kernels, part_bytes(plan)) : kernels;
}

/// What the filter weighs cells and rays with.
double weight_bytes(const Plan& plan, Index slices) {
  const Index cells = rows_of(plan, slices) * bins_of(plan);
  if (rows_are_slices(plan.scan)) return half_acquisition(plan.scan) ? 4.0 * static_cast<double>(cells) : 0;
  return 4.0 * static_cast<double>(views_of(plan) * bins_of(plan) + cells);
}

/// What the method holds on each device of a worker, in its largest phase: vectors and what kernels take
/// beside them.
double computing_bytes(const Plan& plan, const Worker& worker, Index slices) {
  const auto [all_projections, volume, written] = sizes_of(plan, slices);
  const double projections = all_projections / static_cast<double>(portion(plan, views_of(plan))) *
                             static_cast<double>(views_of_share(plan, worker));
  const WorkingMemory kernels = kernels_of(plan, worker, slices);
  // weights of the bins of moved rows, and what they make of vectors on their way
  const double weights = plan.method->iterates() && has_row_axes(plan.scan) ? 3 : 0;
  // the memory of one phase is kept for the same phase of the next chunk
  double sets = 0, volumes = 0, beside = 0;
  const bool may_run_away = plan.method->iterates() && !plan.matched;  // then the best volume is kept
  for (const Holding& held : plan.method->holds_with(plan.options)) {
    const bool only_filters = !held.projects && !held.back_projects;
    if (only_filters && plan.model == Model::fourier) continue;  // it filters on its way
    sets = std::max(sets, static_cast<double>(held.projections));
    volumes = std::max(volumes, static_cast<double>(held.volumes + may_run_away));
    beside = std::max(
        beside, std::max(held.projects ? kernels.forward : 0, held.back_projects ? kernels.backward : 0));
  }
  return weight_bytes(plan, slices) + (sets + weights) * projections + volumes * volume + beside;
}

/// The counts of chunks that are on their way: in as many places, or in the part of the scan that was read
/// last and the one before; a helper may need one that is older still.
double counts_held(const Plan& plan, double a_slice, Index slices, double places) {
  const Index part = plan.slices_a_read;
  if (part <= slices) return places * static_cast<double>(slices) * a_slice;
  const double parts = plan.helper() ? 3 : 2;
  return (part < plan.grid.size[2] ? parts : 1.0) * static_cast<double>(part) * a_slice;
}

/// Of float counts some may not be finite, which takes the CPU.
bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info) {
  return plan.gpus_prepare() && info.type != PixelType::float32;
}

/// Rows of the file that a chunk needs, with margins. A chunk that does not begin and end with blocks of the
/// steps may need almost one more at each end.
Index rows_with_margins(const Plan& plan, Index slices) {
  const auto [beside, block] = plan.margin;
  const bool in_blocks = slices < plan.grid.size[2] && block_of_chunks(plan) == block && slices % block == 0;
  const Index all = rows_are_slices(plan.scan) ? slices : plan.rows.size() / plan.rows_together;
  const Index own = plan.over_ranks() ? plan.rows_prepared : all;
  const Index rows = own + 2 * (beside + (in_blocks ? 0 : block - 1));
  return std::min(rows * plan.rows_together, plan.rows_there.size());
}

/// Line integrals, and perhaps their weights.
double data_sets(const Plan& plan) { return plan.preprocessing.weights ? 2 : 1; }

/// On a GPU, for some views: counts, of the widest type, once more if steps change them; and line integrals
/// and weights, with margins before these are cut off, what steps hold, and flats.
double preparing_bytes(const Plan& plan, Index slices, Index views) {
  const Preprocessing& how = plan.preprocessing;
  const Index read = rows_with_margins(plan, slices), rows = read / plan.rows_together,
              bins = detector_of(plan.scan).bins;
  const double counts = 4.0 * static_cast<double>(views * read * plan.bins.size());
  const double projections = 4.0 * static_cast<double>(views * rows_made(plan, slices) * bins_of(plan));
  if (!plan.gpus_prepare()) return counts + projections;
  const bool margins = rows > rows_made(plan, slices);
  const double all = 4.0 * static_cast<double>(views * rows * bins);
  const double wide = data_sets(plan) * (margins ? all : projections);
  // each view may have flats of its own, and of these the noise
  const double flats = how.noise || how.weights ? 2 : 1;
  const double spans = flats_are_of_views(how.values) ? flats * all : 0;
  return counts + wide + spans +
         std::max({gpu_bytes_of_steps(how, {views, rows, bins}), gpu_changes_counts(how) ? counts : 0,
                   margins ? projections : 0});
}

/// What steps hold on the host beside counts and line integrals: their own memory, and rows with margins
/// before these are cut off.
double steps_hold(const Plan& plan, const io::ScanInfo& info, Index views, Index rows_read, Index rows_kept) {
  if (prepared_on_gpu(plan, info) && !plan.helper()) return 0;
  const Index rows = rows_read / plan.rows_together, bins = detector_of(plan.scan).bins;
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

namespace {

/// What is read of a frame for a chunk: cells of the file.
double cells_read(const Plan& plan, Index slices) {
  return static_cast<double>(rows_with_margins(plan, slices)) * static_cast<double>(plan.bins.size());
}

double counts_bytes(const io::ScanInfo& info, double cells, Index views) {
  return static_cast<double>(views) * cells * static_cast<double>(io::bytes_of(info.type));
}

/// How many volumes of chunks wait to be written, and are written.
double volumes_waiting(const Plan& plan, Index slices) {
  const double chunks = static_cast<double>(plan.grid.size[2]) / static_cast<double>(slices);
  return std::clamp(chunks - static_cast<double>(plan.workers.size()), 0.0, 2.0);
}

/// A volume on the host: from a GPU it may come as its file stores it.
double volume_at_home(const Plan& plan, Index slices) {
  const double volume = sizes_of(plan, slices).written;
  return plan.home().is_cuda() ? volume * static_cast<double>(plan.stored_bytes) / 4 : volume;
}

/// Whether volumes leave their GPU a few slices at a time.
bool comes_in_pieces(const Plan& plan, Index slices) {
  return plan.home().is_cuda() &&
         (!rows_are_slices(plan.scan) || sizes_of(plan, slices).written > bytes_landed_whole);
}

/// Where volumes of a GPU are on the host: those of all workers and those that wait, or three pieces.
double volumes_landed(const Plan& plan, Index slices, double volumes) {
  const double volume = volume_at_home(plan, slices);
  const double piece = std::max(bytes_landed_at_once, volume / static_cast<double>(slices));
  return comes_in_pieces(plan, slices) ? std::min(volume, 3 * piece) : volumes * volume;
}

/// Where views pass in blocks, three of them are on their way in each worker: one is read, one becomes line
/// integrals and is filtered, one is added to the slices. On a GPU these stay there, and slices come home a
/// few at a time.
double host_bytes_by_views(const Plan& plan, const io::ScanInfo& info, Index slices) {
  constexpr double blocks = 3;
  const double cells = cells_read(plan, slices), counts = counts_bytes(info, cells, plan.views_at_once),
               all_counts = counts_bytes(info, cells, views_of(plan));
  const Detector& d = detector_of(plan.scan);
  const double y = data_sets(plan) * 4 * static_cast<double>(plan.views_at_once * d.rows * d.bins),
               filtered = 4 * static_cast<double>(plan.views_at_once * d.rows * bins_of(plan)),
               volume = volume_at_home(plan, slices);
  const double kernels =
      beam_of(plan.scan)
          .working_memory(plan, plan.workers.front(), {slices, plan.grid.size[1], plan.grid.size[0]},
                          {plan.views_at_once, d.rows, bins_of(plan)})
          .backward;
  const double counted = plan.slices_a_read > 0 || plan.needs_all_views ? 0 : blocks * counts;
  double work = 0;
  for (const Worker& worker : plan.workers)
    work +=
        counted +
        (worker.device.is_cuda()
             ? (prepared_on_gpu(plan, info) ? 0 : y) +
                   std::min(volume, 3 * std::max(bytes_landed_at_once, volume / static_cast<double>(slices)))
             : y + blocks * filtered + weight_bytes(plan, slices) + kernels + volume);
  const double waiting = plan.home().is_cuda() ? 0 : volumes_waiting(plan, slices) * volume;
  const double whole = plan.needs_all_views ? 4 * static_cast<double>(views_of(plan) * d.rows * d.bins) : 0;
  const ReferenceBytes references = reference_bytes(plan, info, cells);
  const Index rows = static_cast<Index>(cells) / plan.bins.size();
  const Index views = plan.needs_all_views ? views_of(plan) : plan.views_at_once;
  return references.reading + static_cast<double>(plan.workers.size() + 2) * references.held + work +
         waiting + whole + (plan.slices_a_read > 0 || plan.needs_all_views ? all_counts : 0) +
         steps_hold(plan, info, views, rows, d.rows) + static_cast<double>(info.decoded_bytes);
}

/// The counts that are on their way where slices, or a whole volume, are made of all views.
double counts_held(const Plan& plan, const io::ScanInfo& info, double cells, Index slices, double places) {
  const double counts = counts_bytes(info, cells, views_of(plan));
  if (const Index piece = bytes_a_piece(plan, info, slices); piece > 0)
    return 2 * std::max(static_cast<double>(piece), counts_bytes(info, cells, 1));
  if (!rows_are_slices(plan.scan)) return counts;
  return counts_held(plan, counts / static_cast<double>(slices), slices, places);
}

double device_bytes_by_views(const Plan& plan, const Worker& worker, Index slices) {
  constexpr double blocks = 4;  // one more is queued
  const Detector& d = detector_of(plan.scan);
  const double cells = static_cast<double>(plan.views_at_once * d.rows),
               filtered = 4 * cells * static_cast<double>(bins_of(plan));
  const double volumes = slices < plan.grid.size[2] ? 2 : 1;  // one is written while the next is made
  const Shape volume{slices, plan.grid.size[1], plan.grid.size[0]};
  return volumes * sizes_of(plan, slices).volume + preparing_bytes(plan, slices, plan.views_at_once) +
         blocks * filtered + weight_bytes(plan, slices) +
         beam_of(plan.scan)
             .working_memory(plan, worker, volume, {plan.views_at_once, d.rows, bins_of(plan)})
             .backward;
}

}  // namespace

Index bytes_a_piece(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const bool packed = !info.packing.empty() || info.decoded_bytes > 0;
  if (plan.by_views() || plan.over_ranks() || packed || plan.helper() || !prepared_on_gpu(plan, info))
    return 0;
  const double counts = counts_bytes(info, cells_read(plan, slices), views_of(plan));
  return counts > bytes_read_whole ? bytes_read_at_once : 0;
}

/// On the host of a rank: line integrals of the rows that it prepares, and what of them comes and goes; later
/// where what a GPU sends passes through, and its slices, with what of them comes and goes.
double rank_bytes(const Plan& plan, Index slices) {
  if (!plan.over_ranks()) return 0;
  constexpr double landing = 128 * bytes_per_mib;  // of a projector and of a gradient
  const double rows = 4.0 * static_cast<double>(views_of(plan) * plan.rows_prepared * bins_of(plan)),
               ranks = plan.ranks.size(), volume = sizes_of(plan, slices).volume;
  return data_sets(plan) * rows + 2 * rows / ranks + (plan.home().is_cuda() ? landing : 0) +
         volume * (1 + 2 / ranks);
}

/// Each place of the conveyor keeps the memory of its counts. A worker holds line integrals, and what it
/// computes with; its volume then waits, or is written. A solver takes a cone beam as a whole: it is read
/// once, before anything is computed.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices) {
  if (plan.by_views()) return host_bytes_by_views(plan, info, slices);
  const bool apart = rows_are_slices(plan.scan);
  const double cells = cells_read(plan, slices);
  const ReferenceBytes references = reference_bytes(plan, info, cells);
  const auto [projections, volume, written] = sizes_of(plan, slices);
  double work = 0, volumes = volumes_waiting(plan, slices);
  for (const Worker& worker : plan.workers) {
    const bool gpu = worker.device.is_cuda();
    const double line_integrals = prepared_on_gpu(plan, info) ? 0 : data_sets(plan) * projections;
    work += gpu ? line_integrals : worker.device.members() * computing_bytes(plan, worker, slices);
    volumes += gpu ? 1 : 0;
  }
  // no more than all slices are on their way: in places with counts, and volumes that wait and are written
  const double chunks = static_cast<double>(plan.grid.size[2]) / static_cast<double>(slices);
  const double places = std::min(chunks, static_cast<double>(plan.workers.size() + 2));
  const double landed = volumes_landed(plan, slices, volumes);
  const double counts = counts_held(plan, info, cells, slices, places);
  const double whole =
      apart ? counts + work + landed
            : std::max(counts + projections, work + landed + (plan.home().is_cuda() ? 0 : written));
  const auto part = static_cast<double>(std::max(slices, plan.slices_a_read)) / static_cast<double>(slices);
  const double held = references.held * (apart ? places + (part > 1 ? part : 0) : 1);
  const Index rows = static_cast<Index>(cells) / plan.bins.size();
  return references.reading + held + whole +
         steps_hold(plan, info, views_of(plan), rows, rows_made(plan, slices)) + rank_bytes(plan, slices) +
         static_cast<double>(info.decoded_bytes);
}

/// The views of which a device makes line integrals at once.
Index views_prepared(const Plan& plan, const Worker& worker) {
  return plan.over_ranks() ? views_of(plan) : views_of_share(plan, worker);
}

/// Also what the filter takes for its batches. Workers that share a GPU add up.
double device_bytes(const Plan& plan, Index slices) {
  constexpr double filter = 128 * bytes_per_mib;
  const double a_row = 72 * static_cast<double>(bins_of(plan));  // its response, if it is moved: of 8 bins
  std::map<Device, double> of_device;
  for (const Worker& worker : plan.workers)
    for (int k = 0; k < worker.device.members(); ++k)
      if (worker.device.is_cuda() == plan.home().is_cuda())  // a CPU beside GPUs has memory of its own
        of_device[worker.device.member(k)] +=
            (plan.by_views() ? device_bytes_by_views(plan, worker, slices)
                             : std::max(preparing_bytes(plan, slices, views_prepared(plan, worker)),
                                        computing_bytes(plan, worker, slices))) +
            filter + a_row * static_cast<double>(slices);
  double most = 0;
  for (const auto& [device, bytes] : of_device) most = std::max(most, bytes);
  const bool volumes_wait_there = !plan.by_views() && comes_in_pieces(plan, slices);
  return most + (volumes_wait_there ? volumes_waiting(plan, slices) * sizes_of(plan, slices).written : 0);
}

/// For files; and for kernels and transforms on a GPU, which come with their first use.
double held_with_libraries(const Plan& plan) {
  constexpr double of_files = 32e6, of_gpus = 128e6;
  return static_cast<double>(held_memory()) + of_files + (plan.home().is_cuda() ? of_gpus : 0);
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
