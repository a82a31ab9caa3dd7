#include "ball_body.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../core/error.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Vector3d;
using Numbers = std::vector<std::optional<std::size_t>>;
using Points = std::span<const Vector3d>;

constexpr double near = 0.03;  // share of the extent, by which a scanner a few percent off bends it

double extent(Points all) {
  double most = 0;
  for (const Vector3d& a : all)
    for (const Vector3d& b : all) most = std::max(most, (a - b).norm());
  return most;
}

/// Three points far from each other: the two that are farthest apart, and the one farthest from their line.
std::array<std::size_t, 3> far_apart(Points all) {
  std::array<std::size_t, 3> best{};
  double most = 0;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b)
      if ((all[a] - all[b]).norm() > most) most = (all[a] - all[b]).norm(), best = {a, b, 0};
  most = 0;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (const double area = (all[c] - all[best[0]]).cross(all[c] - all[best[1]]).norm(); area > most)
      most = area, best[2] = c;
  return best;
}

Eigen::Matrix4d laid(const std::vector<Vector3d>& body, const std::vector<Vector3d>& found) {
  Eigen::Matrix3Xd from(3, body.size()), to(3, body.size());
  for (std::size_t k = 0; k < body.size(); ++k) from.col(k) = body[k], to.col(k) = found[k];
  return Eigen::umeyama(from, to, true);
}

Vector3d moved(const Eigen::Matrix4d& by, const Vector3d& point) {
  return (by * point.homogeneous()).head<3>();
}

/// A way to lay the body on the balls: the numbers of the balls, how many balls match, and how far off they
/// are.
struct Way {
  Numbers number;
  std::size_t matched = 0;
  double off = std::numeric_limits<double>::infinity();
  bool better_than(const Way& other) const {
    return matched != other.matched ? matched > other.matched : off < other.off;
  }
};

Way way_by(const Eigen::Matrix4d& by, Points found, Points body, double tolerance) {
  Way way{Numbers(found.size()), 0, 0};
  std::vector<char> taken(body.size(), 0);
  for (std::size_t f = 0; f < found.size(); ++f) {
    double nearest = tolerance;
    for (std::size_t b = 0; b < body.size(); ++b)
      if (const double apart = (moved(by, body[b]) - found[f]).norm(); apart < nearest && !taken[b])
        nearest = apart, way.number[f] = b;
    if (!way.number[f]) continue;
    taken[*way.number[f]] = 1;
    ++way.matched, way.off += nearest * nearest;
  }
  way.off = std::sqrt(way.off / std::max<std::size_t>(1, way.matched));
  return way;
}

/// Whether the triangle of three balls has sides in the ratios of another one.
bool alike(const std::array<Vector3d, 3>& a, const std::array<Vector3d, 3>& b) {
  std::array<double, 3> ratio{};
  for (std::size_t k = 0; k < 3; ++k)
    ratio[k] = (a[k] - a[(k + 1) % 3]).norm() / (b[k] - b[(k + 1) % 3]).norm();
  const auto [low, high] = std::ranges::minmax(ratio);
  return low > 0 && high < low * (1 + 4 * near);
}

/// The best way, and the best one that names balls otherwise.
std::array<Way, 2> best_ways(Points found, Points body) {
  const auto corners = far_apart(found);
  const std::array at{found[corners[0]], found[corners[1]], found[corners[2]]};
  const double tolerance = near * extent(found);
  std::array<Way, 2> best;
  for (std::size_t a = 0; a < body.size(); ++a)
    for (std::size_t b = 0; b < body.size(); ++b)
      for (std::size_t c = 0; c < body.size(); ++c) {
        if (a == b || b == c || c == a || !alike(at, {body[a], body[b], body[c]})) continue;
        const Way way =
            way_by(laid({body[a], body[b], body[c]}, {at[0], at[1], at[2]}), found, body, tolerance);
        if (way.number == best[0].number) {
          best[0].off = std::min(best[0].off, way.off);
        } else if (way.better_than(best[0])) {
          best[1] = best[0], best[0] = way;
        } else if (way.better_than(best[1])) {
          best[1] = way;
        }
      }
  return best;
}

}  // namespace

BodyMatch match_body(Points found, Points body) {
  const auto [best, second] = best_ways(found, body);
  require<GeometryError>(best.matched >= 4, "balls: the known places fit ", best.matched, " of ",
                         found.size(),
                         " balls that were found; at least 4 are needed: are they in mm, and not mirrored?");
  require<GeometryError>(
      second.matched < best.matched || second.off > 2 * best.off,
      "balls: the known places fit in more than one way; a body without symmetry is needed");
  std::vector<Vector3d> from, to;
  for (std::size_t f = 0; f < found.size(); ++f)
    if (best.number[f]) from.push_back(body[*best.number[f]]), to.push_back(found[f]);
  Eigen::Matrix4d by = laid(from, to);
  BodyMatch match{best.number, std::cbrt(by.topLeftCorner<3, 3>().determinant()), {}};
  by.topRows<3>() /= match.scale;
  for (const Vector3d& each : body) match.places.push_back(moved(by, each));
  return match;
}

}  // namespace tandem::calibration
