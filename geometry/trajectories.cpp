#include "trajectories.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/random.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

constexpr std::array<std::string_view, 4> ways{"circle", "helix", "laminography", "tomosynthesis"};

/// The directions of a view: bins, rows and the middle ray; and the point on which it is centred.
struct Look {
  Vector3 along, up, ray, centre{};
};

Look level_at(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {{c, s, 0}, {0, 0, 1}, {-s, c, 0}};
}

Look look_of(const Trajectory& t, double angle) {
  Look look = level_at(angle);
  if (t.name == "helix") {
    const auto [first, last] = std::ranges::minmax(t.angles);
    look.centre[2] = t.pitch * (angle - 0.5 * (first + last)) / whole_turn;
  } else if (t.name == "laminography") {
    look.ray = std::cos(t.elevation) * look.ray + std::sin(t.elevation) * look.up;
    look.up = cross(look.along, look.ray);
  } else if (t.name == "tomosynthesis") {
    look = {{1, 0, 0}, {0, 1, 0}, {-std::sin(angle), 0, std::cos(angle)}};
  }
  return look;
}

FlexibleView view_of(const Trajectory& t, const Detector& d, double angle) {
  const Look look = look_of(t, angle);
  const auto middle = [](Index count) { return 0.5 * (count - 1); };
  const double bins = middle(d.bins) - d.axis_bin, rows = middle(d.rows) - t.midplane_row;
  FlexibleView view{look.centre - t.sod * look.ray, look.centre, d.bin_pitch * look.along,
                    d.row_pitch * look.up};
  if (t.parallel) view.source = look.ray;
  const bool lies_flat = t.name == "tomosynthesis";
  if (!t.parallel)
    view.detector = view.detector + (t.sdd - t.sod) * (lies_flat ? Vector3{0, 0, 1} : look.ray);
  return moved({.detector = d, .parallel = t.parallel, .curved = t.curved}, view, rows, bins);
}

/// Small turns about x, y and z, one after the other.
Vector3 turned(const Vector3& a, const Vector3& turns) {
  Vector3 turned = a;
  for (std::size_t k = 0; k < 3; ++k) {
    double &p = turned[(k + 1) % 3], &q = turned[(k + 2) % 3];
    const double c = std::cos(turns[k]), s = std::sin(turns[k]), old = p;
    p = c * old - s * q, q = s * old + c * q;
  }
  return turned;
}

void jitter(FlexibleView& view, const Trajectory& t, const Detector& d, std::uint64_t number) {
  Random random = Random(t.seed).at(number);
  const auto within = [&](double most) {
    Vector3 some{};
    for (double& each : some) each = most * (2 * random.uniform() - 1);
    return some;
  };
  const double edge = 0.5 * std::hypot(d.bins * d.bin_pitch, d.rows * d.row_pitch);
  const Vector3 source = within(t.jitter), detector = within(t.jitter), turns = within(t.jitter / edge);
  if (!t.parallel) view.source = view.source + source;
  view.detector = view.detector + detector;
  view.bin_step = turned(view.bin_step, turns), view.row_step = turned(view.row_step, turns);
}

void validate(const Trajectory& t) {
  named(ways, t.name, "trajectory");
  require<GeometryError>(t.parallel || (t.sod > 0 && t.sdd > t.sod), "trajectory: sod = ", t.sod,
                         " mm, sdd = ", t.sdd, " mm; lengths with sdd beyond sod are needed");
  const bool below = t.name != "laminography" || std::abs(t.elevation) < 0.25 * whole_turn;
  require<GeometryError>(below, "laminography: rays rise by ", t.elevation,
                         " rad; less than a quarter of a turn is needed");
  require<GeometryError>(!t.curved || (!t.parallel && t.name != "tomosynthesis" && t.jitter == 0),
                         "trajectory: a curved detector lies about the source; it goes with neither parallel "
                         "rays nor tomosynthesis nor jitter");
  require<GeometryError>(t.jitter >= 0 && std::isfinite(t.jitter), "trajectory: jitter = ", t.jitter,
                         " mm; 0 or more is needed");
}

}  // namespace

std::span<const std::string_view> trajectory_names() { return ways; }

Scan views_along(const Trajectory& trajectory, const Detector& detector) {
  validate(trajectory);
  std::vector<FlexibleView> views;
  for (const double angle : trajectory.angles) {
    views.push_back(view_of(trajectory, detector, angle));
    if (trajectory.jitter > 0) jitter(views.back(), trajectory, detector, views.size());
  }
  return flexible_beam(detector.rows, detector.bins, std::move(views), trajectory.parallel,
                       trajectory.curved);
}

}  // namespace tandem
