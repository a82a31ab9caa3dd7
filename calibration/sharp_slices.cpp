#include "sharp_slices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/level_scan.hpp"
#include "../operators/orbit_fbp.hpp"

namespace tandem::calibration {

namespace {

constexpr double share_of_width = 0.4;

/// One in some views, so that no more than `most` are left.
void thin(FrameStack& frames, FlexibleBeam& scan) {
  constexpr Index most = 400;
  const Index stride = (frames.views() + most - 1) / most, cells = frames.rows * frames.bins;
  if (stride < 2) return;
  std::vector<Index> kept;
  FrameStack some = frames;
  some.values.clear(), some.angles.clear();
  for (Index view = 0; view < frames.views(); view += stride) {
    kept.push_back(view);
    some.angles.push_back(frames.angles[view]);
    const auto first = frames.values.begin() + view * cells;
    some.values.insert(some.values.end(), first, first + cells);
  }
  keep_views(scan, kept);
  frames = std::move(some);
}

/// Middles of the voxels of a slice.
VolumeGrid grid_at(Index width, double cell, double height) {
  VolumeGrid grid{{width, width, 1}, {cell, cell, cell}};
  grid.centre[2] = height;
  return grid;
}

/// The weights of four rows about a place, by cubic splines: what waves lose by them hardly depends on where
/// the place lies between rows. (A mean of two rows loses most half way between them. Slices of a leaning
/// axis have rays at all places between rows, those of an upright one at one place, so the lean would look
/// sharper than it is.)
struct FourRows {
  Index first;
  std::array<float, 4> weights;
  explicit FourRows(double place) {
    const auto below = static_cast<Index>(place);
    const auto f = static_cast<float>(place - below), g = 1 - f;
    first = below - 1;
    weights = {g * g * g / 6, 2.0F / 3 - f * f * (1 - f / 2), 2.0F / 3 - g * g * (1 - g / 2), f * f * f / 6};
  }
};

/// Adds a row of pixels: of each what its ray sees, over the square of its distance.
void add_row(const FlexiblePlace& place, const float* frame, const Detector& d, Index y, Range pixels,
             float* line) {
  const double bins = d.bins - 1, rows = d.rows - 2, iy = y;
  for (Index x = pixels.first; x < pixels.last; ++x) {
    const double ix = x, near = 1 / place.depth.at(ix, iy, 0), u = place.bin.at(ix, iy, 0) * near,
                 v = place.row.at(ix, iy, 0) * near;
    if (!(u >= 0 && u < bins && v >= 1 && v < rows)) continue;
    const auto bin = static_cast<Index>(u);
    const auto a = static_cast<float>(u - bin);
    const FourRows four(v);
    const float* at = frame + four.first * d.bins + bin;
    float sum = 0;
    for (const float weight : four.weights) {
      sum += weight * (at[0] + a * (at[1] - at[0]));
      at += d.bins;
    }
    line[x] += static_cast<float>(near * near) * sum;
  }
}

/// The pixels of a line that the disc has, and one beside it on either side.
Range pixels_in_disc(Index width, Index y) {
  const double middle = 0.5 * (width - 1), up = y - middle, radius = share_of_width * width + 2;
  const double half = std::sqrt(std::max(0.0, radius * radius - up * up));
  return {std::max<Index>(0, ceil_index(middle - half)), std::min(width, floor_index(middle + half) + 1)};
}

/// The sum of products of the gradients of two slices, in each quarter of the disc.
std::vector<double> common_of(const std::vector<float>& a, const std::vector<float>& b, Index width) {
  std::vector<double> sums(4, 0);
  const double radius = share_of_width * width, middle = 0.5 * (width - 2);
  for (Index y = 0; y + 1 < width; ++y)
    for (Index x = 0; x + 1 < width; ++x) {
      const double right = x - middle, up = y - middle;
      if (std::hypot(right, up) >= radius) continue;
      const std::size_t k = y * width + x, above = k + width;
      sums[(right > 0 ? 1U : 0U) + (up > 0 ? 2U : 0U)] +=
          1.0 * (a[k + 1] - a[k]) * (b[k + 1] - b[k]) + 1.0 * (a[above] - a[k]) * (b[above] - b[k]);
    }
  return sums;
}

/// Smoothing for a scan whose rays rise, such that slices are as smooth along rays as across: what is one row
/// is 1 / sin of the rise in the plane of a slice. (If it is not, a wrong rise makes slices sharper: the
/// plane seems stretched, and edges along the smoother direction gain more than the others lose.)
/// Interpolation smooths, too: by a third of a row and a sixth of a bin, squared.
Smoothing even_smoothing(const FlexibleBeam& scan, double aspect) {
  constexpr double least = 0.1, rows = 1.0 / 3, bins = 1.0 / 6, most = 4;
  const double sine = std::abs(std::sin(elevation_of(scan, scan.views.front()))), rise = sine / aspect,
               in_rows = (1 + bins) * rise * rise - rows;
  if (sine < least) return {};
  return in_rows >= 0 ? Smoothing{1, in_rows} : Smoothing{std::min(most, rows / (rise * rise) - bins), 0};
}

double sum_of(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

SharpSlices::SharpSlices(const FrameStack& frames, const FlexibleBeam& scan, Index factor) {
  FrameStack level = smoothed(frames, factor, even_smoothing(scan, frames.aspect));
  FlexibleBeam views = bin_down(scan, std::countr_zero(static_cast<std::uint64_t>(factor)), true);
  subtract_means(level);
  thin(level, views);
  width_ = views.detector.bins, own_rows_ = views.detector.rows;
  cell_ = views.detector.bin_pitch / magnification(views);
  const LinearOperator filter = ramp_filter(views);
  level_ = level_scan(views).scan;
  Array y(filter.domain()), filtered(filter.range());
  std::copy(level.values.begin(), level.values.end(), y.data());
  filter.apply(1, y, 0, filtered, default_stream(Device::cpu()));
  filtered_.assign(filtered.data(), filtered.data() + filtered.size());
}

double SharpSlices::radius() const { return share_of_width * width_ * cell_; }

std::vector<float> SharpSlices::slice(const Change& change, double row, Index first, Index step) const {
  const FlexibleBeam now = changed(level_, change);
  const VolumeGrid grid = grid_at(width_, cell_, height_on_axis(now, now.views.front(), row));
  const FlexibleViews all = places(now, grid);
  const Detector& d = now.detector;
  std::vector<float> slice(width_ * width_, 0);
  parallel_for_blocks(width_, 16, [&](Range lines) {
    for (Index view = first; view < views_of(now); view += step)
      for (Index y = lines.first; y < lines.last; ++y)
        add_row(all.views[view], filtered_.data() + view * d.rows * d.bins, d, y, pixels_in_disc(width_, y),
                slice.data() + y * width_);
  });
  return slice;
}

std::vector<std::vector<double>> SharpSlices::energy(const Change& change,
                                                     const std::vector<double>& rows) const {
  std::vector<std::vector<double>> all;
  for (const double row : rows)
    all.push_back(common_of(slice(change, row, 0, 2), slice(change, row, 1, 2), width_));
  return all;
}

double SharpSlices::common(const Change& change, const std::vector<double>& rows) const {
  double both = 0, one = 0, other = 0;
  for (const double row : rows) {
    const std::vector<float> even = slice(change, row, 0, 2), odd = slice(change, row, 1, 2);
    both += sum_of(common_of(even, odd, width_));
    one += sum_of(common_of(even, even, width_)), other += sum_of(common_of(odd, odd, width_));
  }
  return one > 0 && other > 0 ? both / std::sqrt(one * other) : 0;
}

std::vector<std::array<double, 2>> SharpSlices::shadows(const Change& change, double row) const {
  constexpr Index some = 16;
  const FlexibleBeam now = changed(level_, change);
  const VolumeGrid four =
      grid_at(2, std::numbers::sqrt2 * radius(), height_on_axis(now, now.views.front(), row));
  const FlexibleViews all = places(now, four);
  std::vector<std::array<double, 2>> cells;
  for (Index k = 0; k < some; ++k)
    for (const double x : {0, 1})
      for (const double y : {0, 1}) {
        const auto at = all.views[k * views_of(now) / some].on_flat(x, y, 0);
        cells.push_back({at.bin, at.row});
      }
  return cells;
}

std::vector<double> SharpSlices::far_rows(double reserve) const {
  const double middle = 0.5 * (level_.detector.rows - 1), half = 0.5 * (own_rows_ - 1), most = half - reserve;
  const auto stays = [&](double row) {
    return std::ranges::all_of(shadows({}, row),
                               [&](const auto& cell) { return std::abs(cell[1] - middle) <= most; });
  };
  double low = -half, high = half;
  while (high > low && !stays(high)) high -= 0.5;
  while (low < high && !stays(low)) low += 0.5;
  const double centre = 0.5 * (low + high), away = 0.5 * (high - low);
  std::vector<double> rows;
  for (const double share : {-1.0, -0.5, 0.5, 1.0}) rows.push_back(centre + share * away);
  return rows;
}

std::vector<double> SharpSlices::fullest_rows(double reserve) const {
  constexpr double most = 40;
  const double high = std::max(0.0, 0.5 * (own_rows_ - 1) - reserve), step = std::max(1.0, 2 * high / most);
  std::vector<std::pair<double, double>> all;  // energy and row
  for (double row = -high; row <= high; row += step) {
    double sum = 0;
    for (const std::vector<double>& slice : energy({}, {row})) sum -= sum_of(slice);
    all.emplace_back(sum, row);
  }
  std::ranges::sort(all);
  std::vector<double> rows;
  for (std::size_t k = 0; k < std::min<std::size_t>(4, all.size()); ++k) rows.push_back(all[k].second);
  return rows;
}

double SharpSlices::reach_of(const Change& small, const std::vector<double>& rows) const {
  double most = 0;
  for (const double row : rows) {
    const auto before = shadows({}, row), after = shadows(small, row);
    for (std::size_t k = 0; k < before.size(); ++k)
      most = std::max(most, std::hypot(after[k][0] - before[k][0], after[k][1] - before[k][1]));
  }
  return most;
}

}  // namespace tandem::calibration
