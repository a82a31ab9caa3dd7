// The axis of a fan beam. The ray of the view at angle t that leaves the central one by g is the same line as
// that of the view at t + pi - 2 g that leaves it by -g (geometry/scan.hpp: its direction is t - g). Two bins
// that mirror each other about the axis see such rays: what both measured is compared for trial axes.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"
#include "tandem/pipeline/axis_misfit.hpp"
#include "tandem/pipeline/center.hpp"

namespace tandem::pipeline {

namespace {

constexpr double whole = 2 * std::numbers::pi;
constexpr double same = 1e-6;  ///< rad: views so close are at one angle, which files round

/// Line integrals (view, row, bin) at equal steps of a whole turn, bins averaged and smoothed; where views
/// fill the turn, less the mean of each bin over the views: rings do not count.
struct Fan {
  Index views = 0, rows = 0, bins = 0;
  double cell = 0;            ///< a bin over the distance to the source
  std::vector<char> known{};  ///< whether there are views near
  std::vector<float> values{};

  const float* line(Index view, Index row) const { return values.data() + (view * rows + row) * bins; }
  double angle_of(Index view) const { return whole * static_cast<double>(view) / static_cast<double>(views); }
};

/// Views in the order of their angles, modulo a whole turn.
struct Order {
  std::vector<double> angles;
  std::vector<Index> views;

  explicit Order(const std::vector<double>& given) {
    std::vector<std::pair<double, Index>> all;
    for (const double a : given)
      all.emplace_back(a - whole * std::floor(a / whole), static_cast<Index>(all.size()));
    std::sort(all.begin(), all.end());
    for (const auto& [angle, view] : all) angles.push_back(angle), views.push_back(view);
  }
  std::size_t next(std::size_t k) const { return k + 1 < angles.size() ? k + 1 : 0; }
  double gap(std::size_t k) const {
    return next(k) > k ? angles[k + 1] - angles[k] : angles.front() + whole - angles[k];
  }
  /// The typical step; views at the same angle count as one, and there are not many more steps than views.
  double step() const {
    std::vector<double> gaps;
    for (std::size_t k = 0; k < angles.size(); ++k)
      if (gap(k) > same) gaps.push_back(gap(k));
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
    return std::max(gaps[gaps.size() / 2], 0.25 * whole / static_cast<double>(angles.size()));
  }
};

/// Means of `factor` bins, smoothed by 1 4 6 4 1, so that interpolation between bins takes no noise away.
std::vector<float> smoothed(const float* line, Index bins, Index factor) {
  const Index kept = bins / factor;
  std::vector<float> means(static_cast<std::size_t>(kept)), out(means.size());
  for (Index b = 0; b < kept; ++b) {
    for (Index i = b * factor; i < (b + 1) * factor; ++i) means[static_cast<std::size_t>(b)] += line[i];
    means[static_cast<std::size_t>(b)] /= static_cast<float>(factor);
  }
  const auto at = [&](Index b) { return means[static_cast<std::size_t>(std::clamp<Index>(b, 0, kept - 1))]; };
  for (Index b = 0; b < kept; ++b)
    out[static_cast<std::size_t>(b)] = (at(b - 2) + at(b + 2) + 4 * (at(b - 1) + at(b + 1)) + 6 * at(b)) / 16;
  return out;
}

void subtract_means(Fan& fan) {
  const Index cells = fan.rows * fan.bins;
  parallel_for(cells, [&](Index cell) {
    double sum = 0;
    for (Index v = 0; v < fan.views; ++v)
      sum += static_cast<double>(fan.values[static_cast<std::size_t>(v * cells + cell)]);
    const auto mean = static_cast<float>(sum / static_cast<double>(fan.views));
    for (Index v = 0; v < fan.views; ++v) fan.values[static_cast<std::size_t>(v * cells + cell)] -= mean;
  });
}

Fan fan_of(std::span<const float> lines, const ConeBeam& scan, Index factor) {
  constexpr double widest = 2.5;  // steps between views that may be interpolated
  const Order order(scan.angles);
  const double step = order.step();
  const Detector& d = scan.detector;
  Fan fan{static_cast<Index>(std::lround(whole / step)), d.rows, d.bins / factor,
          static_cast<double>(factor) * d.bin_pitch / scan.sdd};
  fan.known.assign(static_cast<std::size_t>(fan.views), 0);
  fan.values.assign(static_cast<std::size_t>(fan.views * fan.rows * fan.bins), 0.0f);
  parallel_for(fan.views, [&](Index v) {
    const double angle = fan.angle_of(v);
    const auto above = std::upper_bound(order.angles.begin(), order.angles.end(), angle + same);
    const auto before = static_cast<std::size_t>(above - order.angles.begin());
    const std::size_t k = (before > 0 ? before : order.angles.size()) - 1;
    double past = angle - order.angles[k];
    if (past < -same) past += whole;
    past = std::max(0.0, past);
    if (order.gap(k) > widest * step && past > same) return;
    const double share = past / std::max(order.gap(k), same);
    fan.known[static_cast<std::size_t>(v)] = 1;
    for (Index row = 0; row < fan.rows; ++row) {
      const auto from = [&](std::size_t i) {
        return smoothed(lines.data() + (order.views[i] * d.rows + row) * d.bins, d.bins, factor);
      };
      const std::vector<float> a = from(k), b = from(order.next(k));
      for (Index bin = 0; bin < fan.bins; ++bin)
        fan.values[static_cast<std::size_t>((v * fan.rows + row) * fan.bins + bin)] = static_cast<float>(
            (1 - share) * a[static_cast<std::size_t>(bin)] + share * b[static_cast<std::size_t>(bin)]);
    }
  });
  if (std::count(fan.known.begin(), fan.known.end(), 1) == fan.views) subtract_means(fan);
  return fan;
}

/// Sums over pairs of opposite rays.
struct Agreement {
  double product = 0, energy = 0;
  Agreement& operator+=(const Agreement& o) {
    product += o.product, energy += o.energy;
    return *this;
  }
  /// 0 where both measured the same, 1 where they have nothing in common.
  double misfit() const { return energy > 0 ? 1 - 2 * product / energy : 1; }
};

constexpr Index groups = 16;  ///< of neighbouring views, whose disagreement is the uncertainty
using Agreements = std::array<Agreement, groups>;

/// Pairs about the axis c: a bin above it, and the mirrored place below between bins (Catmull, Rom 1974) and
/// between views.
Agreements compare(const Fan& fan, double c) {
  const double mirrored = 2 * c, f = mirrored - std::floor(mirrored);
  const auto whole_part = static_cast<Index>(std::floor(mirrored));
  const std::array<double, 4> w{f * (-0.5 + f * (1 - 0.5 * f)), 1 + f * f * (-2.5 + 1.5 * f),
                                f * (0.5 + f * (2 - 1.5 * f)), f * f * (0.5 * f - 0.5)};
  const Index first = std::max(static_cast<Index>(std::floor(c)) + 1, whole_part - (fan.bins - 3)),
              last = std::min(fan.bins, whole_part);  // the mirrored bin from 1 to bins - 3
  Agreements sums;
  parallel_for(groups, [&](Index group) {
    Agreement& sum = sums[static_cast<std::size_t>(group)];
    for (Index bin = first; bin < last; ++bin) {
      const double turn = 0.5 - 2 * std::atan((static_cast<double>(bin) - c) * fan.cell) / whole;
      const double shift = (turn - std::floor(turn)) * static_cast<double>(fan.views);
      const auto steps = static_cast<Index>(shift);
      const double g = shift - static_cast<double>(steps);
      const Index place = whole_part - bin;
      for (Index v = group * fan.views / groups; v < (group + 1) * fan.views / groups; ++v) {
        const Index one = (v + steps) % fan.views, two = (one + 1) % fan.views;
        const auto known = [&](Index view) { return fan.known[static_cast<std::size_t>(view)] != 0; };
        if (!known(v) || !known(one) || !known(two)) continue;
        for (Index row = 0; row < fan.rows; ++row) {
          const float *p = fan.line(one, row) + place, *q = fan.line(two, row) + place;
          double b = 0;
          for (Index k = 0; k < 4; ++k)
            b += w[static_cast<std::size_t>(k)] *
                 ((1 - g) * static_cast<double>(p[k - 1]) + g * static_cast<double>(q[k - 1]));
          const double a = static_cast<double>(fan.line(v, row)[bin]);
          sum.product += a * b;
          sum.energy += a * a + b * b;
        }
      }
    }
  });
  return sums;
}

Agreement joint(const Agreements& parts) {
  Agreement all;
  for (const Agreement& part : parts) all += part;
  return all;
}

/// Where the rays that agree best are, by trial; where hardly any are compared, nothing is found.
double best_trial(const Fan& fan, double from, double to, double step) {
  constexpr double least = 0.02;  // of all energy
  const double all = [&] {
    double sum = 0;
    for (const float v : fan.values) sum += static_cast<double>(v) * static_cast<double>(v);
    return sum;
  }();
  double best = std::numeric_limits<double>::infinity(), place = 0.5 * (from + to);
  for (double c = from; c <= to; c += step) {
    const Agreement here = joint(compare(fan, c));
    if (here.energy < least * all || here.misfit() >= best) continue;
    best = here.misfit(), place = c;
  }
  return place;
}

struct Minimum {
  double c, deviation, agreement;
};

/// The place of the parabola through three misfits, and how far the groups of views differ on it.
Minimum parabola(const Fan& fan, double c) {
  constexpr double h = 0.5;
  Minimum found{c, std::numeric_limits<double>::infinity(), 0};
  for (int i = 0; i < 3; ++i) {
    const Agreements low = compare(fan, found.c - h), mid = compare(fan, found.c),
                     high = compare(fan, found.c + h);
    const double energy = joint(mid).energy;
    double slope = 0, curvature = 0, squares = 0;
    for (std::size_t k = 0; k < low.size(); ++k) {
      const auto part = [&](const Agreements& a) { return (a[k].energy - 2 * a[k].product) / energy; };
      const double own = (part(high) - part(low)) / (2 * h);
      slope += own, squares += own * own;
      curvature += (part(high) - 2 * part(mid) + part(low)) / (h * h);
    }
    if (!(curvature > 0)) return {found.c, std::numeric_limits<double>::infinity(), 0};
    squares -= slope * slope / static_cast<double>(low.size());  // about their mean
    found.agreement = 1 - joint(mid).misfit();
    found.deviation = std::sqrt(std::max(0.0, squares)) / curvature;
    found.c += std::clamp(-slope / curvature, -h, h);
  }
  return found;
}

void check(std::span<const float> line_integrals, const ConeBeam& scan, const AxisSearch& search) {
  validate(scan);
  const Detector& d = scan.detector;
  constexpr std::size_t least = 16;
  require<SpaceError>(line_integrals.size() == scan.angles.size() * static_cast<std::size_t>(d.rows * d.bins),
                      "center: ", line_integrals.size(), " line integrals; ", scan.angles.size(), " views x ",
                      d.rows, " rows x ", d.bins, " bins are needed");
  require<GeometryError>(d.bins >= 16 && scan.angles.size() >= least, "center: ", scan.angles.size(),
                         " views of ", d.bins, " bins; at least ", least, " views of 16 bins are needed");
  require<GeometryError>(search.method != AxisMethod::vo,
                         "center vo: is for parallel beams; of a cone beam opposite rays are compared");
}

}  // namespace

AxisEstimate find_axis(std::span<const float> line_integrals, const ConeBeam& scan,
                       const AxisSearch& search) {
  check(line_integrals, scan, search);
  constexpr Index few = 256;  // bins for the first look over all of the detector
  const Detector& d = scan.detector;
  const double end = static_cast<double>(d.bins - 1);
  const auto between = search.between.value_or(std::array{0.02 * end, 0.98 * end});
  require<GeometryError>(between[0] < between[1], "center: nothing lies between bins ", between[0], " and ",
                         between[1], "; give the lower one first");
  std::array<double, 2> range = between;
  Minimum found{};
  double at = 0;
  for (const Index factor : {(d.bins + few - 1) / few, averaged(d.bins)}) {
    const Fan fan = fan_of(line_integrals, scan, factor);
    const double f = static_cast<double>(factor);
    const auto coarse = [&](double bin) { return (bin + 0.5) / f - 0.5; };
    const double place = best_trial(fan, coarse(range[0]), coarse(range[1]), 0.5);
    found = parabola(fan, place);
    at = (found.c + 0.5) * f - 0.5;
    range = {std::max(between[0], at - 2 * f), std::min(between[1], at + 2 * f)};
    found.deviation *= f;
  }
  require<GeometryError>(std::isfinite(found.deviation), "center opposite: ", d.rows,
                         d.rows == 1 ? " row holds" : " rows hold", " nothing between bins ", between[0],
                         " and ", between[1],
                         " by which to tell the axis; choose other rows, or others to look between");
  return {std::clamp(at, between[0], between[1]), found.deviation, found.agreement, AxisMethod::opposite};
}

}  // namespace tandem::pipeline
