#include <numeric>

#include "../../core/ceil_div.hpp"
#include "interpolate.hpp"
#include "median_fill.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

constexpr FillWindow window{};
constexpr Index rows_of_mask = 2;  // of the file, around a cell, that tell whether it is bad

bool asked_for(const Preprocessing& how) {
  return value_of<bool>(how.values, "--repair-cells").value_or(false);
}

/// What no window fills is interpolated along the row.
Index fill_rest(const Image<float>& y, Index row, std::span<const Pixel> marks) {
  return interpolate({&y(0, row, 0), static_cast<std::size_t>(y.n2)},
                     [&](Index b) { return marks[static_cast<std::size_t>(row * y.n2 + b)] != Pixel::good; });
}

Index repair(Projection& view) {
  const Image<float>& y = view.y;
  std::vector<Pixel> marks(static_cast<std::size_t>(y.n1 * y.n2), Pixel::good);
  const std::vector<float>& span = view.reference.sets.front().span;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    RowFindings& met = view.met[i / static_cast<std::size_t>(y.n2)];
    if (met.lost)
      marks[i] = Pixel::unknown;
    else if (span[i] == 0)
      marks[i] = Pixel::bad;
    met.mended = true;
  }
  std::vector<Index> filled = median_fill(y, marks, window);
  for (Index r = 0; r < y.n1; ++r)
    if (!view.met[static_cast<std::size_t>(r)].lost)
      filled[static_cast<std::size_t>(r)] += fill_rest(y, r, marks);
  return std::accumulate(filled.begin() + view.kept.first, filled.begin() + view.kept.last, Index{0});
}

}  // namespace

Step repair_cells() {
  return {
      .name = "repair-cells",
      .help = "hot, stuck and dead cells become the median of their good neighbours",
      .options = {{"--repair-cells",
                   "default false; true: find hot, stuck and dead cells in darks and flats, and give them "
                   "the median of the good cells around them in each view",
                   TrueOrFalse{}}},
      .on_projection = [](const Preprocessing& how) -> ProjectionWork {
        if (!asked_for(how)) return {};
        return repair;
      },
      .margin =
          [](const Preprocessing& how) {
            return window.last / 2 + ceil_div(rows_of_mask, Index{1} << how.binning);
          }};
}

}  // namespace tandem::pipeline::step
