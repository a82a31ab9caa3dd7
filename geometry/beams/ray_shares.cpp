// The weights of rays in FBP and FDK, and what is missing.

#include "ray_shares.hpp"

#include <algorithm>
#include <cmath>

#include "../circle.hpp"

namespace tandem {

namespace {

/// What the views of a point source see: a circle, or the arc where they are.
struct Orbit {
  bool closed;
  double start, length;  ///< rad
  double widest_gap;     ///< within it, rad
  std::vector<double> shares;

  explicit Orbit(const ConeBeam& scan) {
    const Circle circle(scan.angles, whole_turn);
    // opposite rays make up for one hole, unless many rays have no opposite one
    const bool by_opposites = circle.holes() == 1 && !is_aside(scan.detector);
    closed = !circle.is_open() && !by_opposites;
    shares = circle.weights(by_opposites ? 0 : circle.widest_filled());
    const std::vector<double>& directions = circle.directions();
    start = directions.front() - circle.before_first();
    widest_gap = closed ? circle.widest_gap() : circle.widest_gap_but_one();
    length = closed ? whole_turn : directions.back() + circle.after_last() - start;
  }
  /// Place of an angle on the orbit, from the start, rad.
  double at(double angle) const {
    const double turned = std::fmod(angle - start, whole_turn);
    return turned < -1e-9 ? turned + whole_turn : std::max(0.0, turned);
  }
};

/// Weight of rays that leave the central one at `fan` rad, seen `at` rad after the start of an arc of pi + 2
/// excess.
double parker(double excess, double fan, double at) {
  const double alpha = -fan, quarter = 0.25 * half_turn;
  const auto rise = [&](double part, double whole) {
    return whole <= 0 ? 1.0 : std::pow(std::sin(quarter * std::clamp(part / whole, 0.0, 2.0)), 2);
  };
  if (at < 2 * (excess - alpha)) return rise(at, excess - alpha);
  if (at > half_turn - 2 * alpha) return rise(half_turn + 2 * excess - at, excess + alpha);
  return 1;
}

/// The detector with bins added on the nearer side until both sides reach equally far.
Detector both_sided(const Detector& d) {
  const Index missing = missing_bins(d);
  Detector wide = d;
  wide.bins += missing;
  if (sides(d).direction > 0) wide.axis_bin += missing;
  return wide;
}

double fan_of(const ConeBeam& scan, double from_axis) {
  return std::atan(from_axis * scan.detector.bin_pitch / scan.sdd);
}

/// The places of all bins of a detector from its axis, after `beyond` more before the first one.
PlacesOfRays places_on(const Detector& d, Index beyond) {
  return [first = -beyond - d.axis_bin](Index, Index bin) { return first + bin; };
}

}  // namespace

SidedShares::SidedShares(const Detector& d, Index views) : alike_(missing_bins(d) == 0) {
  constexpr double narrowest = 16;  // bins
  const Sides side = sides(d);
  const double rim = side.farther * whole_turn / views;  // moves so far in a view
  direction_ = side.direction, overlap_ = side.nearer + 0.5;
  band_ = std::min(overlap_, std::max(narrowest, 2 * rim));
}

double SidedShares::twice(double from_axis) const {
  if (alike_) return 1;
  const double distance = direction_ * from_axis;
  const double part = band_ > 0 ? std::clamp((std::abs(distance) - overlap_) / band_ + 1, 0.0, 1.0) : 1;
  return 1 + std::copysign(std::pow(std::sin(0.5 * half_turn * part), 2), distance);
}

bool half_acquisition(const ConeBeam& scan) { return Orbit(scan).closed && is_aside(scan.detector); }

std::vector<float> ray_shares(const ConeBeam& scan) { return ray_shares(scan, 0); }

std::vector<float> ray_shares(const ConeBeam& scan, Index beyond) {
  return ray_shares(scan, scan.detector.bins + 2 * beyond, places_on(scan.detector, beyond));
}

std::vector<float> ray_shares(const ConeBeam& scan, Index rays, const PlacesOfRays& from_axis) {
  validate(scan);
  const Orbit orbit(scan);
  const SidedShares sided(scan.detector, views_of(scan));
  const auto twice = [&](Index view, double place) {
    if (orbit.closed) return sided.twice(place);
    return 2 * parker(0.5 * (orbit.length - half_turn), fan_of(scan, place), orbit.at(scan.angles[view]));
  };
  std::vector<float> shares;
  for (Index v = 0; v < views_of(scan); ++v)
    for (Index ray = 0; ray < rays; ++ray)
      shares.push_back(static_cast<float>(0.5 * orbit.shares[v] * twice(v, from_axis(v, ray))));
  return shares;
}

std::vector<float> ray_shares(const ParallelBeam& scan, Index rays, const PlacesOfRays& from_axis) {
  const bool half = half_acquisition(scan);
  const SidedShares sided(scan.detector, views_of(scan));
  const std::vector<float> views = view_shares(scan);
  std::vector<float> shares;
  for (Index v = 0; v < views_of(scan); ++v)
    for (Index ray = 0; ray < rays; ++ray)
      shares.push_back(views[v] * (half ? static_cast<float>(sided.twice(from_axis(v, ray))) : 1));
  return shares;
}

ConeBeam symmetric(const ConeBeam& scan) {
  if (!Orbit(scan).closed) return scan;
  ConeBeam wide = scan;
  wide.detector = both_sided(scan.detector);
  return wide;
}

std::vector<float> view_shares(const ParallelBeam& scan) {
  const bool half = half_acquisition(scan);
  std::vector<double> shares = view_weights(scan.angles, half ? whole_turn : half_turn);
  if (half)
    for (double& share : shares) share *= 0.5;
  return {shares.begin(), shares.end()};
}

std::vector<float> bin_shares(const ParallelBeam& scan) { return bin_shares(scan, 0); }

std::vector<float> bin_shares(const ParallelBeam& scan, Index beyond) {
  if (!half_acquisition(scan)) return {};
  std::vector<float> shares;
  Detector d = scan.detector;
  for (Index row = 0; row < scan.detector.rows; ++row) {
    if (!scan.row_axis_bins.empty()) d.axis_bin = scan.row_axis_bins[row];
    const SidedShares sided(d, views_of(scan));
    for (Index bin = -beyond; bin < d.bins + beyond; ++bin)
      shares.push_back(static_cast<float>(sided.twice(bin - d.axis_bin)));
  }
  return shares;
}

ParallelBeam symmetric(const ParallelBeam& scan) {
  if (!half_acquisition(scan)) return scan;
  ParallelBeam wide = scan;
  wide.detector = both_sided(scan.detector);
  for (double& axis : wide.row_axis_bins) axis += wide.detector.axis_bin - scan.detector.axis_bin;
  return wide;
}

double gap_between_views(const ConeBeam& scan) { return Orbit(scan).widest_gap; }

double missing_arc(const ConeBeam& scan) {
  const Orbit orbit(scan);
  const double fan = fan_of(scan, sides(scan.detector).farther);
  return orbit.closed ? 0 : std::max(0.0, half_turn + 2 * fan - orbit.length);
}

}  // namespace tandem
