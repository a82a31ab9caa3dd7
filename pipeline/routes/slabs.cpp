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

Index one_slice(const Job&) { return 1; }

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
  if (info.decoded_bytes > 0 && plan.flow.rows_at_once < all) room.choose_one_read();
  plan.flow.bytes_a_piece = bytes_a_piece(plan, info, plan.flow.rows_at_once);
  room.note();
}

}  // namespace

Route slabs() {
  Route route = whole();
  route.name = "slabs";
  route.slices = Slices::slabs;
  route.takes = takes_slabs;
  route.fewest_slices = one_slice;
  route.rows = rows_of_slab;
  route.rows_made = most_rows;
  route.choose = choose_slabs;
  route.host_bytes = [](const Plan& plan, const io::ScanInfo& info, Index slices) {
    const bool one = slices == plan.job.grid.size[2];
    return one ? whole().host_bytes(plan, info, slices) : bytes_of_chunks(plan, info, slices);
  };
  return route;
}

}  // namespace tandem::pipeline
