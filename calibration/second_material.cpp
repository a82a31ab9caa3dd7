#include "second_material.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "least_squares.hpp"
#include "moments.hpp"

namespace tandem::calibration {

using pipeline::DenserMaterial;
using pipeline::HardeningPolynomial;

namespace {

// The limits were chosen on 81 scans of an outside simulator (calibration/README.md).
constexpr double least_fall = 1.0 / 3;    ///< share of the misfit, beyond that of one material
constexpr double unexplained = 1.0 / 20;  ///< what may be left of the misfit, if it is more than noise
constexpr double largest_share = 1;       ///< a denser material is not raised to more than twice

/// Coefficients of `ViewMoments` with dense parts.
std::vector<double> coefficients_of(const std::vector<double>& curve, const DenserMaterial& denser) {
  std::vector<double> all(ViewMoments::with_dense);
  for (std::size_t k = 0; k < curve.size(); ++k)
    all[k] = curve[k], all[ViewMoments::terms + k] = denser.d1 * curve[k];
  all.back() = denser.d2;
  return all;
}

/// What is best with a curve.
struct WithCurve {
  DenserMaterial denser;
  std::vector<double> coefficients;
  double misfit;
};
WithCurve best_with(const ViewMoments& moments, double b, double w) {
  const std::vector<double> curve = hardening_polynomial(b, w, moments.largest());
  const Eigen::VectorXd by_curve = moments.wrong(curve),
                        with_both = moments.wrong(coefficients_of(curve, {1, 0})) - by_curve,
                        by_itself = moments.wrong(coefficients_of({}, {0, 1}));
  const DenserMaterial denser = least_squares_from_zero(by_curve, with_both, by_itself);
  std::vector<double> all = coefficients_of(curve, denser);
  const double misfit = moments.misfit(all);
  return {denser, std::move(all), misfit};
}

double best_b(const ViewMoments& moments, double w) {
  return least_of([&](double b) { return best_with(moments, b, w).misfit; }, lowest_b, 1).at;
}

/// The largest share of s that is added, in rays through at least half of the most that is dense.
double share_added(const SecondMaterial& found, std::span<const float> lines, std::span<const float> dense,
                   double largest) {
  const HardeningPolynomial curve(found.polynomial, found.straight_from);
  const double half = 0.5 * std::ranges::max(dense);
  double most = 0;
  for (std::size_t k = 0; k < lines.size(); ++k)
    if (dense[k] >= half)
      most = std::max(most, found.denser.added(curve(std::min(1.0 * lines[k], beyond * largest)), dense[k]));
  return most;
}

SecondMaterial found_with(std::span<const float> lines, std::span<const float> dense, const Scan& scan,
                          Index rows, LinesOf made_of) {
  SecondMaterial found{.why_not = "nothing is dense in these rows"};
  const auto turn = whole_turn_of(lines, scan, rows), of_dense = whole_turn_of(dense, scan, rows);
  if (!turn || !of_dense || !(std::ranges::max(dense) > 0)) return found;
  const ViewMoments moments(*turn, made_of, &*of_dense);
  const auto curve = [&](double b) { return hardening_polynomial(b, soft_share, moments.largest()); };
  found.before = moments.misfit(curve(1)), found.noise = moments.noise(curve(1));
  found.one = least_of([&](double b) { return moments.misfit(curve(b)); }, lowest_b, 1).value;
  found.b = best_b(moments, soft_share);
  const WithCurve best = best_with(moments, found.b, soft_share);
  found.denser = best.denser, found.two = best.misfit;
  found.polynomial = curve(found.b), found.straight_from = beyond * moments.largest();
  found.largest_share = share_added(found, lines, dense, moments.largest());
  const WithCurve other = best_with(moments, best_b(moments, other_share), other_share);
  const double change = moments.mass(other.coefficients) / moments.mass(best.coefficients) - 1;
  found.scale_uncertainty = std::max(least_scale, std::abs(change) / 2);
  found.why_not = what_speaks_against(found, moments.largest());
  return found;
}

}  // namespace

std::string_view what_speaks_against(const SecondMaterial& found, double largest) {
  const double noise = large_noise * found.noise;
  if (found.before < std::max(noise, least_misfit))
    return "the projections agree with each other as they are";
  if (found.two > (1 - least_fall) * found.one) return "it explains little that one material does not";
  if (found.two > std::max(noise, unexplained * found.before)) return "it does not explain all of the misfit";
  if (found.b < lowest_b + 0.01 || found.largest_share > largest_share)
    return "the correction that fits best is larger than beams make it";
  if (rise_of(found.b, largest) < least_rise) return "the main material would not harden the beam";
  return {};
}

DenserMaterial least_squares_from_zero(const Eigen::VectorXd& a, const Eigen::VectorXd& u,
                                       const Eigen::VectorXd& v) {
  const double uu = u.dot(u), uv = u.dot(v), vv = v.dot(v), au = -a.dot(u), av = -a.dot(v);
  const double determinant = uu * vv - uv * uv;
  if (determinant > 1e-12 * uu * vv) {
    const double d1 = (au * vv - av * uv) / determinant, d2 = (av * uu - au * uv) / determinant;
    if (d1 >= 0 && d2 >= 0) return {d1, d2};
  }
  // else one of them is 0, and the other lowers the squares by au d1 or av d2
  const double d1 = uu > 0 ? std::max(0.0, au / uu) : 0, d2 = vv > 0 ? std::max(0.0, av / vv) : 0;
  return au * d1 >= av * d2 ? DenserMaterial{d1, 0} : DenserMaterial{0, d2};
}

SecondMaterial find_second_material(std::span<const float> lines, std::span<const float> dense,
                                    const Scan& scan, Index rows, const Hardening& one, LinesOf made_of) {
  if (one.polynomial.empty()) return one.why_not.empty() ? SecondMaterial{} : SecondMaterial{one.why_not};
  SecondMaterial found = found_with(lines, dense, scan, rows, made_of);
  if (found.is_told() || found.two < large_noise * found.noise) return found;
  SecondMaterial level = found_with(with_level_air(lines, scan, rows), dense, scan, rows, made_of);
  if (!level.is_told() || level.two > found.two / 2) return found;
  level.drifts = true;
  return level;
}

}  // namespace tandem::calibration
