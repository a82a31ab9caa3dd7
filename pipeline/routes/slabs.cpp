#include <algorithm>
#include <cmath>

#include "../../core/ceil_div.hpp"
#include "../../operators/hierarchical.hpp"
#include "../beams/beam.hpp"
#include "../memory/room.hpp"
#include "../methods/method.hpp"
#include "../plan/grids.hpp"
#include "../stations/read.hpp"
#include "routes.hpp"

namespace tandem::pipeline {

namespace {

bool takes_slabs(const Job& job, const Recipe& recipe) {
  return recipe.model == Model::hierarchical && !job.method->takes_whole && detector_of(job.scan).rows > 1 &&
         beam_of(job.scan).of_views;
}

Range rows_of_slab(const Job& job, Range slices) {
  if (job.rows.size() == 0 || slices.size() == job.grid.size[2]) return all_rows(job, slices);
  return rows_needed(job, job.grid, slices);
}

/// The most rows that slabs of so many slices have, with those beyond the detector after the filter.
Index most_rows(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  const ConeBeam &cone = point_source_of(job.scan), wide = filtered_scan(cone);
  const Index all = cone.detector.rows, below = std::lround(wide.midplane_row - cone.midplane_row),
              above = wide.detector.rows - all - below;
  Index most = 0;
  for (Index first = 0; first + slices <= job.grid.size[2]; ++first) {
    const Range rows = rows_of_slab(job, {first, first + slices});
    most = std::max(most, rows.size() + (rows.first == 0 ? below : 0) + (rows.last == all ? above : 0));
  }
  return most;
}

/// Slabs begin with a vector of slices, as far as the memory allows it, so that their voxels have the numbers
/// of the whole.
Index in_vectors(Index slices, Index most, Index all) {
  const Index vector = hierarchical_slices_together(), above = ceil_div(slices, vector) * vector;
  if (slices == all) return all;
  return above <= most ? above : std::max(most - most % vector, std::min(most, vector));
}

void choose_slabs(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  Room room(plan, recipe, info);
  const Index all = plan.job.grid.size[2],
              most = room.fits(all) && room.fits_devices(all) ? all : room.most_slices();
  // few slabs, since rows that slabs share are filtered and grouped anew
  room.choose_chunks(most, in_vectors(room.slices_of_few_chunks(most), most, all));
  auto& sizes = std::get<SlabSizes>(plan.flow.sizes);
  if (info.decoded_bytes > 0 && plan.flow.chunk_slices < all) room.choose_one_read(sizes.part_slices);
  sizes.piece_bytes = bytes_going_up(plan, info, plan.flow.chunk_slices);
  room.note();
}

double slabs_on_host(const Plan& plan, const io::ScanInfo& info, Index slices) {
  return slices == plan.job.grid.size[2] ? whole_on_host(plan, info, slices)
                                         : bytes_of_chunks(plan, info, slices);
}

}  // namespace

/// The route of FDK by groups of views. Each slab is a problem of its own, and devices take slabs in turn.
Route slabs() {
  return {.name = "slabs",
          .sizes = SlabSizes{},
          .own_rows = true,
          .takes = takes_slabs,
          .fewest_slices = [](const Job&) { return Index{1}; },
          .rows = rows_of_slab,
          .rows_made = most_rows,
          .rows_held = most_rows,
          .choose = choose_slabs,
          .host_bytes = slabs_on_host,
          .worker_bytes = bytes_of_worker,
          .waiting_bytes = bytes_waiting,
          .begin = maker_from_all_data};
}

}  // namespace tandem::pipeline
