#include "inner_slopes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/ceil_div.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "slice_picture.hpp"
#include "whole_turn.hpp"

namespace tandem::calibration {

namespace {

constexpr Index widest_slice = 256;  ///< voxels a side
constexpr double slope_sigma = 2.5;  ///< sigma of slopes, voxels
constexpr double edge_sigma = 1.5;   ///< sigma at which edges are looked for
constexpr double from_edges = 6;     ///< voxels

struct Gradient {
  SlicePicture by_x, by_y;
};

Gradient gradient_of(const SlicePicture& p, double sigma) {
  const std::vector<float> flat = gaussian_kernel(sigma, false), steep = gaussian_kernel(sigma, true);
  return {convolved(p, steep, flat), convolved(p, flat, steep)};
}

SlicePicture weighted_sum(const SlicePicture& a, const SlicePicture& b, float of_a, float of_b) {
  SlicePicture sum = a;
  for (std::size_t k = 0; k < sum.values.size(); ++k) sum.values[k] = of_a * a.values[k] + of_b * b.values[k];
  return sum;
}

SlicePicture steepness_of(const SlicePicture& p, double sigma) {
  Gradient slope = gradient_of(p, sigma);
  for (std::size_t k = 0; k < p.values.size(); ++k)
    slope.by_x.values[k] = std::hypot(slope.by_x.values[k], slope.by_y.values[k]);
  return slope.by_x;
}

/// Slices of the powers 1, 2, ... of the line integrals of a turn over the largest one.
std::vector<SlicePicture> slices_of_powers(const WholeTurn& turn, Index terms, double largest) {
  const Index together = ceil_div(turn.rays, widest_slice), bins = turn.rays / together;
  ParallelBeam beam;
  beam.detector = {.bins = bins, .rows = terms};
  beam.detector.row_pitch = beam.detector.bin_pitch = together;  // in the steps of the turn
  beam.detector.axis_bin = (-turn.first / turn.step - 0.5 * (together - 1)) / together;
  for (Index v = 0; v < turn.views; ++v) beam.angles.push_back(turn.angle(v));
  VolumeGrid grid = fitting_grid(beam);
  const LinearOperator image = fbp(Scan(beam), grid);
  Array y(image.domain());
  parallel_for(turn.views, [&](Index v) {
    const std::span<const float> line = turn.view(0, v);
    for (Index bin = 0; bin < bins; ++bin) {
      float* to = y.data() + v * terms * bins + bin;
      for (Index k = 0; k < terms; ++k) to[k * bins] = 0;
      for (Index j = 0; j < together; ++j) {
        const double q = std::min(1.1, line[bin * together + j] / largest);
        double power = 1;
        for (Index k = 0; k < terms; ++k) to[k * bins] += static_cast<float>((power *= q) / together);
      }
    }
  });
  const Array made = image * y;
  const Index side = grid.size[0], area = side * grid.size[1];
  std::vector<SlicePicture> all;
  for (Index k = 0; k < terms; ++k)
    all.push_back({side, {made.data() + k * area, made.data() + (k + 1) * area}});
  return all;
}

/// The commonest value of a picture above air: of the main material. The uppermost values are left out, so
/// that little metal does not matter.
double commonest_attenuation(const SlicePicture& blurred, const std::vector<bool>& in_disc) {
  std::vector<float> all;
  double squares = 0, below = 0;  // noise of air is seen where it is below zero
  for (std::size_t k = 0; k < in_disc.size(); ++k)
    if (const float value = blurred.values[k]; in_disc[k]) {
      all.push_back(value);
      if (value < 0) squares += value * value, ++below;
    }
  std::ranges::sort(all);
  if (all.empty() || all.back() <= 0) return 0;
  const auto noise = static_cast<float>(6 * std::sqrt(squares / std::max(below, 1.0)));
  const std::span<const float> above(std::ranges::upper_bound(all, std::min(noise, 0.5f * all.back())),
                                     all.end());
  const double top = above[static_cast<std::size_t>(0.97 * (std::ssize(above) - 1))];
  constexpr Index classes = 80;
  std::vector<double> counts(classes + 2, 0.0);
  for (const float value : above)
    if (value < top) ++counts[1 + floor_index(classes * std::max(0.0, value / top))];
  double most = 0, at = top;
  for (Index k = classes / 4; k <= classes; ++k)  // three neighbours together, since classes are narrow
    if (const double some = counts[k - 1] + 2 * counts[k] + counts[k + 1]; some > most)
      most = some, at = top * (k - 0.5) / classes;
  return at;
}

/// The voxels of a sample.
struct Anatomy {
  std::vector<bool> inside{};  ///< far from all its edges
  bool has_metal = false;
};

Anatomy anatomy_of(const SlicePicture& even, const SlicePicture& odd) {
  const SlicePicture all = weighted_sum(even, odd, 0.5f, 0.5f);
  const SlicePicture blurred = convolved(all, gaussian_kernel(1, false), gaussian_kernel(1, false));
  const Index side = all.side;
  const double middle = 0.5 * (side - 1);
  std::vector<bool> in_disc(all.values.size());
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x) in_disc[y * side + x] = std::hypot(x - middle, y - middle) < 0.49 * side;
  const double main = commonest_attenuation(blurred, in_disc);
  const SlicePicture steep = steepness_of(all, edge_sigma),
                     noise = steepness_of(weighted_sum(even, odd, 0.5f, -0.5f), edge_sigma);
  double squares = 0, count = 0;
  std::vector<bool> body(in_disc.size());
  for (std::size_t k = 0; k < body.size(); ++k) {
    body[k] = in_disc[k] && blurred.values[k] > main / 2;
    if (body[k]) squares += noise.values[k] * noise.values[k], ++count;
  }
  const double edge = std::max(5 * std::sqrt(squares / std::max(count, 1.0)), 0.02 * main);
  Anatomy found{body};
  constexpr Index fewest = 4;
  constexpr float denser = 5;  // than the main material
  Index dense = 0;
  for (std::size_t k = 0; k < body.size(); ++k) dense += body[k] && blurred.values[k] > denser * main ? 1 : 0;
  found.has_metal = dense >= fewest;
  const Index reach = floor_index(from_edges);
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x) {
      const Index k = y * side + x;
      if (body[k] && steep.values[k] <= edge) continue;
      for (Index j = std::max<Index>(0, y - reach); j <= std::min(side - 1, y + reach); ++j)
        for (Index i = std::max<Index>(0, x - reach); i <= std::min(side - 1, x + reach); ++i)
          if (std::hypot(i - x, j - y) <= from_edges) found.inside[j * side + i] = false;
    }
  return found;
}

/// The quarters, about their centre, in which the voxels inside lie.
std::vector<int> quarters_of(const std::vector<bool>& inside, Index side) {
  Index all_x = 0, all_y = 0, count = 0;
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x)
      if (inside[y * side + x]) all_x += x, all_y += y, ++count;
  std::vector<int> quarters;
  for (Index y = 0; y < side; ++y)
    for (Index x = 0; x < side; ++x)
      if (inside[y * side + x]) quarters.push_back((x * count > all_x ? 1 : 0) + (y * count > all_y ? 2 : 0));
  return quarters;
}

/// Every second view of a row, from `first` on, as a whole turn.
std::optional<WholeTurn> half_turn_of(std::span<const float> row, const Scan& scan, Index first) {
  const std::vector<Index> order = order_of_views(scan);
  const Index bins = detector_of(scan).bins;
  std::vector<Index> kept;
  std::vector<float> lines;
  for (Index k = first; k < std::ssize(order); k += 2) {
    kept.push_back(order[k]);
    lines.insert(lines.end(), row.begin() + order[k] * bins, row.begin() + (order[k] + 1) * bins);
  }
  return whole_turn_of(lines, with_views(scan, kept), 1);
}

}  // namespace

std::optional<InnerSlopes> InnerSlopes::of(std::span<const float> row, const Scan& scan, Index terms,
                                           double largest) {
  const auto even = half_turn_of(row, scan, 0), odd = half_turn_of(row, scan, 1);
  if (!even || !odd) return {};
  const std::vector<SlicePicture> of_even = slices_of_powers(*even, terms, largest),
                                  of_odd = slices_of_powers(*odd, terms, largest);
  const auto [inside, has_metal] = anatomy_of(of_even.front(), of_odd.front());
  InnerSlopes made;
  made.largest_ = largest, made.terms_ = terms, made.voxels_ = std::ranges::count(inside, true);
  made.has_metal_ = has_metal;
  made.quarters_ = quarters_of(inside, of_even.front().side);
  const auto keep = [&inside = inside](const SlicePicture& from, std::vector<float>& to) {
    for (std::size_t k = 0; k < inside.size(); ++k)
      if (inside[k]) to.push_back(from.values[k]);
  };
  for (const auto& [from, to] : {std::pair(&of_even, &made.even_), std::pair(&of_odd, &made.odd_)})
    for (const SlicePicture& slice : *from) {
      const Gradient slope = gradient_of(slice, slope_sigma);
      keep(convolved(slice, gaussian_kernel(slope_sigma, false), gaussian_kernel(slope_sigma, false)),
           to->value);
      keep(slope.by_x, to->by_x), keep(slope.by_y, to->by_y);
    }
  return made;
}

std::array<double, 5> InnerSlopes::energies(std::span<const double> coefficients) const {
  std::vector<double> c(terms_, 0.0);
  for (Index k = 0; k < std::ssize(coefficients); ++k) c[k] = coefficients[k] * std::pow(largest_, k + 1);
  const auto sum = [&](const std::vector<float>& all, Index voxel) {
    double value = 0;
    for (Index k = 0; k < terms_; ++k) value += c[k] * all[k * voxels_ + voxel];
    return value;
  };
  std::array<double, 4> energy{}, count{};
  for (Index k = 0; k < voxels_; ++k) {
    const double value = 0.5 * (sum(even_.value, k) + sum(odd_.value, k));
    const double product = sum(even_.by_x, k) * sum(odd_.by_x, k) + sum(even_.by_y, k) * sum(odd_.by_y, k);
    energy[quarters_[k]] += product / (value * value), ++count[quarters_[k]];
  }
  const double all = std::accumulate(energy.begin(), energy.end(), 0.0), voxels = 1.0 * voxels_;
  std::array<double, 5> means{all / voxels};
  for (std::size_t k = 0; k < 4; ++k) means[k + 1] = (all - energy[k]) / std::max(1.0, voxels - count[k]);
  return means;
}

}  // namespace tandem::calibration
