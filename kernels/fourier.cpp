#include "fourier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "../core/ceil_div.hpp"
#include "../core/error.hpp"
#include "../core/instruction_set.hpp"
#include "../core/newest_results.hpp"
#include "../core/rounding.hpp"
#include "ramp.hpp"

namespace tandem::kernels {

namespace {

constexpr double pi = std::numbers::pi;

/// Pixels are counted from this one, and so is the phase of a ray.
Index middle(Index pixels) { return pixels / 2; }

/// How finely the frequencies of a slice are sampled, and how many of them a sample meets.
struct Gridding {
  double accuracy;  ///< measured: of back-projected noise against the sum in double (docs/kernels/bounds.md)
  double oversampling;
  int taps;
};
constexpr std::array griddings{Gridding{1e-3, 1.25, 5}, Gridding{1e-4, 1.5, 6}, Gridding{1e-5, 1.5, 7}};

const Gridding& gridding_for(double accuracy) {
  const auto found = std::find_if(griddings.begin(), griddings.end(),
                                  [&](const Gridding& g) { return g.accuracy <= accuracy; });
  require<GeometryError>(found != griddings.end(), "Fourier model: accuracy ", accuracy,
                         " is beyond float32; ", griddings.back().accuracy, " or more is needed");
  return *found;
}

/// The Kaiser-Bessel window I0(beta sqrt(1 - (2 d / taps)^2)) / I0(beta) as a polynomial of v in [-1, 1], by
/// Chebyshev interpolation. `share` is the part of the grid that pixels take. Source of beta: Beatty,
/// Nishimura, Pauly, IEEE TMI 24(6) 799, 2005, nearly.
std::vector<float> window_of(int taps, double share) {
  const double beta = 0.99 * pi * taps * (1 - 0.5 * share);
  const int degree = taps + 3, nodes = 64;
  std::vector<double> sum(degree + 1, 0.0);
  std::vector<double> before{1}, now{0, 1};  // Chebyshev polynomials as sums of powers
  for (int i = 0; i <= degree; ++i) {
    double factor = 0;
    for (int j = 0; j < nodes; ++j) {
      const double angle = pi * (j + 0.5) / nodes, v = std::cos(angle);
      factor += std::cyl_bessel_i(0.0, beta * std::sqrt(std::max(0.0, 0.5 * (1 - v)))) * std::cos(i * angle);
    }
    factor *= (i == 0 ? 1.0 : 2.0) / nodes / std::cyl_bessel_i(0.0, beta);
    for (std::size_t j = 0; j < before.size(); ++j) sum[j] += factor * before[j];
    std::vector<double> next(now.size() + 1, 0.0);
    for (std::size_t j = 0; j < now.size(); ++j) next[j + 1] += 2 * now[j];
    for (std::size_t j = 0; j < before.size(); ++j) next[j] -= before[j];
    before = std::exchange(now, std::move(next));
  }
  return {sum.begin(), sum.end()};
}

/// One over the transform of the window at the distance of each pixel from the middle one.
std::vector<float> gains(const std::vector<float>& window, int taps, Index pixels, Index cells) {
  constexpr int steps = 400;
  std::vector<double> value(steps);
  for (int j = 0; j < steps; ++j) {
    const double d = (j + 0.5) / steps - 0.5, v = 8 * d * d - 1;
    for (std::size_t i = window.size(); i-- > 0;) value[j] = value[j] * v + window[i];
  }
  std::vector<float> gain(pixels);
  for (Index i = 0; i < pixels; ++i) {
    const double turn = 2 * pi * taps * (i - middle(pixels)) / cells;
    double sum = 0;
    for (int j = 0; j < steps; ++j) sum += value[j] * std::cos(turn * ((j + 0.5) / steps - 0.5));
    gain[i] = static_cast<float>(steps / (taps * sum));
  }
  return gain;
}

/// The least length >= `count` that transforms fast on every device: 2^a 3^b 5^c, in whole 64s.
Index line_length(Index count) {
  constexpr Index unit = 64;
  for (Index n = ceil_div(count, unit);; ++n)
    if (transform_length(unit * n) == unit * n) return unit * n;
}

/// Cells along an axis. Small slices have some more, which cost little: near the edges, where gains are
/// large, fewer numbers average what rounding leaves.
Index cells_for(Index pixels, double oversampling) {
  constexpr Index more = 64;
  return line_length(std::max(ceil_index(oversampling * pixels), pixels + more));
}

/// The bins on which the corners of a grid fall in any view.
std::pair<double, double> bins_met(const ParallelBeam& scan, const VolumeGrid& grid) {
  double least = 0, most = 0;
  for (std::size_t v = 0; v < scan.angles.size(); ++v)
    for (const int corner : {0, 1, 2, 3}) {
      const double angle = scan.angles[v];
      const double x = grid.x(corner % 2 ? grid.size[0] - 1 : 0),
                   y = grid.y(corner / 2 ? grid.size[1] - 1 : 0);
      const double bin = scan.detector.axis_bin + scan.shift_of(v) +
                         (x * std::cos(angle) + y * std::sin(angle)) / scan.detector.bin_pitch;
      least = std::min(least, bin), most = std::max(most, bin);
    }
  return {least, most};
}

/// The samples k of [0, count) for which low < start + step k < high, and perhaps one more at each end.
std::pair<double, double> between(double step, double start, double low, double high, double count) {
  if (std::abs(step) < 1e-9)
    return start > low - 1 && start < high + 1 ? std::pair{0.0, count} : std::pair{0.0, 0.0};
  const double a = (low - start) / step, b = (high - start) / step;
  return {std::clamp(std::floor(std::min(a, b)), 0.0, count),
          std::clamp(std::ceil(std::max(a, b)) + 1, 0.0, count)};
}

/// An image of all samples on the grid, which repeats itself: at sign k (step_x, step_y) + (shift_x,
/// shift_y).
struct Images {
  int sign, shift_x, shift_y;
};

/// Tiles in rows; the last ones of rows and columns may reach beyond the grid.
struct Tiling {
  Index across, down;
  int first_y;  ///< cell
  explicit Tiling(const FourierSizes& n)
      : across(ceil_div<Index>(n.columns(), frequency_tile)),
        down(ceil_div<Index>(n.cells_y, frequency_tile)),
        first_y(int_of(-n.cells_y / 2)) {}
  Index count() const { return across * down; }
  int x(Index tile) const { return static_cast<int>(tile % across * frequency_tile); }
  int y(Index tile) const { return static_cast<int>(tile / across * frequency_tile) + first_y; }
  /// The row of tiles that has cell y, or the nearest one.
  Index row_of(double cell) const {
    return floor_index(std::clamp((cell - first_y) / frequency_tile, 0.0, down - 1.0));
  }
};

/// body(tile, run) for all tiles that an image of a ray meets.
template <class Body>
void for_runs(const FourierPlan& plan, const Tiling& tiling, const Images& image, int view,
              const Body& body) {
  const double reach = 0.5 * plan.taps + window_shift, wide = frequency_tile - 1 + 2 * reach;
  const double count = plan.samples();
  const Ray& ray = plan.rays[view];
  const double step_x = image.sign * ray.step_x, step_y = image.sign * ray.step_y;
  for (Index column = 0; column < tiling.across; ++column) {
    const double left = tiling.x(column) - reach;
    const auto [a, b] = between(step_x, image.shift_x, left, left + wide, count);
    if (a >= b) continue;
    const double y0 = a * step_y + image.shift_y, y1 = b * step_y + image.shift_y;
    const Index last = tiling.row_of(std::max(y0, y1) + reach);
    for (Index row = tiling.row_of(std::min(y0, y1) - reach); row <= last; ++row) {
      const Index tile = row * tiling.across + column;
      const double top = tiling.y(tile) - reach;
      const auto [c, d] = between(step_y, image.shift_y, top, top + wide, count);
      const Run run{view,
                    static_cast<int>(std::max(a, c)),
                    static_cast<int>(std::min(b, d)),
                    image.sign,
                    image.shift_x,
                    image.shift_y};
      if (run.first < run.last) body(tile, run);
    }
  }
}

/// The runs of each tile, in a fixed order, tiles that most rays meet first.
void add_tiles(FourierPlan& plan) {
  const Tiling tiling(plan);
  const int all_x = int_of(plan.cells_x), all_y = int_of(plan.cells_y);
  std::vector<std::vector<Run>> runs(tiling.count());
  for (const int sign : {1, -1})
    for (const int shift_x : {0, all_x})
      for (const int shift_y : {0, -all_y, all_y})
        for (std::size_t v = 0; v < plan.rays.size(); ++v)
          for_runs(plan, tiling, {sign, shift_x, shift_y}, int_of(v),
                   [&](std::size_t tile, const Run& run) { runs[tile].push_back(run); });
  std::vector<std::size_t> order(runs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return runs[a].size() > runs[b].size(); });
  for (const std::size_t i : order) {
    const Index tile = i;
    plan.tiles.push_back(
        {tiling.x(tile), tiling.y(tile), plan.runs.size(), plan.runs.size() + runs[i].size()});
    plan.runs.insert(plan.runs.end(), runs[i].begin(), runs[i].end());
  }
}

Ray ray_of(const FourierPlan& plan, const ParallelBeam& scan, const VolumeGrid& grid, std::size_t view) {
  const double angle = scan.angles[view], length = plan.length;
  const double bins_x = grid.pitch[0] / scan.detector.bin_pitch,
               bins_y = grid.pitch[1] / scan.detector.bin_pitch;
  const double step_x = std::cos(angle) * bins_x * plan.cells_x / length,
               step_y = std::sin(angle) * bins_y * plan.cells_y / length;
  const bool turned = step_x < 0;
  return {turned ? -step_x : step_x, turned ? -step_y : step_y, turned};
}

/// The length of the transform of a row: at least twice the bins, and so long that no row comes in again at
/// its other end anywhere in the grid. Rows that are moved take more. Samples of a ray lie at most one of
/// `cells` apart.
Index row_length(const ParallelBeam& scan, const VolumeGrid& grid, double cells) {
  const auto [least, most] = bins_met(scan, grid);
  const double bins = scan.detector.bins;
  double length = std::max({2 * bins, bins - 2 * least, 2 * most - bins + 2});
  if (!scan.row_axis_bins.empty()) length += 2 * furthest_axis(scan.detector);
  return line_length(ceil_index(std::max(length, cells)));
}

FourierPlan make_plan(const FourierSizes& sizes, const ParallelBeam& scan, const VolumeGrid& grid,
                      double accuracy) {
  FourierPlan plan;
  static_cast<FourierSizes&>(plan) = sizes;
  plan.window = window_of(plan.taps, 1 / gridding_for(accuracy).oversampling);
  plan.gain_x = gains(plan.window, plan.taps, plan.nx, plan.cells_x);
  plan.gain_y = gains(plan.window, plan.taps, plan.ny, plan.cells_y);
  for (std::size_t v = 0; v < scan.angles.size(); ++v) plan.rays.push_back(ray_of(plan, scan, grid, v));
  add_tiles(plan);
  return plan;
}

/// The costs of a sample and of a cell, in coefficients of direct back-projection. Direct back-projection
/// gains the most from wide vectors.
struct Costs {
  double sample, cell;
};
Costs costs_on(Device device) {
  if (device.is_cuda()) return {100, 60};
  const int floats = floats_a_vector();
  return floats > 8   ? Costs{140, 110}
         : floats > 4 ? Costs{110, 90}
         : floats > 1 ? Costs{75, 60}
                      : Costs{38, 30};
}

}  // namespace

std::complex<double> row_phase(Index k, const FourierSizes& n, double t) {
  const double turns = k * t / n.length;
  return std::polar(1.0, 2 * pi * (turns - std::floor(turns)));
}

FourierVariant fourier_row(decltype(FourierVariant::forward) forward,
                           decltype(FourierVariant::backward) backward) {
  return {.name = "fourier",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = forward,
          .backward = backward,
          .working_memory = nullptr,  // fourier_memory, which needs more than shapes
          .kernels =
              [](Device) {
                return std::vector<std::string>{"Fourier forward", "Fourier backward"};
              },
          .coefficient = fourier_coefficient};
}

FourierSizes fourier_sizes(const ParallelBeam& scan, const VolumeGrid& grid, double accuracy) {
  validate(scan);
  validate(grid);
  require<GeometryError>(grid.size[2] == scan.detector.rows, "VolumeGrid: ", grid.size[2], " slices for ",
                         scan.detector.rows, " detector rows; a parallel beam has one slice per row");
  const Gridding& gridding = gridding_for(accuracy);
  FourierSizes sizes{};
  sizes.bins = scan.detector.bins, sizes.nx = grid.size[0], sizes.ny = grid.size[1];
  sizes.cells_x = cells_for(sizes.nx, gridding.oversampling);
  sizes.cells_y = cells_for(sizes.ny, gridding.oversampling);
  const double bins_x = grid.pitch[0] / scan.detector.bin_pitch,
               bins_y = grid.pitch[1] / scan.detector.bin_pitch;
  sizes.length = row_length(scan, grid, std::max(bins_x * sizes.cells_x, bins_y * sizes.cells_y));
  // no frequency beyond half a cycle per bin, nor per pixel
  sizes.highest = floor_index(0.5 * sizes.length / std::max({1.0, bins_x, bins_y}));
  sizes.taps = gridding.taps;
  return sizes;
}

bool fourier_is_faster(const FourierSizes& n, Index views, Device device) {
  const Costs costs = costs_on(device);
  const double v = views;
  return costs.sample * v * n.samples() + costs.cell * (n.columns() * n.cells_y) < v * (n.nx * n.ny);
}

std::shared_ptr<const FourierPlan> fourier_plan(const ParallelBeam& scan, const VolumeGrid& grid,
                                                double accuracy) {
  // what a plan is made of: it is the same for any rows, slices and axis
  using Key = std::tuple<FourierSizes, double, std::vector<double>, double, double>;
  static NewestResults<Key, FourierPlan> kept(2);
  const FourierSizes sizes = fourier_sizes(scan, grid, accuracy);
  return kept.result({sizes, scan.detector.bin_pitch, scan.angles, grid.pitch[0], grid.pitch[1]},
                     [&] { return make_plan(sizes, scan, grid, accuracy); });
}

FourierViews with_response(FourierViews views, const std::vector<double>& response,
                           std::vector<float> view_weights, std::vector<double> row_shifts) {
  views.view_weights = std::move(view_weights), views.row_shifts = std::move(row_shifts);
  views.weights.clear();
  for (Index k = 0; k <= views.plan->highest; ++k) {
    // zero, and the frequency of which a row has only the sum with its negative, count half on each side
    const double half = k == 0 || 2 * k == views.plan->length ? 0.5 : 1.0;
    views.weights.push_back(static_cast<float>(half * response[k] / views.plan->length));
  }
  return views;
}

FourierViews fourier_views(std::shared_ptr<const FourierPlan> plan, const ParallelBeam& scan,
                           const VolumeGrid& grid) {
  const double x = grid.x(middle(plan->nx)), y = grid.y(middle(plan->ny));
  std::vector<double> centres;
  for (std::size_t v = 0; v < scan.angles.size(); ++v)
    centres.push_back(scan.detector.axis_bin + scan.shift_of(v) +
                      (x * std::cos(scan.angles[v]) + y * std::sin(scan.angles[v])) /
                          scan.detector.bin_pitch);
  const std::vector<double> response(plan->samples(), 1.0);
  return with_response({std::move(plan), std::move(centres), {}, {}}, response,
                       std::vector<float>(scan.angles.size(), 1.0f), {});
}

double fourier_coefficient(const FourierViews& views, Index view, Index x, Index y, Index bin) {
  const FourierPlan& plan = *views.plan;
  const Ray& ray = plan.rays[view];
  const double length = plan.length, turn = ray.turned ? -1 : 1;
  const double bins_x = turn * ray.step_x * length / plan.cells_x,
               bins_y = turn * ray.step_y * length / plan.cells_y;
  const double t =
      views.centres[view] + bins_x * (x - middle(plan.nx)) + bins_y * (y - middle(plan.ny)) - bin;
  double sum = 0;
  for (Index k = 0; k <= plan.highest; ++k)
    sum += 2 * double{views.weights[k]} * std::cos(2 * pi * k * t / length);
  return views.view_weights[view] * sum;
}

}  // namespace tandem::kernels
