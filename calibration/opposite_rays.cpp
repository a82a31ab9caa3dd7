// The axis by rays that are measured twice. In the view at angle t, take the ray at an angle g from the
// central ray. It is the same line as the ray at -g in the view at t + pi - 2 g (geometry/scan.hpp: its
// direction is t - g). In a parallel beam g is 0. Two bins that mirror each other about the axis see such
// rays. Their values are compared for trial axes, as far as both bins are on the detector.

#include "ways.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/view_angles.hpp"
#include "axis_misfit.hpp"
#include "frame_stack.hpp"
#include "spread.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

namespace {

using Places = std::vector<std::optional<Between>>;  ///< at equal steps of a whole turn

/// Line integrals (view, row, bin) at equal steps of a whole turn, with bins averaged and smoothed. So that
/// rings do not count, the mean of each bin over the views is subtracted if views fill the turn. If they
/// leave holes in it, the means are subtracted for each pair.
struct Turn {
  Index views = 0, rows = 0, bins = 0;
  double bin_angle = 0;
  Places places{};
  std::vector<float> values{};
  double energy = 0;       ///< sum of squares
  bool has_holes = false;  ///< whether views have holes, although they go all round

  const float* line(Index view, Index row) const { return values.data() + (view * rows + row) * bins; }
  bool known(Index view) const { return places[view].has_value(); }
};

void subtract_means(Turn& turn) {
  const Index cells = turn.rows * turn.bins;
  parallel_for(cells, [&](Index cell) {
    double sum = 0;
    for (Index v = 0; v < turn.views; ++v) sum += turn.values[v * cells + cell];
    const auto mean = static_cast<float>(sum / turn.views);
    for (Index v = 0; v < turn.views; ++v) turn.values[v * cells + cell] -= mean;
  });
}

Turn turn_of(const Rays& rays, const Places& places, Index factor) {
  Turn turn{std::ssize(places), rays.rows, rays.bins / factor, factor * rays.bin_angle, places};
  turn.values.assign(turn.views * turn.rows * turn.bins, 0.0f);
  parallel_for(turn.views, [&](Index v) {
    if (!places[v]) return;
    const Between& place = *places[v];
    for (Index row = 0; row < turn.rows; ++row) {
      const auto from = [&](Index view) {
        return smoothed(rays.line_integrals.data() + (view * rays.rows + row) * rays.bins, rays.bins, factor);
      };
      const std::vector<float> a = from(place.before), b = from(place.after);
      for (Index bin = 0; bin < turn.bins; ++bin)
        turn.values[(v * turn.rows + row) * turn.bins + bin] =
            static_cast<float>((1 - place.share) * a[bin] + place.share * b[bin]);
    }
  });
  if (std::all_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); }))
    subtract_means(turn);
  else
    turn.has_holes = all_round(rays.angles);
  for (const float v : turn.values) turn.energy += double{v} * v;
  return turn;
}

/// Sums over pairs of opposite rays.
struct RayAgreement {
  double product = 0, energy = 0;
  RayAgreement& operator+=(const RayAgreement& o) {
    product += o.product, energy += o.energy;
    return *this;
  }
  /// The misfit: 0 if both measured the same, 1 if they have nothing in common.
  double misfit() const { return energy > 0 ? 1 - 2 * product / energy : 1; }
};

constexpr Index groups = 16;  ///< number of groups of neighbouring views, and of neighbouring distances

/// The bins that are compared with their mirror images, and the axis that defines neighbours among pairs.
struct Compared {
  Range bins;
  double axis;  ///< a pair has the view of its upper ray, and the distance of this ray from here
  Index band_of(Index bin) const {
    const double most = std::max(axis - bins.first, bins.last - axis);
    const auto band = floor_index(std::abs(bin - axis) / most * groups);
    return std::clamp<Index>(band, 0, groups - 1);
  }
};

/// The bins whose mirror images about c, and about places up to `beside` away, are on the detector. The
/// outermost bins, which smoothing changes, are left out.
Compared compared(const Turn& turn, double c, double beside) {
  constexpr Index margin = 2;
  const Index lowest = floor_index(2 * (c - beside)), highest = floor_index(2 * (c + beside));
  const Index first = std::max(margin, highest - (turn.bins - margin - 3)),
              last = std::min(turn.bins - margin, lowest - margin);
  return {{first, std::max(first, last)}, c};
}

/// RayAgreements of pairs, (distance, view, row).
using RayAgreements = std::vector<RayAgreement>;

/// Pairs about the axis c of the rays of a bin and of the mirrored place, interpolated between bins
/// (`cubic_weights`) and between views.
class Pairs {
 public:
  Pairs(const Turn& turn, double c, Index bin) : turn_(turn), bin_(bin) {
    const double mirrored = 2 * c, f = mirrored - std::floor(mirrored);
    place_ = floor_index(mirrored) - bin;
    w_ = cubic_weights(f);
    const double angle = 0.5 - 2 * std::atan((bin - c) * turn.bin_angle) / whole_turn;
    const double shift = (angle - std::floor(angle)) * turn.views;
    steps_ = static_cast<Index>(shift);
    g_ = shift - steps_;
  }
  Index opposite(Index v) const { return (v + steps_) % turn_.views; }
  bool known(Index v) const { return turn_.known(v) && turn_.known(opposite(v)) && turn_.known(next(v)); }
  std::array<double, 2> at(Index v, Index row) const {
    const float *p = turn_.line(opposite(v), row) + place_, *q = turn_.line(next(v), row) + place_;
    double b = 0;
    for (Index k = 0; k < 4; ++k) b += w_[k] * ((1 - g_) * p[k - 1] + g_ * q[k - 1]);
    return {turn_.line(v, row)[bin_], b};
  }
  /// The means over all views, for each row; zeros if they are subtracted already.
  std::vector<std::array<double, 2>> means() const {
    std::vector<std::array<double, 2>> means(turn_.rows);
    if (!turn_.has_holes) return means;
    double count = 0;
    for (Index v = 0; v < turn_.views; ++v) {
      if (!known(v)) continue;
      ++count;
      for (Index row = 0; row < turn_.rows; ++row) {
        const auto [a, b] = at(v, row);
        means[row][0] += a, means[row][1] += b;
      }
    }
    for (auto& mean : means)
      for (double& m : mean) m /= std::max(1.0, count);
    return means;
  }

 private:
  Index next(Index v) const {
    constexpr double rounding = 1e-6;  // steps
    return g_ > rounding ? (opposite(v) + 1) % turn_.views : opposite(v);
  }

  const Turn& turn_;
  Index bin_, place_, steps_;
  double g_;
  std::array<double, 4> w_;
};

RayAgreements compare(const Turn& turn, const Compared& what, double c) {
  const Index rows = turn.rows;
  RayAgreements sums(groups * groups * rows);
  parallel_for(groups, [&](Index band) {
    RayAgreement* const sum = &sums[band * groups * rows];
    for (Index bin = what.bins.first; bin < what.bins.last; ++bin) {
      if (what.band_of(bin) != band) continue;
      const Pairs pairs(turn, c, bin);
      const std::vector<std::array<double, 2>> means = pairs.means();
      const bool upper = bin >= what.axis;
      for (Index v = 0; v < turn.views; ++v) {
        if (!pairs.known(v)) continue;
        for (Index row = 0; row < rows; ++row) {
          const auto& mean = means[row];
          const auto [a_there, b_there] = pairs.at(v, row);
          const double a = a_there - mean[0], b = b_there - mean[1];
          RayAgreement& pair = sum[(upper ? v : pairs.opposite(v)) * groups / turn.views * rows + row];
          pair.product += a * b;
          pair.energy += a * a + b * b;
        }
      }
    }
  });
  return sums;
}

RayAgreement joint(const RayAgreements& parts) {
  RayAgreement all;
  for (const RayAgreement& part : parts) all += part;
  return all;
}

/// The score of the statement that these rays are opposite; a lower one is better. For n pairs with normal
/// errors the log-likelihood ratio is -n log(misfit), so that agreement of few pairs counts little. Their
/// energy stands for n. Interpolated values agree within a hundredth at best.
double unlikelihood(double energy, double misfit) { return energy * std::log(0.01 + misfit); }

std::vector<Trial> trials_of(const Turn& turn, double from, double to, bool aside) {
  constexpr double step = 0.5;
  std::vector<Trial> trials;
  for (double c = from; c <= to; c += step) {
    if (aside && !is_aside({.bins = turn.bins, .axis_bin = c})) continue;
    Compared what = compared(turn, c, 0);
    what.bins.first = std::max(what.bins.first, floor_index(c) + 1);  // each pair once
    const RayAgreement here = joint(compare(turn, what, c));
    trials.push_back({c, unlikelihood(here.energy, here.misfit())});
  }
  return trials;
}

struct Minimum {
  double c, deviation;
  RayAgreement rays;
  double curvature;  ///< curvature of the sum of squared differences
};

/// The pulls from misfits at c - h, c and c + h, in the parts that `part_of` gives.
template <class PartOf>
std::vector<Pull> pulls(const std::array<RayAgreements, 3>& at, double h, Index parts,
                        const PartOf& part_of) {
  std::vector<Pull> all(parts);
  for (std::size_t k = 0; k < at[0].size(); ++k) {
    const auto e = [&](std::size_t i) { return at[i][k].energy - 2 * at[i][k].product; };
    all[part_of(k)] += Pull{(e(2) - e(0)) / (2 * h), (e(2) - 2 * e(1) + e(0)) / (h * h)};
  }
  return all;
}

/// The minimum of the parabola through three misfits of the same rays, and how much rows, views and distances
/// from the axis differ about it.
Minimum parabola(const Turn& turn, double c) {
  constexpr double h = 0.5, floor = 0.02;
  Minimum found{c, std::numeric_limits<double>::infinity(), {}, 0};
  for (int i = 0; i < 4; ++i) {
    const Compared what = compared(turn, found.c, h);
    const std::array at{compare(turn, what, found.c - h), compare(turn, what, found.c),
                        compare(turn, what, found.c + h)};
    const Index rows = turn.rows;
    const std::array partings{pulls(at, h, groups, [&](Index k) { return k / (groups * rows); }),
                              pulls(at, h, groups, [&](Index k) { return k / rows % groups; }),
                              pulls(at, h, rows, [&](Index k) { return k % rows; })};
    Pull all;
    for (const Pull& p : partings[0]) all += p;
    found.deviation = widest_spread(partings, floor);
    found.rays = joint(at[1]);
    found.curvature = all.curvature;
    if (!std::isfinite(found.deviation)) break;
    found.c += std::clamp(-all.slope / all.curvature, -h, h);
  }
  return found;
}

/// The deviation with the part that other trials add.
double rivals_of(const Minimum& found, const Trial& best, const std::vector<Trial>& trials) {
  const double misfit = found.rays.misfit(), own = found.deviation,
               rise = 0.5 * found.curvature * own * own / found.rays.energy;
  const double energy = 0.5 * found.rays.energy;  // since every pair is there twice
  const double all = spread_with_rivals(
      own, unlikelihood(energy, misfit + rise) - unlikelihood(energy, misfit), best, trials);
  return std::sqrt(std::max(0.0, all * all - own * own));
}

}  // namespace

double share_with_opposites(std::span<const double> angles) {
  const Places places = ViewsOfTurn(angles).equal_steps();
  const std::size_t n = places.size();
  std::size_t known = 0, twice = 0;
  for (std::size_t v = 0; v < n; ++v) {
    if (!places[v]) continue;
    ++known;
    twice += places[(v + n / 2) % n] && places[(v + (n + 1) / 2) % n];
  }
  return 1.0 * twice / known;
}

AxisEstimate axis_by_opposite_rays(const Rays& rays, const std::array<double, 2>& between, bool aside) {
  constexpr Index few = 256;  // bins for the first look over the whole range
  const Places places = ViewsOfTurn(rays.angles).equal_steps();
  AxisEstimate estimate{0, std::numeric_limits<double>::infinity(), 0, AxisMethod::opposite};
  std::array<double, 2> range = between;
  double rivals = 0;
  for (const Index factor : {(rays.bins + few - 1) / few, averaged(rays.bins)}) {
    const Turn turn = turn_of(rays, places, factor);
    const double f = factor;
    const std::vector<Trial> trials =
        trials_of(turn, (range[0] + 0.5) / f - 0.5, (range[1] + 0.5) / f - 0.5, aside);
    if (trials.empty()) break;  // the whole range is near the middle
    const Trial best = *std::min_element(trials.begin(), trials.end(),
                                         [](const Trial& a, const Trial& b) { return a.misfit < b.misfit; });
    const Minimum found = parabola(turn, best.axis);
    if (!(best.misfit < 0) || !std::isfinite(found.deviation)) return {0, INFINITY, 0, AxisMethod::opposite};
    rivals = std::max(rivals, f * rivals_of(found, best, trials));
    estimate = {(found.c + 0.5) * f - 0.5, std::hypot(f * found.deviation, rivals), 1 - found.rays.misfit(),
                AxisMethod::opposite};
    range = {std::max(between[0], estimate.axis_bin - 2 * f),
             std::min(between[1], estimate.axis_bin + 2 * f)};
    if (range[0] >= range[1]) break;  // at an end of the range that was asked for
  }
  return estimate;
}

}  // namespace tandem::calibration
