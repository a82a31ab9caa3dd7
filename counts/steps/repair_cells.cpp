#include <algorithm>
#include <numeric>

#include "../../core/rounding.hpp"
#include "../../kernels/frames.hpp"
#include "interpolate.hpp"
#include "median_fill.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<TrueOrFalse> option::repair_cells{
    "repair-cells",
    "default false; true: find hot, stuck and dead cells in darks and flats, and give them "
    "the median of the good cells around them in each view",
    TrueOrFalse{}};

namespace {

constexpr FillWindow fill_window{};
constexpr Index rows_of_mask = 2;  // rows of the file around a cell that tell whether it is bad

bool asked_for(const Preprocessing& how) { return option::repair_cells.of(how.values).value_or(false); }

/// Interpolates along the row what no window fills.
Index fill_rest(const Image<float>& y, Index row, std::span<const Pixel> marks) {
  return interpolate(std::span(&y(0, row, 0), y.n2),
                     [&](Index b) { return marks[row * y.n2 + b] != Pixel::good; });
}

Index repair_view(Projection& view) {
  const Image<float>& y = view.y;
  std::vector<Pixel> marks(y.n1 * y.n2, Pixel::good);
  const std::vector<float>& span = view.reference.sets.front().span;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    RowFindings& met = view.met[i / y.n2];
    if (met.lost)
      marks[i] = Pixel::unknown;
    else if (span[i] == 0)
      marks[i] = Pixel::bad;
    met.mended = true;
  }
  std::vector<Index> filled = median_fill(y, marks, fill_window);
  for (Index r = 0; r < y.n1; ++r)
    if (!view.met[r].lost) filled[r] += fill_rest(y, r, marks);
  return std::accumulate(filled.begin() + view.kept.first, filled.begin() + view.kept.last, Index{0});
}

/// All views have the same bad cells, so one frame tells what each is made of.
std::optional<Index> repair_on_gpu(GpuData& data) {
  const Image<float>& y = data.y;
  const std::vector<float>& span = data.reference.sets.front().span;
  std::vector<Pixel> marks;
  for (const float cell : span) marks.push_back(cell == 0 ? Pixel::bad : Pixel::good);
  std::vector<kernels::MendedCell> mended;
  std::vector<int> good;
  std::vector<kernels::FilledCell> rest;
  for_each_fill({y.n1, y.n2}, marks, fill_window, [&](Index row, Index bin, const std::vector<Index>& from) {
    mended.push_back({int_of(row), int_of(bin), int_of(good.size()), int_of(from.size())});
    good.insert(good.end(), from.begin(), from.end());
  });
  for (const auto& cell : mended) marks[cell.row * y.n2 + cell.bin] = Pixel::good;
  for (Index row = 0; row < y.n1; ++row)
    append_filled(
        y.n2, row, [&](Index b) { return marks[row * y.n2 + b] != Pixel::good; }, rest);
  const Device gpu = data.stream.device();
  kernels::frames(gpu)->fill_medians(mended, good, y, data.stream);
  kernels::counts(gpu)->fill(rest, y, data.stream);
  data.mended = true;
  const auto heeded = [range = data.heeded()](const auto& cell) {
    return range.first <= cell.row && cell.row < range.last;
  };
  return data.views() * (std::ranges::count_if(mended, heeded) + std::ranges::count_if(rest, heeded));
}

}  // namespace

Step repair_cells_step() {
  return {
      .name = "repair-cells",
      .help = "hot, stuck and dead cells become the median of their good neighbours",
      .options = {option::repair_cells},
      .of_cells = true,
      .on_gpu = [](const Preprocessing& how) { return asked_for(how) ? GpuWork(repair_on_gpu) : GpuWork{}; },
      .on_projection = [](const Preprocessing& how) -> ProjectionWork {
        if (!asked_for(how)) return {};
        return repair_view;
      },
      .margin =
          [](const Preprocessing& how) {
            return RowMargin{fill_window.last / 2 + rows_with(how, rows_of_mask)};
          }};
}

}  // namespace tandem::pipeline
