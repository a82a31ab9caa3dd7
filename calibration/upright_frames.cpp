#include "upright_frames.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/free_views.hpp"
#include "../geometry/vector3.hpp"
#include "../kernels/trial_slices.hpp"
#include "changed_views.hpp"

namespace tandem::calibration {

namespace {

/// Whether all views have this roll, about this cell.
bool all_have(const auto& scan, double roll, const CellPlace& foot) {
  constexpr double angle = 1e-6, cells = 1e-3;
  return std::ranges::all_of(scan.views, [&](const FlexibleView& view) {
    const CellPlace its = place_of(scan, view);
    return std::abs(roll_of(scan, view) - roll) < angle && std::abs(its.bin - foot.bin) < cells &&
           std::abs(its.row - foot.row) < cells;
  });
}

/// Four cells about a place, which stay within so many, and their weights.
struct Four {
  std::array<Index, 4> cells{};
  kernels::FourRows of;
  Four(double place, Index count) : of(static_cast<float>(place - std::floor(place))) {
    for (Index k = 0; k < 4; ++k) cells[k] = std::clamp<Index>(floor_index(place) - 1 + k, 0, count - 1);
  }
};

float mean_at(const float* frame, Index bins, const Four& row, const Four& bin) {
  float sum = 0;
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x)
      sum += row.of.weights[y] * bin.of.weights[x] * frame[row.cells[y] * bins + bin.cells[x]];
  return sum;
}

}  // namespace

double stand_upright(FrameStack& frames, const Scan& scan) {
  constexpr double least = 0.01;  // rows, at the ends of a row
  const auto views = as_free_views(scan);
  const FlexibleView& rolled = views.views.front();
  const double roll = roll_of(views, rolled);
  if (std::abs(roll) * frames.bins < 2 * least || !all_have(views, roll, place_of(views, rolled))) return 0;
  const auto level = changed(views, {.roll = -roll});
  const FlexibleView& upright = level.views.front();
  const double middle_row = 0.5 * (frames.rows - 1), middle_bin = 0.5 * (frames.bins - 1);
  const Index cells = frames.rows * frames.bins;
  UnsetVector<float> values(frames.values.size());
  parallel_for(frames.rows, [&](Index row) {
    std::vector<std::pair<Four, Four>> fours;  // rows and bins
    for (Index bin = 0; bin < frames.bins; ++bin) {
      const CellPlace at = place_of(
          views, rolled,
          upright.detector + (row - middle_row) * upright.row_step + (bin - middle_bin) * upright.bin_step);
      fours.emplace_back(Four(at.row + middle_row, frames.rows), Four(at.bin + middle_bin, frames.bins));
    }
    for (Index view = 0; view < frames.views(); ++view)
      for (Index bin = 0; bin < frames.bins; ++bin)
        values[view * cells + row * frames.bins + bin] =
            mean_at(frames.values.data() + view * cells, frames.bins, fours[bin].first, fours[bin].second);
  });
  frames.values = std::move(values);
  return roll;
}

}  // namespace tandem::calibration
