#include "whole_turn.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "../core/ceil_div.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

namespace {

/// How rays of a scan lie among parallel ones. A ray of a point source at the angle `fan` from the central
/// ray is the parallel ray of a view that is turned back by as much.
class ScanRays {
 public:
  explicit ScanRays(const Scan& scan) : d_(detector_of(scan)), bin_(d_.bin_pitch) {
    if (!std::holds_alternative<ParallelBeam>(scan)) {
      const ConeBeam& cone = point_source_of(scan);
      sod_ = cone.sod, sdd_ = cone.sdd;
    }
  }
  /// The distance from the axis of the ray to a bin.
  double distance(double bin) const {
    const double u = (bin - d_.axis_bin) * bin_;
    return sod_ > 0 ? sod_ * u / std::hypot(u, sdd_) : u;
  }
  double fan(double distance) const { return sod_ > 0 ? std::asin(distance / sod_) : 0; }
  double bin(double distance) const {
    return d_.axis_bin + (sod_ > 0 ? std::tan(fan(distance)) * sdd_ : distance) / bin_;
  }
  /// The distance between rays that are neighbours at the axis.
  double step() const { return sod_ > 0 ? bin_ * sod_ / sdd_ : bin_; }
  Index bins() const { return d_.bins; }

 private:
  Detector d_;
  double bin_, sod_ = 0, sdd_ = 0;
};

/// Where a parallel ray was measured: between views, and at a bin.
struct Measured {
  Between views;
  double bin;
};

std::optional<Measured> measured(const ScanRays& rays, const ViewsOfTurn& turn, double angle,
                                 double distance) {
  constexpr double rounding = 1e-6;
  const double bin = rays.bin(distance);
  if (!(bin > -rounding && bin < rays.bins() - 1 + rounding)) return {};
  const std::optional<Between> views = turn.at(angle + rays.fan(distance));
  if (!views) return {};
  return Measured{*views, std::clamp<double>(bin, 0, rays.bins() - 1)};
}

/// The turn of all rays that lie at most so far from the axis; empty if one was not measured.
std::optional<WholeTurn> turn_within(double reach, std::span<const float> lines, const Scan& scan, Index rows,
                                     Index most) {
  constexpr double rounding = 1e-6;
  const ScanRays rays(scan);
  const ViewsOfTurn turn(angles_of(scan));
  WholeTurn made;
  made.rows = rows, made.step = rays.step(), made.first_angle = angles_of(scan).front();
  const double first = rays.distance(0);  // so that rays of a parallel beam are those that were measured
  made.first = first + made.step * ceil_index((-reach - first) / made.step - rounding);
  made.rays = 1 + floor_index((reach - made.first) / made.step + rounding);
  const Index steps = std::max<Index>(1, std::lround(whole_turn / turn.step()));
  made.views = steps / ceil_div(steps, most);
  if (made.rays < 1) return {};
  made.values.resize(rows * made.views * made.rays);
  const Index bins = rays.bins();
  std::atomic<bool> lacks = false;
  parallel_for(made.views, [&](Index v) {
    for (Index k = 0; k < made.rays && !lacks; ++k) {
      const double distance = made.distance(k);
      std::optional<Measured> from = measured(rays, turn, made.angle(v), distance);
      if (!from) from = measured(rays, turn, made.angle(v) + half_turn, -distance);
      if (!from) {
        lacks = true;
        return;
      }
      const Index bin = std::min(floor_index(from->bin), bins - 2);
      const auto right = static_cast<float>(from->bin - bin), next = static_cast<float>(from->views.share);
      const auto at = [&](Index view, Index row) {
        const float* p = &lines[(view * rows + row) * bins + bin];
        return p[0] + right * (p[1] - p[0]);
      };
      for (Index row = 0; row < rows; ++row) {
        const float before = at(from->views.before, row), after = at(from->views.after, row);
        made.values[(row * made.views + v) * made.rays + k] = before + next * (after - before);
      }
    }
  });
  if (lacks) return {};
  return made;
}

}  // namespace

std::optional<WholeTurn> whole_turn_of(std::span<const float> lines, const Scan& scan, Index rows,
                                       Index most) {
  if (angles_of(scan).size() < 2 || !axis_of(scan) || !row_axes_of(scan).empty() ||
      !view_shifts_of(scan).empty() || is_curved(scan) || detector_of(scan).bins < 2)
    return {};
  const ScanRays rays(scan);
  const auto [near, far] = std::minmax({-rays.distance(0), rays.distance(rays.bins() - 1)});
  std::optional<WholeTurn> made = turn_within(far, lines, scan, rows, most);
  if (made || !(near > 0)) return made;
  made = turn_within(near, lines, scan, rows, most);
  if (made) made->to_nearer_side = true;
  return made;
}

}  // namespace tandem::calibration
