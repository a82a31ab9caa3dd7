#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../geometry/scan.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/warn.hpp"
#include "../stations/landing.hpp"
#include "../stations/prepare.hpp"
#include "../stations/read.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_slices(const Job& job, const Recipe&) { return rows_are_slices(job.scan); }

Range rows_of_slices(const Job& job, Range slices) { return job.rows.size() == 0 ? Range{0, 0} : slices; }

/// Gives each GPU several workers, as many as the memory allows.
void share_gpus(Plan& plan, const Recipe& recipe, const Room& room) {
  std::vector<Worker>& workers = plan.flow.workers;
  if (!plan.flow.home().is_cuda()) return;
  const std::vector<Worker> alone = workers;
  for (int more = 1; more < recipe.streams; ++more) {
    workers.insert(workers.end(), alone.begin(), alone.end());
    if (room.fits_devices(1)) continue;
    workers.resize(workers.size() - alone.size());
    break;
  }
}

/// The number of slices of a chunk. It is small enough for each worker to get several chunks, so that
/// reading, computing and writing overlap. It is large enough for kernels to be fast. It is also large enough
/// for the margins, which are read and prepared beside each chunk, to be less than half of the work.
Index slices_for_overlap(const Plan& plan, Index batch) {
  const VolumeGrid& grid = plan.job.grid;
  const Index all = grid.size[2];
  if (plan.flow.home().is_cuda() && plan.flow.pair.model == Model::fourier && plan.job.method->filters) {
    constexpr Index lanes = 16, most = 128, bytes = 256 << 20;  // to pin more costs more than it saves
    const Index slice = 4 * grid.size[0] * grid.size[1];
    const Index enough = std::min(ceil_div(all, 8 * lanes), bytes / slice / lanes) * lanes;
    return std::max(std::clamp(enough, lanes, most), ceil_div(6 * plan.job.margin.beside, lanes) * lanes);
  }
  return std::max(batch, ceil_div(all / (8 * std::ssize(plan.flow.workers)), batch) * batch);
}

/// Chooses the parts of a packed scan that are read at once. Each part unpacks the scan anew, so parts are as
/// large as the memory allows. They have several chunks, which may have to be smaller for that.
void choose_reads_of_slices(Plan& plan, const Room& room) {
  Flow& flow = plan.flow;
  Index& part = std::get<SliceSizes>(flow.sizes).part_slices;
  const Index all = plan.job.grid.size[2], wanted = flow.chunk_slices, smallest = room.batch();
  for (Index chunk = wanted; chunk == wanted || chunk >= smallest; chunk /= 2) {
    flow.chunk_slices = chunk;
    for (Index chunks = ceil_div(all, chunk); chunks >= 2; --chunks) {
      part = std::min(all, chunks * chunk);
      if (room.fits()) return;
    }
  }
  flow.chunk_slices = wanted;
  part = 0;
}

void choose_slices(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  Room room(plan, recipe, info);
  share_gpus(plan, recipe, room);
  room.choose_chunks(room.most_slices(), slices_for_overlap(plan, room.batch()));
  const std::size_t chunks = ceil_div(plan.job.grid.size[2], plan.flow.chunk_slices);
  if (chunks < plan.flow.active_devices.size() && !recipe.fewest_devices)
    warn(plan.warnings, "of ", plan.flow.active_devices.size(), " devices, ", chunks,
         " compute: there are no more chunks");
  if (info.decoded_bytes > 0) choose_reads_of_slices(plan, room);
  std::get<SliceSizes>(plan.flow.sizes).piece_bytes = bytes_going_up(plan, info, plan.flow.chunk_slices);
  room.note();
}

/// The bytes of the counts on their way. They lie in `places` chunks, or in the last two parts of the scan
/// that were read.
double counts_held(const Plan& plan, const io::ScanInfo& info, Index slices, double places) {
  if (const std::optional<double> pieces = bytes_of_pieces(plan, info, slices)) return *pieces;
  const double a_slice = counts_bytes(info, cells_read(plan, slices), views_of(plan.job)) / slices;
  const Index part = part_slices(plan.flow, plan.job.grid.size[2]);
  if (part <= slices) return places * slices * a_slice;
  return (part < plan.job.grid.size[2] ? 2.0 : 1.0) * part * a_slice;
}

}  // namespace

/// The memory on the host, bytes. Each place of the conveyor keeps the memory of its counts. A worker holds
/// line integrals and what it computes with. Its volume then waits, or is written. At most all slices are on
/// their way.
double bytes_of_chunks(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const double work = bytes_of_workers(plan, info, slices);
  const auto gpus =
      std::ranges::count_if(plan.flow.workers, [](const Worker& w) { return w.device.is_cuda(); });
  const double volumes = volumes_waiting(plan, slices) + gpus;
  const double chunks = 1.0 * plan.job.grid.size[2] / slices;
  const double places = std::min<double>(chunks, plan.flow.workers.size() + 2);
  const double cells = cells_read(plan, slices);
  const ReferenceBytes references = reference_bytes(plan.job, info, cells);
  const auto part = 1.0 * std::max(slices, part_slices(plan.flow, plan.job.grid.size[2])) / slices;
  const Index read = floor_index(cells) / plan.job.bins.size();
  return references.reading + references.held * (places + (part > 1 ? part : 0)) +
         counts_held(plan, info, slices, places) + work + volumes_landed(plan, slices, volumes) +
         steps_bytes(plan, info, views_of(plan.job), read, slices) + info.decoded_bytes;
}

/// The route of slices that are problems of their own. They pass in chunks, which several devices take in
/// turn.
Route slices() {
  return {.name = "slices",
          .sizes = SliceSizes{},
          .slices_apart = true,
          .cheap_slices = true,
          .own_rows = true,
          .takes = takes_slices,
          .fewest_slices = [](const Job&) { return Index{1}; },
          .rows = rows_of_slices,
          .rows_made = [](const Plan&, Index slices) { return slices; },
          .choose = choose_slices,
          .host_bytes = bytes_of_chunks,
          .worker_bytes = bytes_of_worker,
          .waiting_bytes = bytes_waiting,
          .begin = maker_from_all_data};
}

}  // namespace tandem::pipeline
