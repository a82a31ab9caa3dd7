#include "fitted_orbit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "../core/error.hpp"
#include "free_views.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

constexpr const char* solvers_take_it = "; a solver takes such views, such as cgls";

using Matrix3 = std::array<Vector3, 3>;

std::vector<Vector3> places_of_sources(const std::vector<FlexibleView>& views, bool parallel) {
  std::vector<Vector3> all;
  for (const FlexibleView& view : views)
    all.push_back(parallel ? -1 / length(view.source) * view.source : view.source);
  return all;
}

Vector3 mean_of(const std::vector<Vector3>& all) {
  Vector3 sum{};
  for (const Vector3& each : all) sum = sum + each;
  return 1.0 / all.size() * sum;
}

/// The eigenvectors of a symmetric matrix, by Jacobi's rotations.
Matrix3 eigenvectors(Matrix3 m) {
  Matrix3 vectors{Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};
  constexpr int enough = 30;
  for (int sweep = 0; sweep < enough; ++sweep)
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (m[p][q] == 0) continue;
        const double angle = 0.5 * std::atan2(2 * m[p][q], m[p][p] - m[q][q]);
        const double c = std::cos(angle), s = std::sin(angle);
        const auto turn = [&](double& a, double& b) {
          const double old = a;
          a = c * old + s * b, b = c * b - s * old;
        };
        for (std::size_t k = 0; k < 3; ++k) turn(m[k][p], m[k][q]);
        for (std::size_t k = 0; k < 3; ++k) turn(m[p][k], m[q][k]);
        for (std::size_t k = 0; k < 3; ++k) turn(vectors[p][k], vectors[q][k]);
      }
  return vectors;
}

Matrix3 covariance(const std::vector<Vector3>& all, const Vector3& mean) {
  Matrix3 m{};
  for (const Vector3& each : all) {
    const Vector3 off = each - mean;
    for (std::size_t i = 0; i < 3; ++i) m[i] = m[i] + off[i] * off;
  }
  return m;
}

/// Two directions across an axis, x and y for z.
std::array<Vector3, 2> across(const Vector3& axis) {
  const Vector3 aside = std::abs(axis[2]) > 0.5 ? Vector3{0, 1, 0} : Vector3{0, 0, 1};
  const Vector3 first = cross(aside, axis), unit = 1 / length(first) * first;
  return {unit, cross(axis, unit)};
}

/// The middle of the circle on which points of a plane lie: that of x^2 + y^2 = a x + b y + c with the least
/// squares (Kasa 1976). It is infinite if they lie on a line. Points count from their mean.
std::array<double, 2> middle_of_circle(const std::vector<std::array<double, 2>>& points) {
  double xx = 0, xy = 0, yy = 0, xr = 0, yr = 0;
  for (const auto& [x, y] : points) {
    const double r = x * x + y * y;
    xx += x * x, xy += x * y, yy += y * y, xr += x * r, yr += y * r;
  }
  constexpr double rounding = 1e-12;  // an arc of a degree has 1e-9
  const double determinant = xx * yy - xy * xy, square = xx + yy;
  if (!(determinant > rounding * square * square)) return {INFINITY, INFINITY};
  return {0.5 * (xr * yy - yr * xy) / determinant, 0.5 * (yr * xx - xr * xy) / determinant};
}

/// Angles that follow each other, each nearest to the one before.
void unwrap(std::vector<double>& angles) {
  for (std::size_t k = 1; k < angles.size(); ++k)
    angles[k] += whole_turn * std::round((angles[k - 1] - angles[k]) / whole_turn);
}

double turns_of(const FittedOrbit& orbit) {
  const auto [low, high] = std::ranges::minmax(orbit.angles);
  return (high - low) / whole_turn;
}

double mean_of(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0) / all.size();
}

/// How much heights grow with angles, mm/rad.
double steepness(const FittedOrbit& orbit) {
  const double angle = mean_of(orbit.angles), height = mean_of(orbit.heights);
  double both = 0, square = 0;
  for (std::size_t k = 0; k < orbit.angles.size(); ++k) {
    const double off = orbit.angles[k] - angle;
    both += off * (orbit.heights[k] - height), square += off * off;
  }
  return square > 0 ? both / square : 0;
}

/// Heights about the line that rises so much, mm/rad.
std::vector<double> about_line(const FittedOrbit& orbit, double steep) {
  const double angle = mean_of(orbit.angles), height = mean_of(orbit.heights);
  std::vector<double> off;
  for (std::size_t k = 0; k < orbit.angles.size(); ++k)
    off.push_back(orbit.heights[k] - height - steep * (orbit.angles[k] - angle));
  return off;
}

double farthest(const std::vector<double>& all, double from = 0) {
  double most = 0;
  for (const double each : all) most = std::max(most, std::abs(each - from));
  return most;
}

/// The orbit of some points about an axis with this direction; its radius is not finite if there is none.
FittedOrbit about(const Vector3& axis, const std::vector<Vector3>& points, const Vector3& mean) {
  const auto [first, second] = across(axis);
  std::vector<std::array<double, 2>> flat;
  for (const Vector3& each : points) flat.push_back({dot(each - mean, first), dot(each - mean, second)});
  const auto [x, y] = middle_of_circle(flat);
  FittedOrbit orbit;
  orbit.axis = axis, orbit.centre = mean + x * first + y * second;
  orbit.at_zero = first, orbit.at_quarter = second;
  for (const Vector3& each : points) {
    const Vector3 from = each - orbit.centre;
    orbit.angles.push_back(std::atan2(dot(from, second), dot(from, first)));
    orbit.radii.push_back(std::hypot(dot(from, first), dot(from, second)));
    orbit.heights.push_back(dot(from, axis));
  }
  unwrap(orbit.angles);
  orbit.radius = mean_of(orbit.radii);
  return orbit;
}

constexpr double once = 1.05;  // turns, beyond which an orbit may be a helix

/// The sum of squares of the distances of points from an orbit, a helix if they go round more than once.
double rest_of(const FittedOrbit& orbit) {
  double sum = 0;
  for (const double radius : orbit.radii) sum += (radius - orbit.radius) * (radius - orbit.radius);
  for (const double off : about_line(orbit, turns_of(orbit) > once ? steepness(orbit) : 0)) sum += off * off;
  return std::isfinite(sum) ? sum : INFINITY;
}

/// The direction along which points scatter least.
Vector3 least_scatter(const std::vector<Vector3>& points, const Vector3& mean) {
  const Matrix3 scatter = covariance(points, mean);
  const auto along = [&](const Vector3& v) {
    return v[0] * dot(scatter[0], v) + v[1] * dot(scatter[1], v) + v[2] * dot(scatter[2], v);
  };
  const Matrix3 all = eigenvectors(scatter);
  return *std::ranges::min_element(all, {}, along);
}

/// The orbit with the axis of the circle that is left if points come down by what the orbit rises, again and
/// again: in a helix that leans, they scatter along other directions.
FittedOrbit straightened(FittedOrbit orbit, const std::vector<Vector3>& points, const Vector3& mean) {
  constexpr int enough = 20;
  for (int step = 0; step < enough && turns_of(orbit) > once; ++step) {
    const double steep = steepness(orbit), angle = mean_of(orbit.angles);
    std::vector<Vector3> flat = points;
    for (std::size_t k = 0; k < flat.size(); ++k)
      flat[k] = flat[k] - steep * (orbit.angles[k] - angle) * orbit.axis;
    const Vector3 axis = least_scatter(flat, mean_of(flat));
    orbit = about(dot(axis, orbit.axis) < 0 ? -1 * axis : axis, points, mean);
  }
  return orbit;
}

/// About z, unless points lie clearly better about one of the axes of their scatter.
FittedOrbit best_of(const std::vector<Vector3>& points) {
  constexpr double clearly = 0.98;
  const Vector3 mean = mean_of(points);
  FittedOrbit best = about({0, 0, 1}, points, mean);
  double least = clearly * rest_of(best);
  for (Vector3 axis : eigenvectors(covariance(points, mean))) {
    if (axis[2] < 0) axis = -1 * axis;
    FittedOrbit orbit = about(axis, points, mean);
    if (const double rest = rest_of(orbit); rest < least) best = std::move(orbit), least = rest;
  }
  FittedOrbit straight = straightened(best, points, mean);
  return rest_of(straight) < least ? straight : best;
}

/// Turns the axis round if bins go against the sources.
void turn_with_bins(FittedOrbit& orbit, const std::vector<FlexibleView>& views) {
  constexpr double little = 0.1;
  double with = 0;
  for (std::size_t k = 0; k < views.size(); ++k)
    with += dot(views[k].bin_step, orbit.along(k)) / length(views[k].bin_step);
  if (with > -little * views.size()) return;
  orbit.axis = -1 * orbit.axis, orbit.at_quarter = -1 * orbit.at_quarter;
  for (double& angle : orbit.angles) angle = -angle;
  for (double& height : orbit.heights) height = -height;
}

}  // namespace

Vector3 FittedOrbit::outwards(std::size_t view) const {
  return std::cos(angles[view]) * at_zero + std::sin(angles[view]) * at_quarter;
}

Vector3 FittedOrbit::along(std::size_t view) const {
  return -std::sin(angles[view]) * at_zero + std::cos(angles[view]) * at_quarter;
}

Vector3 FittedOrbit::speed(std::size_t view) const {
  return radii[view] * along(view) + slopes[view] * outwards(view);
}

namespace {

/// A view on the way, and its copies a turn before and behind.
struct Stop {
  double angle, radius;
  std::size_t view;
};

std::vector<Stop> stops_of(const FittedOrbit& orbit) {
  std::vector<Stop> all;
  for (std::size_t k = 0; k < orbit.angles.size(); ++k) {
    if (orbit.goes_on) {
      all.push_back({orbit.angles[k], orbit.radii[k], k});
      continue;
    }
    const double within = orbit.angles[k] - whole_turn * std::floor(orbit.angles[k] / whole_turn);
    for (const double turn : {-whole_turn, 0.0, whole_turn})
      all.push_back({within + turn, orbit.radii[k], k});
  }
  std::ranges::sort(all, {}, &Stop::angle);
  return all;
}

/// The usual gap between neighbours; 0 if there is none.
double usual_gap(const std::vector<Stop>& all) {
  constexpr double same = 1e-5;  // rad: what files round
  std::vector<double> gaps;
  for (std::size_t k = 1; k < all.size(); ++k)
    if (const double gap = all[k].angle - all[k - 1].angle; gap > same) gaps.push_back(gap);
  if (gaps.empty()) return 0;
  const auto middle = gaps.begin() + gaps.size() / 2;
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

/// The nearest stop on one side that is at least half a usual gap away, but not beyond a hole; else `from`.
const Stop& neighbour(const std::vector<Stop>& all, std::size_t from, bool up, double usual) {
  for (std::size_t k = from; up ? k + 1 < all.size() : k > 0;) {
    up ? ++k : --k;
    const double gap = std::abs(all[k].angle - all[from].angle);
    if (gap > 5 * usual) break;
    if (gap > 0.5 * usual) return all[k];
  }
  return all[from];
}

void add_slopes(FittedOrbit& orbit) {
  const std::vector<Stop> all = stops_of(orbit);
  const double usual = usual_gap(all);
  orbit.slopes.assign(orbit.angles.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!orbit.goes_on && (all[k].angle < 0 || all[k].angle >= whole_turn)) continue;
    const Stop &before = neighbour(all, k, false, usual), &behind = neighbour(all, k, true, usual);
    const double gap = behind.angle - before.angle;
    if (gap > 0) orbit.slopes[all[k].view] = (behind.radius - before.radius) / gap;
  }
}

/// The heights at which middle rays of a parallel beam pass the axis, mm along it.
std::vector<double> heights_of_detectors(const std::vector<FlexibleView>& views, const FittedOrbit& orbit) {
  std::vector<double> heights;
  for (std::size_t k = 0; k < views.size(); ++k) {
    const Vector3 ray = 1 / length(views[k].source) * views[k].source, out = orbit.outwards(k);
    const Vector3 at = views[k].detector - dot(views[k].detector, out) / dot(ray, out) * ray;
    heights.push_back(dot(at, orbit.axis));
  }
  return heights;
}

/// Tells a helix by more than a turn, in which heights grow clearly more than they wander.
void find_rise(FittedOrbit& orbit) {
  constexpr double clearly = 4, rounding = 1e-6;
  const double steep = steepness(orbit), turns = turns_of(orbit), wander = farthest(about_line(orbit, steep));
  const double climb = std::abs(steep) * whole_turn * turns;
  orbit.goes_on = turns > once && climb > clearly * wander + rounding * orbit.radius;
  orbit.rise = orbit.goes_on ? steep * whole_turn : 0;
}

/// Steps of a helix from view to view. @throws GeometryError unless all go the same way
void add_steps(FittedOrbit& orbit) {
  const std::vector<double>& angles = orbit.angles;
  const double way = angles.back() > angles.front() ? 1 : -1;
  std::vector<double> gaps;
  for (std::size_t k = 1; k < angles.size(); ++k) {
    gaps.push_back(way * (angles[k] - angles[k - 1]));
    require<GeometryError>(gaps.back() > 0, "ramp filter: view ", k,
                           " of a helix goes back; views in the order of their angles are needed",
                           solvers_take_it);
  }
  for (std::size_t k = 0; k < angles.size(); ++k)
    orbit.steps.push_back(0.5 * (gaps[k == 0 ? 0 : k - 1] + gaps[std::min(k, gaps.size() - 1)]));
}

}  // namespace

FittedOrbit fitted_orbit(const Scan& scan) {
  const auto free = as_free_views(scan);
  validate(free);
  require<GeometryError>(free.views.size() > 2, "ramp filter: ", free.views.size(),
                         " views tell no circle; 3 or more are needed", solvers_take_it);
  constexpr double most = 0.1;
  FittedOrbit orbit = best_of(places_of_sources(free.views, free.parallel));
  orbit.parallel = free.parallel;
  require<GeometryError>(
      std::isfinite(orbit.radius) && orbit.radius > 0,
      "ramp filter: ", orbit.parallel ? "rays have one direction" : "sources lie on a line", solvers_take_it);
  turn_with_bins(orbit, free.views);
  const double aside = farthest(orbit.radii, orbit.radius), level = farthest(about_line(orbit, 0));
  if (orbit.parallel) orbit.heights = heights_of_detectors(free.views, orbit);
  find_rise(orbit);
  const bool climbs = orbit.goes_on && !orbit.parallel;
  const double high = climbs ? farthest(about_line(orbit, steepness(orbit))) : level;
  orbit.stray = std::max(aside, high) / orbit.radius;
  require<GeometryError>(
      orbit.stray <= most, "ramp filter: ", orbit.parallel ? "directions of rays" : "sources",
      " go along no circle and no helix: they are off the nearest one by ", 100 * orbit.stray,
      " % of its radius, at most ", 100 * most, " % may be", solvers_take_it);
  add_slopes(orbit);
  if (orbit.goes_on) add_steps(orbit);
  return orbit;
}

double period_of(const FittedOrbit& orbit) {
  constexpr double square = 1 - 1e-4;  // the sine of the angle of rays with the axis
  if (orbit.goes_on) return std::accumulate(orbit.steps.begin(), orbit.steps.end(), 0.0);
  return orbit.parallel && orbit.radius > square ? half_turn : whole_turn;
}

}  // namespace tandem
