#include "sharp_slices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "../core/parallel.hpp"
#include "../geometry/flexible_views.hpp"
#include "../geometry/free_views.hpp"
#include "../kernels/trial_slices.hpp"
#include "../operators/algebra.hpp"
#include "../operators/orbit_fbp.hpp"
#include "upright_frames.hpp"

namespace tandem::calibration {

namespace {

constexpr double share_of_width = 0.4;

/// One in some views, so that no more than `most` are left.
std::vector<Index> some_views(Index views) {
  constexpr Index most = 400;
  std::vector<Index> kept;
  for (Index view = 0; view < views; view += (views + most - 1) / most) kept.push_back(view);
  return kept;
}

FrameStack thinned(const FrameStack& frames, const std::vector<Index>& kept) {
  const Index cells = frames.rows * frames.bins;
  FrameStack some{{}, frames.rows, frames.bins, {}, frames.bin_angle, frames.aspect};
  for (const Index view : kept) some.angles.push_back(frames.angles[view]);
  some.values.resize(some.views() * cells);
  parallel_for(some.views(), [&](Index k) {
    std::copy_n(frames.values.data() + kept[k] * cells, cells, some.values.data() + k * cells);
  });
  return some;
}

/// Middles of the voxels of a slice.
VolumeGrid grid_at(Index width, double cell, double height) {
  VolumeGrid grid{{width, width, 1}, {cell, cell, cell}};
  grid.centre[2] = height;
  return grid;
}

/// Where the pixels of a slice fall in a view, counted from the middle of the slice.
kernels::TrialPlace trial_place(const FlexiblePlace& view, Index width) {
  const double middle = 0.5 * (width - 1);
  const auto over_slice = [&](const Evenly& number) {
    return kernels::OverSlice{static_cast<float>(number.at(middle, middle, 0)),
                              static_cast<float>(number.step[0]), static_cast<float>(number.step[1])};
  };
  return {over_slice(view.bin), over_slice(view.row), over_slice(view.depth)};
}

/// The sum of products of the gradients of two slices, in each quarter of the disc.
std::vector<double> common_of(const float* a, const float* b, Index width) {
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
Smoothing even_smoothing(double elevation, double aspect) {
  constexpr double least = 0.1, rows = 1.0 / 3, bins = 1.0 / 6, most = 4;
  const double sine = std::abs(std::sin(elevation)), rise = sine / aspect,
               in_rows = (1 + bins) * rise * rise - rows;
  if (sine < least) return {};
  return in_rows >= 0 ? Smoothing{1, in_rows} : Smoothing{std::min(most, rows / (rise * rise) - bins), 0};
}

double sum_of(const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

SharpSlices::SharpSlices(const FrameStack& frames, const Scan& scan, Index factor, Device device) {
  const std::vector<Index> kept = some_views(frames.views());
  auto views = as_free_views(scan);
  const double elevation = elevation_of(views, views.views.front());
  FrameStack some = thinned(frames, kept);
  keep_views(views, kept);
  if (!leans(scan))
    if (const double roll = stand_upright(some, views); roll != 0) views = changed(views, {.roll = -roll});
  FrameStack level = smoothed(some, factor, even_smoothing(elevation, frames.aspect));
  subtract_means(level);
  views = bin_down(views, std::countr_zero(static_cast<std::uint64_t>(factor)), true);
  width_ = views.detector.bins, own_rows_ = views.detector.rows;
  cell_ = views.detector.bin_pitch / magnification(views);
  level_ = level_scan(views);
  const LinearOperator filter = ramp_filter(views, {}, device);
  filtered_.emplace(filter * vector_of(level, filter.domain()));
}

double SharpSlices::radius() const { return share_of_width * width_ * cell_; }

Array SharpSlices::slices(const std::vector<Change>& trials, const std::vector<double>& rows) const {
  constexpr double beside = 2;  // pixels of the disc that its gradients need
  kernels::TrialSlices all{width_, static_cast<float>(share_of_width * width_ + beside)};
  for (const Change& trial : trials) {
    const auto now = changed(level_.scan, trial);
    for (const double row : rows) {
      const VolumeGrid grid = grid_at(width_, cell_, height_on_axis(now, now.views.front(), row));
      for (const FlexiblePlace& view : places(now, grid).views)
        all.places.push_back(trial_place(view, width_));
    }
  }
  const Device device = filtered_->space().device();
  const Index halves = 2 * trials.size() * rows.size();
  Array slices(Space({halves, width_, width_}, Blocks::whole, device));
  kernels::trial_slices(device).back_project(all, image(ConstVectorView(*filtered_)),
                                             image(VectorView(slices)), default_stream(device));
  return on_device(std::move(slices), Device::cpu());
}

Energies SharpSlices::energies(const std::vector<Change>& trials, const std::vector<double>& rows) const {
  const Array all = slices(trials, rows);
  Energies energies(trials.size(), std::vector<std::vector<double>>(rows.size()));
  const Index pixels = width_ * width_;
  parallel_for(trials.size() * rows.size(), [&](Index k) {
    const float* even = all.data() + 2 * k * pixels;
    energies[k / rows.size()][k % rows.size()] = common_of(even, even + pixels, width_);
  });
  return energies;
}

double SharpSlices::common(const Change& change, const std::vector<double>& rows) const {
  const Array all = slices({change}, rows);
  double both = 0, one = 0, other = 0;
  const Index pixels = width_ * width_;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const float *even = all.data() + 2 * k * pixels, *odd = even + pixels;
    both += sum_of(common_of(even, odd, width_));
    one += sum_of(common_of(even, even, width_)), other += sum_of(common_of(odd, odd, width_));
  }
  return one > 0 && other > 0 ? both / std::sqrt(one * other) : 0;
}

std::vector<std::array<double, 2>> SharpSlices::shadows(const Change& change, double row) const {
  constexpr Index some = 16;
  const auto now = changed(level_.scan, change);
  const VolumeGrid four =
      grid_at(2, std::numbers::sqrt2 * radius(), height_on_axis(now, now.views.front(), row));
  const auto all = places(now, four);
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
  const double middle = 0.5 * (level_.scan.detector.rows - 1), half = 0.5 * (own_rows_ - 1),
               most = half - reserve;
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
  std::vector<double> tried;
  for (double row = -high; row <= high; row += step) tried.push_back(row);
  const Energies energy = energies({{}}, tried);
  std::vector<std::pair<double, double>> all;  // energy, less than 0, and row
  for (std::size_t k = 0; k < tried.size(); ++k) all.emplace_back(-sum_of(energy[0][k]), tried[k]);
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
