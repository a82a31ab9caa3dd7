#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "scans.hpp"
#include "stripes.hpp"

// A scan with broad, soft rings, as scintillators, optics and drifting flats leave them.

namespace tandem::test {

constexpr Index ring_bins = 1024, ring_views = 900;
constexpr double ring_axis = 0.5 * (ring_bins - 1) + 1.3;
constexpr double half_of_rings = 0.5 * ring_bins;  // mm, with bins of 1 mm at the axis

/// A stripe: columns from its middle to half its height, and over how many it rises there (a squared sine).
struct SoftStripe {
  double middle, half_width, rise, height;

  double at(double bin) const {
    const double t = std::clamp((half_width + 0.5 * rise - std::abs(bin - middle)) / rise, 0.0, 1.0);
    return height * std::pow(std::sin(0.5 * std::numbers::pi * t), 2);
  }
};

/// 3 to 40 columns wide, the first two near the axis; heights in shares of the largest line integral, at most
/// 3 %. `turned`: all of the opposite sign.
inline std::vector<SoftStripe> soft_stripes_of_case(bool turned = false) {
  constexpr double axis = ring_axis;
  std::vector<SoftStripe> all{{axis + 9, 2, 3, .01},       {axis - 31, 5, 5, -.015},
                              {axis + 68, 4, 4, .015},     {axis - 96, 9, 10, .02},
                              {axis + 141, 1.5, 2, -.012}, {axis - 177, 3, 3, .012},
                              {axis + 213, 14, 16, -.03},  {axis - 251, 6, 8, -.012},
                              {axis + 300, 20, 24, .02},   {axis - 330, 11, 12, .015}};
  for (SoftStripe& stripe : all) stripe.height *= turned ? -1 : 1;
  return all;
}

/// A body whose outline lies beyond the rings, and 60 ellipses in it, of 10 to 20 % more or less, which do
/// not overlap.
inline Phantom body_with_grains() {
  Random random(2);
  const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  Phantom phantom{{{1, {.93, .86, INFINITY}, {.01, -.02, 0}, .4}}};
  while (phantom.ellipsoids.size() < 61) {
    const double a = std::exp(between(std::log(.012), std::log(.06))), x = between(-.8, .8),
                 y = between(-.8, .8);
    const auto touches = [&](const Ellipsoid& other) {
      return std::hypot(x - other.centre[0], y - other.centre[1]) < a + other.semi_axes[0];
    };
    const auto& all = phantom.ellipsoids;
    if (std::hypot(x, y) + a > .8 || std::any_of(all.begin() + 1, all.end(), touches)) continue;
    phantom.ellipsoids.push_back({(random.uniform() < .5 ? -1 : 1) * between(.1, .2),
                                  {a, a * between(.6, 1), INFINITY},
                                  {x, y, 0},
                                  between(0, 3)});
  }
  return phantom;
}

/// High frequencies of the radial mean of a slice: the mean over the pixels at each whole distance r from the
/// axis, each pixel shared by linear interpolation between the two radii beside it, less its own mean over
/// r - 20 to r + 20; of that the root mean square over r from 4 to 0.32 of the pixels of a row.
inline double radial_high_frequencies(const Array& slice, Index n) {
  const Index last = 8 * n / 25, beside = 20;
  std::vector<double> sums(static_cast<std::size_t>(last + beside + 2), 0.0), counts = sums;
  const double middle = 0.5 * static_cast<double>(n - 1);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const double r = std::hypot(static_cast<double>(i) - middle, static_cast<double>(j) - middle),
                   t = r - std::floor(r);
      const auto k = static_cast<std::size_t>(r);
      if (k + 1 >= sums.size()) continue;
      const double value = slice.data()[i * n + j];
      sums[k] += (1 - t) * value, counts[k] += 1 - t;
      sums[k + 1] += t * value, counts[k + 1] += t;
    }
  const auto mean = [&](Index r) {
    const auto k = static_cast<std::size_t>(std::abs(r));
    return sums[k] / counts[k];
  };
  double squares = 0;
  for (Index r = 4; r < last; ++r) {
    double around = 0;
    for (Index d = -beside; d <= beside; ++d) around += mean(r + d);
    squares += std::pow(mean(r) - around / static_cast<double>(2 * beside + 1), 2);
  }
  return std::sqrt(squares / static_cast<double>(last - 4));
}

/// A scan of that body, by a parallel beam over half a turn or by a fan over a whole one, with noise of
/// counts.
class BroadRings {
 public:
  enum class Beam { parallel, fan };

  explicit BroadRings(Beam beam)
      : scan_(beam == Beam::parallel ? Scan(parallel()) : Scan(fan())),
        phantom_(scaled(body_with_grains(), half_of_rings * (beam == Beam::fan ? .97 : 1), 1)) {
    const double most = std::visit([&](const auto& s) { return largest_line_integral(phantom_, s); }, scan_);
    phantom_ = scaled(phantom_, 1, most_line_integral / most);
    lines_.resize(static_cast<std::size_t>(ring_views * ring_bins));
    std::visit([&](const auto& s) { project(phantom_, s, {0, 1}, lines_); }, scan_);
  }

  const Phantom& phantom() const { return phantom_; }

  /// Transmissions of 40,000 photons a cell.
  Plane transmissions(const std::vector<SoftStripe>& stripes, double photons = 4e4) const {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    Plane plane(ring_views, ring_bins);
    for (Index view = 0; view < ring_views; ++view)
      for (Index b = 0; b < ring_bins; ++b) {
        double p = lines_[static_cast<std::size_t>(view * ring_bins + b)];
        const double counts = photons * std::exp(-p);
        for (const SoftStripe& s : stripes) p += most_line_integral * s.at(static_cast<double>(b));
        plane(view, b) = static_cast<float>(std::exp(-p) * (1 + normal(random) / std::sqrt(counts)));
      }
    return plane;
  }

  /// A slice of them, pixels of a bin.
  Array slice(const Plane& transmissions) const {
    return std::visit(
        [&](const auto& s) {
          Array y(projection_space(s));
          for (Index i = 0; i < y.size(); ++i)
            y.data()[i] = -std::log(std::max(1e-6f, transmissions.values[static_cast<std::size_t>(i)]));
          return reconstructed(s, y);
        },
        scan_);
  }

  static constexpr double most_line_integral = 2.3;

 private:
  using Scan = std::variant<ParallelBeam, ConeBeam>;
  static ParallelBeam parallel() {
    return {.detector = {.bins = ring_bins, .axis_bin = ring_axis}, .angles = regular_angles(ring_views)};
  }
  static ConeBeam fan() {
    return {.detector = {.bins = ring_bins, .bin_pitch = 2, .row_pitch = 2, .axis_bin = ring_axis},
            .angles = regular_angles(ring_views, 2 * std::numbers::pi),
            .sod = 3000,
            .sdd = 6000};
  }
  static VolumeGrid grid() { return {{ring_bins, ring_bins, 1}, {1, 1, 1}, {0, 0, 0}}; }
  static Array reconstructed(const ParallelBeam& s, const Array& y) {
    return fbp(projector(s, grid(), Model::pixel_driven), s, grid(), {.window = Window::ramp}) * y;
  }
  static Array reconstructed(const ConeBeam& s, const Array& y) {
    return fdk(s, grid(), {.window = Window::ramp}, Model::pixel_driven) * y;
  }

  Scan scan_;
  Phantom phantom_;
  std::vector<float> lines_;
};

}  // namespace tandem::test
