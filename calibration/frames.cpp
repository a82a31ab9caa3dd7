#include "frames.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../geometry/view_angles.hpp"
#include "repeated_view.hpp"

namespace tandem::calibration {

namespace {

/// Some rows of a stack, (view, row, bin).
std::vector<float> rows_of(const FrameStack& frames, const std::vector<Index>& rows) {
  std::vector<float> lines;
  for (Index view = 0; view < frames.views(); ++view)
    for (const Index row : rows) {
      const float* line = frames.values.data() + (view * frames.rows + row) * frames.bins;
      lines.insert(lines.end(), line, line + frames.bins);
    }
  return lines;
}

/// The axis by some rows over the frame for parallel rays, and at its height for a point source.
AxisEstimate center_of(const FrameStack& frames, double row, bool reversed, Index count) {
  const bool parallel = frames.bin_angle == 0;
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k)
    rows.push_back(parallel ? (2 * k + 1) * frames.rows / (2 * count)
                            : std::clamp<Index>(std::lround(row) - count / 2, 0, frames.rows - count) + k);
  const std::vector<float> lines = rows_of(frames, rows);
  if (parallel) return find_axis(lines, frames.angles, count, frames.bins);
  ConeBeam scan{{.bins = frames.bins, .rows = count, .bin_pitch = frames.bin_angle}, frames.angles, 0.5, 1};
  scan.detector.axis_bin = 0.5 * (frames.bins - 1);
  if (reversed) std::ranges::transform(scan.angles, scan.angles.begin(), std::negate());
  return find_axis(lines, scan);
}

/// The axis by five rows for parallel rays and by three for a point source, or by four times as many if these
/// do not tell it.
AxisEstimate center_of(const FrameStack& frames, double row, bool reversed) {
  const Index few = frames.bin_angle == 0 ? 5 : 3;
  try {
    return center_of(frames, row, reversed, std::min(few, frames.rows));
  } catch (const GeometryError&) {
    if (frames.rows <= few) throw;
  }
  return center_of(frames, row, reversed, std::min(4 * few, frames.rows));
}

/// The estimate for one sense of rotation, at first by cells that are joined four by four.
FrameCalibration coarse(const FrameStack& frames, double row, bool reversed) {
  FrameCalibration all{{}, center_of(frames, row, reversed), reversed};
  all.line = find_axis_line(frames, {all.center.axis_bin, row, 0}, {reversed, 4});
  return all;
}
void by_all_cells(FrameCalibration& all, const FrameStack& frames, double row) {
  all.line = find_axis_line(frames, {all.center.axis_bin, row, 0}, {all.reversed});
}

/// The axis of some rows, about this one, where that is surer.
void take_surer(FrameCalibration& all, double row, double aspect) {
  AxisLineEstimate& line = all.line;
  if (line.verdict == Verdict::resolved && line.axis_uncertainty < all.center.uncertainty) return;
  line.line.axis_bin = all.center.axis_bin + (line.line.row - row) * aspect * std::tan(line.line.roll);
  line.axis_uncertainty = all.center.uncertainty;
}

/// Refuses an axis that what does not turn leaves open: by chance, noise is then alike about some bin.
void require_axis(const FrameCalibration& all, Index bins) {
  constexpr double nothing_in_common = 0.7;
  const double most = all.line.misfit < nothing_in_common ? 0.05 : 0.01;  // share of the width
  const double share = all.line.axis_uncertainty / bins;
  require<GeometryError>(
      share < most, "calibrate: opposite rays tell the axis to no better than ", std::round(100 * share),
      " % of the width, as if nothing in the frames turned; choose other rows, or give the "
      "axis to recon");
}

double mean_square(const FrameStack& frames, Index a, Index b) {
  const Index cells = frames.rows * frames.bins;
  double sum = 0;
  for (Index k = 0; k < cells; ++k)
    sum += std::pow(double{frames.values[a * cells + k]} - frames.values[b * cells + k], 2);
  return sum / cells;
}

/// Whether neighbours differ by more than noise: then those two steps apart differ more.
bool moves(const FrameStack& frames) {
  constexpr double more = 2;
  return mean_square(frames, 0, 2) > more * mean_square(frames, 0, 1);
}

}  // namespace

std::string_view name_of(LastView view) {
  constexpr std::array<std::string_view, 4> names{"unknown", "as said", "doubled", "missing"};
  return row_of(names, view);
}

LastView last_view_of(const FrameStack& frames, double axis) {
  const Index n = frames.views();
  if (n < 4) return LastView::unknown;
  const double step = std::abs(frames.angles[1] - frames.angles[0]),
               span = std::abs(frames.angles.back() - frames.angles.front());
  for (const double period : {whole_turn, half_turn}) {
    const bool mirrored = period == half_turn;
    if (mirrored && frames.bin_angle != 0) continue;
    const auto is_period = [&](double angle) { return std::abs(angle - period) < 0.25 * step; };
    if (!is_period(span) && !is_period(span + step)) continue;
    const bool repeats =
        repeats_first_view(frames.values, {n, frames.rows, frames.bins}, {0, 1, n - 2, n - 1},
                           mirrored ? std::optional(axis) : std::nullopt);
    if (repeats) return is_period(span) ? LastView::as_said : LastView::doubled;
    if (!moves(frames)) return LastView::unknown;
    return is_period(span) ? LastView::missing : LastView::as_said;
  }
  return LastView::unknown;
}

namespace {

/// The sense of rotation that leaves less between opposite rays. Joined cells tell it, if the other one
/// leaves clearly more.
FrameCalibration by_better_sense(const FrameStack& frames, double row) {
  constexpr double clearly = 1.5;
  std::vector<FrameCalibration> senses;
  std::string why;
  for (const bool reversed : {false, true}) try {
      senses.push_back(coarse(frames, row, reversed));
    } catch (const GeometryError& fault) {
      if (!reversed) why = fault.what();
    }
  require<GeometryError>(!senses.empty(), why);
  const auto better_first = [&] {
    std::ranges::stable_sort(senses, {}, [](const FrameCalibration& sense) { return sense.line.misfit; });
    return senses.size() == 1 ? INFINITY : senses[1].line.misfit / std::max(1e-9, senses[0].line.misfit);
  };
  double other = better_first();
  if (other > clearly) {
    by_all_cells(senses[0], frames, row);
  } else {
    for (FrameCalibration& sense : senses) by_all_cells(sense, frames, row);
    other = better_first();
  }
  if (std::isfinite(other)) senses[0].other_sense = other;
  return senses[0];
}

}  // namespace

FrameCalibration calibrate_by_frames(const FrameStack& frames, double row) {
  FrameCalibration all;
  if (frames.bin_angle == 0)
    all.center = center_of(frames, row, false), by_all_cells(all, frames, row);
  else
    all = by_better_sense(frames, row);
  take_surer(all, row, frames.aspect);
  require_axis(all, frames.bins);
  all.last_view = last_view_of(frames, all.line.line.axis_bin);
  return all;
}

}  // namespace tandem::calibration
