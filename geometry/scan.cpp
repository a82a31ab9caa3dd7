#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "../core/error.hpp"

namespace tandem {

namespace {

/// Angles modulo an arc, sorted: order[k] is the view that comes k-th, folded[k] its angle in [0, arc).
struct Circle {
  double arc;
  std::vector<double> folded;
  std::vector<std::size_t> order;

  Circle(std::span<const double> angles, double whole) : arc(whole), order(angles.size()) {
    std::vector<double> all(angles.size());
    for (std::size_t i = 0; i < angles.size(); ++i) {
      all[i] = std::fmod(angles[i], arc);
      if (all[i] < 0) all[i] += arc;
      // 180 degrees read from a file as single precision may fold to just below: the same view as 0
      if (arc - all[i] < 1e-6) all[i] = 0;
    }
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a] < all[b]; });
    for (std::size_t i : order) folded.push_back(all[i]);
  }

  /// From the k-th view to the next one, around the circle.
  double gap(std::size_t k) const {
    return k + 1 < folded.size() ? folded[k + 1] - folded[k] : folded[0] + arc - folded[k];
  }
};

void require_cell(const char* name, double pitch) {
  require<GeometryError>(std::isfinite(pitch) && pitch > 0, "Detector: ", name, " = ", pitch,
                         " mm; a positive length is needed");
}

void require_axis(const Detector& d, double axis) {
  const double width = static_cast<double>(d.bins);
  require<GeometryError>(std::isfinite(axis) && axis >= -width && axis <= 2 * width - 1,
                         "Detector: axis_bin = ", axis,
                         " is more than the detector's width outside its bins 0..", d.bins - 1,
                         "; give the axis in bins from 0");
}

void require_detector(const Detector& d) {
  require<GeometryError>(d.bins > 0, "Detector: bins = ", d.bins, "; at least 1 is needed");
  require<GeometryError>(d.rows > 0, "Detector: rows = ", d.rows, "; at least 1 is needed");
  require_cell("bin_pitch", d.bin_pitch);
  require_cell("row_pitch", d.row_pitch);
  require_axis(d, d.axis_bin);
}

void require_angles(const char* scan, const std::vector<double>& angles) {
  require<GeometryError>(!angles.empty(), scan, ": 0 views; at least 1 is needed");
  for (std::size_t i = 0; i < angles.size(); ++i)
    require<GeometryError>(std::isfinite(angles[i]), scan, ": the angle of view ", i, " is ", angles[i],
                           " rad; a finite number is needed");
}

/// FNV-1a, 64 bits.
class Fingerprint {
 public:
  void add(double value) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char b : bytes) hash_ = (hash_ ^ b) * 1099511628211ull;
  }
  void add(const Detector& d) {
    for (double v :
         {static_cast<double>(d.bins), static_cast<double>(d.rows), d.bin_pitch, d.row_pitch, d.axis_bin})
      add(v);
  }
  void add(const std::vector<double>& values) {
    for (double v : values) add(v);
  }
  std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

}  // namespace

const Detector& detector_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const Detector& { return s.detector; }, scan);
}
Detector& detector_of(Scan& scan) {
  return std::visit([](auto& s) -> Detector& { return s.detector; }, scan);
}
const std::vector<double>& angles_of(const Scan& scan) {
  return std::visit([](const auto& s) -> const std::vector<double>& { return s.angles; }, scan);
}
std::vector<double>& angles_of(Scan& scan) {
  return std::visit([](auto& s) -> std::vector<double>& { return s.angles; }, scan);
}

void validate(const ParallelBeam& scan) {
  const Detector& d = scan.detector;
  require_detector(d);
  require_angles("ParallelBeam", scan.angles);
  require<GeometryError>(
      scan.row_axis_bins.empty() || scan.row_axis_bins.size() == static_cast<std::size_t>(d.rows),
      "ParallelBeam: ", scan.row_axis_bins.size(), " row_axis_bins for ", d.rows,
      " rows; give one a row or none");
  for (double axis : scan.row_axis_bins) require_axis(d, axis);
}

void validate(const ConeBeam& scan) {
  require_detector(scan.detector);
  require_angles("ConeBeam", scan.angles);
  require<GeometryError>(std::isfinite(scan.sod) && scan.sod > 0, "ConeBeam: sod = ", scan.sod,
                         " mm; a positive length is needed");
  require<GeometryError>(std::isfinite(scan.sdd) && scan.sdd > scan.sod, "ConeBeam: sdd = ", scan.sdd,
                         " mm is not beyond sod = ", scan.sod, " mm; the detector is behind the axis");
  require<GeometryError>(std::isfinite(scan.midplane_row), "ConeBeam: midplane_row = ", scan.midplane_row,
                         "; a finite number of rows is needed");
}

void validate(const Scan& scan) {
  std::visit([](const auto& s) { validate(s); }, scan);
}

std::vector<double> view_weights(std::span<const double> angles, double arc) {
  const Circle circle(angles, arc);
  const std::size_t n = angles.size();
  std::vector<double> weights(n);
  for (std::size_t k = 0; k < n; ++k)
    weights[circle.order[k]] = 0.5 * (circle.gap((k + n - 1) % n) + circle.gap(k));
  return weights;
}

double widest_gap(std::span<const double> angles, double arc) {
  const Circle circle(angles, arc);
  double widest = 0;
  for (std::size_t k = 0; k < angles.size(); ++k) widest = std::max(widest, circle.gap(k));
  return widest;
}

namespace {

/// The arc that views fill: where it starts, how long it is, and each view's share of it.
struct Orbit {
  bool closed;
  double start, length;  ///< rad
  std::vector<double> shares;

  explicit Orbit(std::span<const double> angles) : start(0), length(whole_turn) {
    const Circle circle(angles, whole_turn);
    const std::size_t n = angles.size();
    std::size_t last = 0;  // before the widest gap
    for (std::size_t k = 0; k < n; ++k)
      if (circle.gap(k) > circle.gap(last)) last = k;
    const double widest = circle.gap(last),
                 usual = (whole_turn - widest) / static_cast<double>(std::max<std::size_t>(1, n - 1));
    closed = n == 1 || widest < 3 * usual;
    shares = view_weights(angles, whole_turn);
    if (closed) return;
    const std::size_t first = (last + 1) % n;
    start = circle.folded[first], length = whole_turn - widest;
    for (const std::size_t end : {first, last}) shares[circle.order[end]] -= 0.5 * widest;
  }
  /// Of an angle, from the start.
  double at(double angle) const {
    const double turned = std::fmod(angle - start, whole_turn);
    return turned < -1e-9 ? turned + whole_turn : std::max(0.0, turned);
  }
};

/// Rays that leave the central one at `fan` rad, seen `at` rad after the start of an arc of pi + 2 excess.
double parker(double excess, double fan, double at) {
  const double alpha = -fan, quarter = 0.25 * half_turn;
  const auto rise = [&](double part, double whole) {
    return whole <= 0 ? 1.0 : std::pow(std::sin(quarter * std::clamp(part / whole, 0.0, 2.0)), 2);
  };
  if (at < 2 * (excess - alpha)) return rise(at, excess - alpha);
  if (at > half_turn - 2 * alpha) return rise(half_turn + 2 * excess - at, excess + alpha);
  return 1;
}

/// Bins that a circle's detector lacks on its nearer side; 0 where nearly all rays are seen from both sides.
Index missing_bins(const Detector& d) {
  const Sides side = sides(d);
  const auto missing = static_cast<Index>(std::ceil(side.farther - side.nearer));
  return missing <= 2 ? 0 : missing;
}

/// Twice the share of the rays of each bin, of which those on the nearer side are seen from both sides:
/// 1, and towards the end of that side a band where it goes to 0 here and to 2 opposite.
std::vector<double> one_sided(const Detector& d, std::size_t views) {
  constexpr double narrowest = 16;  // bins
  const Sides side = sides(d);
  const double overlap = side.nearer + 0.5,
               rim = side.farther * whole_turn / static_cast<double>(views);  // moves so far in a view
  const double band = std::min(overlap, std::max(narrowest, 2 * rim));
  std::vector<double> weights;
  for (Index bin = 0; bin < d.bins; ++bin) {
    const double distance = side.direction * (static_cast<double>(bin) - d.axis_bin);
    const double part = band > 0 ? std::clamp((std::abs(distance) - overlap) / band + 1, 0.0, 1.0) : 1;
    weights.push_back(1 + std::copysign(std::pow(std::sin(0.5 * half_turn * part), 2), distance));
  }
  return weights;
}

double fan_of(const ConeBeam& scan, double bin) {
  return std::atan((bin - scan.detector.axis_bin) * scan.detector.bin_pitch / scan.sdd);
}

/// Whether one side lacks more than a tenth of what the other one has.
bool aside(const Detector& d) {
  const Sides side = sides(d);
  return missing_bins(d) > 0 && side.nearer < 0.9 * side.farther;
}

}  // namespace

Sides sides(const Detector& d) {
  const double before = d.axis_bin, after = static_cast<double>(d.bins - 1) - d.axis_bin;
  return {std::max(before, after), std::min(before, after), after > before ? 1 : -1};
}

bool half_acquisition(const ParallelBeam& scan) {
  return widest_gap(scan.angles, whole_turn) < 0.5 * half_turn && aside(scan.detector);
}

bool half_acquisition(const ConeBeam& scan) { return Orbit(scan.angles).closed && aside(scan.detector); }

bool half_acquisition(const Scan& scan) {
  return std::visit([](const auto& s) { return half_acquisition(s); }, scan);
}

std::vector<float> ray_shares(const ConeBeam& scan) {
  validate(scan);
  const Orbit orbit(scan.angles);
  const Detector& d = scan.detector;
  std::vector<double> twice(static_cast<std::size_t>(d.bins), 1.0);
  if (orbit.closed && missing_bins(d) > 0) twice = one_sided(d, scan.angles.size());
  std::vector<float> shares;
  for (std::size_t v = 0; v < scan.angles.size(); ++v)
    for (Index bin = 0; bin < d.bins; ++bin) {
      double weight = twice[static_cast<std::size_t>(bin)];
      if (!orbit.closed)
        weight = 2 * parker(0.5 * (orbit.length - half_turn), fan_of(scan, static_cast<double>(bin)),
                            orbit.at(scan.angles[v]));
      shares.push_back(static_cast<float>(0.5 * orbit.shares[v] * weight));
    }
  return shares;
}

ConeBeam symmetric(const ConeBeam& scan) {
  const Index missing = missing_bins(scan.detector);
  if (missing == 0 || !Orbit(scan.angles).closed) return scan;
  ConeBeam wide = scan;
  wide.detector.bins += missing;
  if (sides(scan.detector).direction > 0) wide.detector.axis_bin += static_cast<double>(missing);
  return wide;
}

double missing_arc(const ConeBeam& scan) {
  const Orbit orbit(scan.angles);
  const double fan = std::max(-fan_of(scan, 0), fan_of(scan, static_cast<double>(scan.detector.bins - 1)));
  return orbit.closed ? 0 : std::max(0.0, half_turn + 2 * fan - orbit.length);
}

std::uint64_t fingerprint(const ParallelBeam& scan) {
  Fingerprint all;
  all.add(scan.detector);
  all.add(scan.angles);
  all.add(scan.row_axis_bins);
  return all.value();
}

std::uint64_t fingerprint(const ConeBeam& scan) {
  Fingerprint all;
  all.add(scan.detector);
  all.add(std::vector<double>{scan.sod, scan.sdd, scan.midplane_row});
  all.add(scan.angles);
  return all.value();
}

}  // namespace tandem
