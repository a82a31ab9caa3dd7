#include "hardening.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "../counts/hardening_polynomial.hpp"
#include "center.hpp"
#include "inner_slopes.hpp"
#include "moments.hpp"

namespace tandem::calibration {

namespace {

/// The attenuation of the soft half of the beam over that of the mean.
double of_soft_half(double b, double w) { return (1 - (1 - w) * b) / w; }

}  // namespace

Least least_of(const std::function<double(double)>& f, double low, double high) {
  constexpr int steps = 24, halvings = 16;
  constexpr double golden = 0.381966011250105;
  Least best{high, f(high)};
  const double step = (high - low) / steps;
  for (int k = 0; k < steps; ++k)
    if (const double x = low + k * step, value = f(x); value < best.value) best = {x, value};
  double left = std::max(low, best.at - step), right = std::min(high, best.at + step);
  for (int k = 0; k < halvings; ++k) {
    const double a = left + golden * (right - left), b = right - golden * (right - left);
    const double of_a = f(a), of_b = f(b);
    if (of_a < best.value) best = {a, of_a};
    if (of_b < best.value) best = {b, of_b};
    (of_a < of_b ? right : left) = of_a < of_b ? b : a;
  }
  return best;
}

double rise_of(double b, double largest) {
  return pipeline::HardeningPolynomial(hardening_polynomial(b, soft_share, largest))(largest) / largest - 1;
}

namespace {

/// Whether rows do not come down to air at an end in some views: one in fifty is enough.
bool is_cut_off(const WholeTurn& turn, double largest) {
  const Index at_end = std::max<Index>(2, turn.rays / 64);
  constexpr double air = 0.05;  // a share of the largest line integral
  std::vector<double> low, high;
  for (Index k = 0; k < turn.rows * turn.views; ++k) {
    const std::span<const float> line = turn.view(0, k);
    low.push_back(std::abs(std::accumulate(line.begin(), line.begin() + at_end, 0.0) / at_end));
    high.push_back(std::abs(std::accumulate(line.end() - at_end, line.end(), 0.0) / at_end));
  }
  const auto most = [](std::vector<double>& ends) {
    const auto at = ends.end() - 1 - std::ssize(ends) / 50;
    std::nth_element(ends.begin(), at, ends.end());
    return *at;
  };
  return std::max(most(low), most(high)) > air * largest;
}

const std::vector<double> as_measured{1};

Least least_by_moments(const ViewMoments& moments, double w) {
  return least_of([&](double b) { return moments.misfit(hardening_polynomial(b, w, moments.largest())); },
                  lowest_b, 1);
}

/// What slopes inside one material tell. How much a curve bends grows with t = (1 - b)^2.
struct BySlopes {
  double t, uncertainty;  ///< by leaving out quarters of the voxels
  double energy_left;     ///< the energy of slopes, over that without a correction
  double b() const { return 1 - std::sqrt(std::max(0.0, t)); }
};

BySlopes least_by_slopes(const InnerSlopes& slopes, double largest) {
  constexpr std::array<double, 12> steps{0,    0.0025, 0.005, 0.01, 0.015, 0.025,
                                         0.04, 0.065,  0.1,   0.15, 0.23,  0.36};
  std::vector<std::array<double, 5>> energies;
  for (const double t : steps)
    energies.push_back(slopes.energies(hardening_polynomial(1 - std::sqrt(t), soft_share, largest)));
  // the least one of the parabola through three steps
  const auto least = [&](std::size_t part) {
    std::size_t k = 0;
    for (std::size_t j = 0; j < steps.size(); ++j)
      if (energies[j][part] < energies[k][part]) k = j;
    k = std::clamp<std::size_t>(k, 1, steps.size() - 2);
    const double before = steps[k - 1] - steps[k], after = steps[k + 1] - steps[k];
    const double fall = (energies[k - 1][part] - energies[k][part]) / before,
                 rise = (energies[k + 1][part] - energies[k][part]) / after;
    const double bend = (rise - fall) / (after - before);
    const double t = bend > 0 ? steps[k] - 0.5 * (fall - bend * before) / bend : steps[k];
    return std::clamp(t, steps[k - 1], steps[k + 1]);
  };
  const std::array<double, 4> parts{least(1), least(2), least(3), least(4)};
  double mean = 0, squares = 0, energy = energies.front()[0];
  for (const double t : parts) mean += t / 4;
  for (const double t : parts) squares += (t - mean) * (t - mean);
  for (const auto& of_step : energies) energy = std::min(energy, of_step[0]);
  return {least(0), std::sqrt(0.75 * squares), energy / energies.front()[0]};
}

/// The row of (view, row, bin) with the most in it.
std::vector<float> fullest_row(std::span<const float> lines, Index rows, Index bins) {
  const Index views = std::ssize(lines) / (rows * bins);
  std::vector<float> fullest;
  double most = -1;
  for (Index row = 0; row < rows; ++row) {
    std::vector<float> one;
    for (Index v = 0; v < views; ++v) {
      const auto line = lines.subspan((v * rows + row) * bins, bins);
      one.insert(one.end(), line.begin(), line.end());
    }
    const double sum = std::accumulate(one.begin(), one.end(), 0.0);
    if (sum > most || fullest.empty()) most = sum, fullest = std::move(one);
  }
  return fullest;
}

constexpr double much_noise = 4;
constexpr double largest_measured = 20;  ///< a transmission of 2e-9
constexpr double most_noise = 10;        ///< a hundredth of the mean line integral
constexpr Index fewest_inside = 400;

/// The verdict where moments see nothing: they could not if a small correction of consistent data would not
/// be seen either, as in a round body.
BeamVerdict verdict_of_agreement(Hardening& found, const ViewMoments& moments,
                                 const std::optional<BySlopes>& by_slopes) {
  constexpr double trial = 0.9;
  const double largest = moments.largest(),
               would_be = moments.misfit(hardening_polynomial(trial, soft_share, largest));
  if (would_be >= std::max(large_noise * found.noise, least_misfit)) return BeamVerdict::none;
  if (!by_slopes) {
    found.why_not = would_be < least_misfit
                        ? "projections of a round or a thin body agree with each other for any beam"
                        : "it would not stand out from the noise";
    return BeamVerdict::not_known;
  }
  if (rise_of(by_slopes->b(), largest) < least_rise) return BeamVerdict::none;
  if (by_slopes->t < 4 * by_slopes->uncertainty || by_slopes->energy_left > 0.5)
    return BeamVerdict::ambiguous;
  found.b = by_slopes->b();
  return BeamVerdict::hardened_by_slopes;
}

/// The verdict where projections do not agree. A curve that explains them must leave no more than noise, or a
/// twentieth, since rows differ; and slices must not tell of another one.
BeamVerdict verdict_of_misfit(const Hardening& found, const ViewMoments& moments,
                              const std::optional<BySlopes>& by_slopes) {
  if (found.after >= found.before / 2) return BeamVerdict::inconsistent;
  if (rise_of(found.b, moments.largest()) < least_rise) return BeamVerdict::none;
  double least = found.after;
  for (const double w : {0.2, 0.4, 0.5, 0.6}) least = std::min(least, least_by_moments(moments, w).value);
  const double t = (1 - found.b) * (1 - found.b);
  const bool disagrees = by_slopes && std::abs(by_slopes->t - t) >
                                          std::max(4 * by_slopes->uncertainty, std::max(by_slopes->t, t) / 2);
  const bool is_told = !found.has_metal && least < std::max(much_noise * found.noise, found.before / 20) &&
                       !disagrees && found.b > lowest_b + 0.01;
  return is_told ? BeamVerdict::hardened : BeamVerdict::ambiguous;
}

}  // namespace

std::string_view name_of(BeamVerdict verdict) {
  constexpr std::array<std::string_view, 6> names{"none",      "hardened",     "hardened by slopes",
                                                  "ambiguous", "inconsistent", "not known"};
  return names[static_cast<std::size_t>(verdict)];
}

std::vector<Index> rows_for_hardening(const Scan& scan, Range selected) {
  constexpr double most = 2;  // rows
  const std::optional<double> midplane = midplane_of(scan);
  std::vector<Index> rows = rows_for_axis(scan, selected, midplane ? 2 : 5);
  if (!midplane || rows.empty()) return rows;
  const ConeBeam& cone = point_source_of(scan);
  const double off = std::max(std::abs(rows.front() - *midplane), std::abs(rows.back() - *midplane));
  if (off * cone.detector.bins * cone.detector.bin_pitch / cone.sdd > most) return {};
  return rows;
}

std::vector<double> hardening_polynomial(double b, double w, double largest) {
  if (b >= 1) return as_measured;
  constexpr int steps = 200;
  const double a = of_soft_half(b, w), top = beyond * largest;
  std::vector<pipeline::LengthAndLine> lengths;
  for (int k = 1; k <= steps; ++k) {
    const double p = top / b * k / steps;
    const double soft = std::log(w) - a * p, hard = std::log1p(-w) - b * p, most = std::max(soft, hard);
    const double q = -(most + std::log(std::exp(soft - most) + std::exp(hard - most)));
    if (q <= top) lengths.push_back({p, q});
  }
  return pipeline::fitted_polynomial(lengths, ViewMoments::terms);
}

std::vector<float> with_level_air(std::span<const float> lines, const Scan& scan, Index rows) {
  const Detector& d = detector_of(scan);
  const Index at_end = std::max<Index>(2, d.bins / 64), a_view = rows * d.bins;
  const bool low = !half_acquisition(scan) || sides(d).direction < 0,
             high = !half_acquisition(scan) || sides(d).direction > 0;
  std::vector<float> level(lines.begin(), lines.end());
  for (auto view = level.begin(); view != level.end(); view += a_view) {
    double sum = 0;
    for (Index row = 0; row < rows; ++row) {
      const auto line = view + row * d.bins;
      if (low) sum += std::accumulate(line, line + at_end, 0.0);
      if (high) sum += std::accumulate(line + d.bins - at_end, line + d.bins, 0.0);
    }
    const auto air = static_cast<float>(sum / static_cast<double>(rows * at_end * (low + high)));
    std::for_each(view, view + a_view, [air](float& q) { q -= air; });
  }
  return level;
}

namespace {

/// Whether projections do not agree, and no curve explains it.
bool is_unexplained(const Hardening& found) {
  return found.verdict == BeamVerdict::inconsistent ||
         (found.verdict == BeamVerdict::ambiguous &&
          found.before >= std::max(large_noise * found.noise, least_misfit));
}

Hardening found_in(std::span<const float> lines, const Scan& scan, Index rows, HardeningBy means,
                   LinesOf made_of) {
  Hardening found;
  const auto because = [&](std::string_view why) {
    found.why_not = why;
    return found;
  };
  if (is_curved(scan)) return because("the detector is curved");
  if (angles_of(scan).empty()) return because("the views do not stand on a level circle");
  if (!view_shifts_of(scan).empty() || !row_axes_of(scan).empty())
    return because("views or rows have axes of their own, as shifts and rolls give them");
  const std::optional<WholeTurn> turn = whole_turn_of(lines, scan, rows);
  if (!turn) return because("the views leave rays out that a whole turn needs");
  if (turn->views < ViewMoments::fewest_views || turn->rays < ViewMoments::fewest_rays)
    return because("there are too few views or bins");
  const ViewMoments moments(*turn, made_of);
  found.before = moments.misfit(as_measured), found.noise = moments.noise(as_measured);
  if (!(moments.mass(as_measured) > 0) || !(found.noise < most_noise))
    return because("there is no sample in these rows, or too much noise");
  if (moments.largest() > largest_measured) return because("line integrals of attenuation are not so large");
  if (is_cut_off(*turn, moments.largest()))
    return because(turn->to_nearer_side
                       ? "the axis lies aside, and half a turn sees what is beyond the nearer "
                         "end of the rows from one side only"
                       : "rows do not come down to air at their ends");
  const Least by_moments = least_by_moments(moments, soft_share);
  found.b = by_moments.at, found.after = by_moments.value;
  std::optional<BySlopes> by_slopes;
  if (means == HardeningBy::moments_and_slices)
    if (const auto inner = InnerSlopes::of(fullest_row(lines, rows, detector_of(scan).bins), scan,
                                           ViewMoments::terms, moments.largest())) {
      found.voxels_inside = inner->voxels(), found.has_metal = inner->has_metal();
      if (found.voxels_inside >= fewest_inside) by_slopes = least_by_slopes(*inner, moments.largest());
    }
  if (by_slopes) found.b_by_slopes = by_slopes->b();
  found.verdict = found.before < std::max(large_noise * found.noise, least_misfit)
                      ? verdict_of_agreement(found, moments, by_slopes)
                      : verdict_of_misfit(found, moments, by_slopes);
  found.polynomial = hardening_polynomial(found.b, soft_share, moments.largest());
  found.straight_from = beyond * moments.largest();
  found.largest_change = rise_of(found.b, moments.largest());
  const double other = least_by_moments(moments, other_share).at;
  const double mass = moments.mass(hardening_polynomial(other, other_share, moments.largest()));
  found.scale_uncertainty = std::max(least_scale, std::abs(mass / moments.mass(found.polynomial) - 1) / 2);
  return found;
}

}  // namespace

Hardening find_hardening(std::span<const float> lines, const Scan& scan, Index rows, HardeningBy means,
                         LinesOf made_of) {
  Hardening found = found_in(lines, scan, rows, means, made_of);
  if (!is_unexplained(found)) return found;
  Hardening level = found_in(with_level_air(lines, scan, rows), scan, rows, means, made_of);
  if (is_unexplained(level) || level.noise == 0 || level.after > found.after / 2) return found;
  level.drifts = true;
  return level;
}

}  // namespace tandem::calibration
