#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

/// The mean of the nearest views before and after whose row is not lost. @throws FileError if all are lost
Index replace_lost_rows(Sinogram& all) {
  const Image<float>& y = all.y;
  Index replaced = 0;
  for (Index view = 0; view < y.n0; ++view) {
    if (!all.met(view).lost) continue;
    Index before = view - 1, after = view + 1;
    while (before >= 0 && all.met(before).lost) --before;
    while (after < y.n0 && all.met(after).lost) ++after;
    if (before < 0) before = after;
    if (after >= y.n0) after = before;
    require<FileError>(before >= 0 && before < y.n0, "projections: row ", all.reference.file_row(all.row),
                       " has no finite pixel in any view; leave it out by " + spelled("detector-rows"));
    for (Index b = 0; b < y.n2; ++b)
      y(view, all.row, b) = 0.5f * (y(before, all.row, b) + y(after, all.row, b));
    replaced += y.n2;
  }
  for (Index view = 0; view < y.n0; ++view)
    if (RowFindings& met = all.met(view); met.lost) met.lost = false, met.filled = true;
  return replaced;
}

}  // namespace

Step lost_rows_step() {
  return {.name = "lost-rows",
          .help = "rows of views without a finite pixel become the mean of the nearest views",
          .can_wait = true,
          .of_cells = true,
          .in_pass = [](const kernels::CountsTally&) { return Index{0}; },
          .on_sinogram = [](const Preprocessing&) -> SinogramWork { return replace_lost_rows; }};
}

}  // namespace tandem::pipeline
