#include "parallel_fans.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "free_views.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

double middle_cell(Index count) { return 0.5 * (count - 1); }

/// The coefficients of `FanView::Sum` for a linear function of space, dot(dual, point) + constant.
FanView::Sum sum_of(const Vector3& dual, double constant, const std::array<Vector3, 4>& frame) {
  return {constant + dot(dual, frame[0]), dot(dual, frame[1]), dot(dual, frame[2]), dot(dual, frame[3])};
}

FanView::Sum plus(const FanView::Sum& a, double f, const FanView::Sum& b) {
  return {a.first + f * b.first, a.along + f * b.along, a.outwards + f * b.outwards, a.height + f * b.height};
}

/// The height of the helix at an angle.
struct Line {
  double angle = 0, height = 0, rise;
  explicit Line(const FittedOrbit& orbit) : rise(orbit.rise) {
    const double count = orbit.angles.size();
    for (const double each : orbit.angles) angle += each / count;
    for (const double each : orbit.heights) height += each / count;
  }
  double at(double where) const { return height + (where - angle) / whole_turn * rise; }
};

/// A ray q from the source meets the detector at q / depth from it, where depth = (q . n) / (r . n) and r
/// goes to the middle of the detector.
FanView seen_by(const FlexibleView& view, const FittedOrbit& orbit, std::size_t k, double height,
                const Detector& d) {
  const Vector3 normal = cross(view.bin_step, view.row_step), ray = view.detector - view.source;
  const double square = dot(normal, normal), away = dot(ray, normal);
  const std::array<Vector3, 4> frame{orbit.centre + height * orbit.axis - view.source, orbit.along(k),
                                     orbit.outwards(k), orbit.axis};
  FanView seen{};
  seen.depth = sum_of(1 / away * normal, 0, frame);
  const auto place = [&](const Vector3& dual, double middle) {
    return plus(sum_of(dual, 0, frame), middle - dot(dual, ray), seen.depth);
  };
  seen.row = place(1 / square * cross(normal, view.bin_step), middle_cell(d.rows));
  seen.bin = place(1 / square * cross(view.row_step, normal), middle_cell(d.bins));
  return seen;
}

struct Cell {
  double row, bin;
};

Cell cell_of(const FanView& view, double along, double outwards, double height) {
  const double depth = view.depth.at(along, outwards, height);
  return {view.row.at(along, outwards, height) / depth, view.bin.at(along, outwards, height) / depth};
}

/// Chooses the bins and rows of the fans. Bins are as wide as the bins of the scan appear at the axis, and
/// rows as high as its rows appear from the source: means over all views. Their numbers are those of the
/// scan.
void choose_bins(FanViews& all, const Detector& detector, const FittedOrbit& orbit) {
  constexpr double aside = 1e-3;  // part of the radius
  double axis = 0, level = 0, bins = 0, rows = 0;
  const double count = all.views.size();
  for (const FanView& view : all.views) {
    const Cell at = cell_of(view, 0, 0, 0), right = cell_of(view, aside * orbit.radius, 0, 0),
               left = cell_of(view, -aside * orbit.radius, 0, 0),
               up = cell_of(view, 0, 0, aside * orbit.radius),
               down = cell_of(view, 0, 0, -aside * orbit.radius);
    axis += at.bin / count, level += at.row / count;
    bins += std::abs(right.bin - left.bin) / count, rows += (up.row - down.row) / count;
  }
  all.radius = orbit.radius;
  all.bins = detector.bins, all.rows = detector.rows;
  all.bin_pitch = 2 * aside * orbit.radius / bins, all.axis_bin = axis;
  all.row_slope = 2 * aside / rows, all.level_row = level;
  all.rows_before = detector.rows, all.bins_before = detector.bins;
}

/// The sine of the angle of a ray in the fan of its source.
double sine_of(const ParallelFans& fans, double bin) {
  return (bin - fans.axis_bin) * fans.bin_pitch / fans.radius;
}

/// Whether the rows of the detector of each view are those of the fans, but for `most`.
bool rows_agree(const FanViews& all) {
  constexpr double most = 0.01;  // rows
  const double last_row = all.rows - 1, last_bin = all.bins - 1;
  return std::ranges::all_of(all.views, [&](const FanView& view) {
    for (const double row : {0.0, last_row})
      for (const double bin : {0.0, all.axis_bin, last_bin}) {
        const double sine = sine_of(all, bin), square = 1 - sine * sine, p = sine * all.radius;
        const Cell cell = cell_of(view, p * std::sqrt(square), p * sine,
                                  (row - all.level_row) * all.row_slope * all.radius * square);
        if (!(std::abs(cell.row - row) <= most)) return false;
      }
    return true;
  });
}

/// The ends of the angles of rays in their fan, times the way.
std::array<double, 2> ends_of_rays(const ParallelFans& fans) {
  const double low = fans.way * std::asin(sine_of(fans, 0)),
               high = fans.way * std::asin(sine_of(fans, fans.bins - 1));
  return {std::min(low, high), std::max(low, high)};
}

void add_steps_of_fans(HelixScan& helix) {
  FanViews& seen = helix.seen;
  const auto [low, high] = ends_of_rays(seen);
  seen.first = seen.views.front().angle - low, seen.last = seen.views.back().angle - high;
  constexpr double rounding = 1e-9;
  for (std::size_t k = 0; k < seen.views.size(); ++k) {
    const double angle = seen.views[k].angle;
    const bool whole = angle >= seen.first - rounding && angle <= seen.last + rounding;
    helix.fans.views.push_back({seen.way * angle, whole ? helix.orbit.steps[k] : 0});
  }
}

/// Whether bins reach nearly as far on both sides of the axis, and no ray passes beyond the sources.
bool is_sided_alike(const ParallelFans& fans) {
  constexpr double most = 0.05, steepest = 0.95;
  const double last = fans.bins - 1, middle = 0.5 * last;
  return std::abs(fans.axis_bin - middle) <= most * fans.bins &&
         std::max(std::abs(sine_of(fans, 0)), std::abs(sine_of(fans, last))) <= steepest;
}

constexpr double fade_of_window = 1.0 / 6, widest_window = 1.5;  // half turns

}  // namespace

std::optional<HelixScan> helix_scan(const Scan& scan, const FittedOrbit& orbit) {
  constexpr double least_way = 1.1;  // half turns
  constexpr std::size_t fewest = 4;  // views
  const bool flat_from_a_source = !orbit.parallel && !is_curved(scan);
  const auto free = as_free_views(scan);
  const Detector& detector = free.detector;
  const std::vector<FlexibleView>& views = free.views;
  if (!orbit.goes_on || !flat_from_a_source || views.size() < fewest || detector.bins < 2) return {};
  HelixScan helix;
  helix.orbit = orbit;
  FanViews& seen = helix.seen;
  seen.rise = orbit.rise, seen.way = orbit.angles.back() > orbit.angles.front() ? 1 : -1;
  const Line line(orbit);
  for (std::size_t k = 0; k < views.size(); ++k) {
    seen.views.push_back(seen_by(views[k], orbit, k, line.at(orbit.angles[k]), detector));
    seen.views.back().angle = seen.way * orbit.angles[k];
  }
  choose_bins(seen, detector, orbit);
  if (!is_sided_alike(seen) || !(std::abs(orbit.rise) > std::abs(seen.row_slope) * orbit.radius)) return {};
  seen.upright = rows_agree(seen);
  add_steps_of_fans(helix);
  if (seen.last - seen.first < least_way * half_turn) return {};
  return helix;
}

Detector detector_of(const HelixScan& helix) {
  const ParallelFans& fans = helix.seen;
  return {fans.bins, fans.rows, fans.bin_pitch, std::abs(fans.row_slope) * fans.radius, fans.axis_bin};
}

Range views_behind(const HelixScan& helix, Range fans) {
  const std::vector<FanView>& views = helix.seen.views;
  const Index all = views.size();
  const auto [low, high] = ends_of_rays(helix.seen);
  const auto at = [&](double angle) {
    return std::ranges::upper_bound(views, angle, {}, &FanView::angle) - views.begin();
  };
  const double first = views[fans.first].angle + low, last = views[fans.last - 1].angle + high;
  constexpr Index taps = 4;
  const Index begin = std::clamp<Index>(at(first) - 2, 0, std::min(fans.first, all - taps));
  return {begin, std::clamp<Index>(at(last) + 2, std::max(fans.last, begin + taps), all)};
}

Index views_beside(const HelixScan& helix) {
  Index before = 0, behind = 0;
  for (Index k = 0; k < std::ssize(helix.fans.views); ++k) {
    const Range views = views_behind(helix, {k, k + 1});
    before = std::max(before, k - views.first), behind = std::max(behind, views.last - k - 1);
  }
  return before + behind;
}

namespace {

/// A number that changes evenly in space, as a function of the voxels of a grid.
Evenly over_voxels(const VolumeGrid& grid, const Vector3& direction, const Vector3& from) {
  const Vector3 first{grid.x(0), grid.y(0), grid.z(0)};
  Evenly e{dot(direction, first - from), {}};
  for (std::size_t k = 0; k < 3; ++k) e.step[k] = direction[k] * grid.pitch[k];
  return e;
}

Evenly scaled(Evenly e, double factor, double more) {
  e.first = factor * e.first + more;
  for (double& step : e.step) step *= factor;
  return e;
}

/// @throws GeometryError unless all corners of the grid are within the helix
void require_within(const HelixScan& helix, const VolumeGrid& grid) {
  constexpr double voxels = 4;  // as for other views
  const FittedOrbit& orbit = helix.orbit;
  const double most = orbit.radius - voxels * std::max({grid.pitch[0], grid.pitch[1], grid.pitch[2]});
  for (int k = 0; k < 8; ++k) {
    const auto end = [&](std::size_t axis) { return (k >> axis & 1) != 0 ? grid.size[axis] - 0.5 : -0.5; };
    const Vector3 from = Vector3{grid.x(end(0)), grid.y(end(1)), grid.z(end(2))} - orbit.centre;
    const double away = length(from - dot(from, orbit.axis) * orbit.axis);
    require<GeometryError>(away <= most, "FlexibleBeam: the grid reaches to ", away,
                           " mm from the axis of the helix, whose sources are at ", orbit.radius,
                           " mm; at most ", most, " may be; take a smaller grid");
  }
}

}  // namespace

FanPlaces pack(const HelixScan& helix, Range fans, const VolumeGrid& grid) {
  require_within(helix, grid);
  const FittedOrbit& orbit = helix.orbit;
  FanPlaces places{{}, static_cast<const ParallelFans&>(helix.seen), 0, 0, {}};
  const double way = (places.fans.last - places.fans.first) / half_turn;
  places.window = std::min(widest_window, 0.5 * way);
  places.fade = std::min(fade_of_window, places.window - 0.5);
  const double first = places.fans.first / half_turn + places.window,
               last = places.fans.last / half_turn - places.window;
  const Line line(orbit);
  const Evenly up = over_voxels(grid, orbit.axis, orbit.centre);
  for (Index f = fans.first; f < fans.last; ++f) {
    const std::size_t k = f;
    const double angle = helix.fans.views[k].angle;
    const Evenly aside = over_voxels(grid, orbit.along(k), orbit.centre);
    const double now = places.fans.way * angle / half_turn;
    places.views.push_back({scaled(aside, 1 / places.fans.bin_pitch, places.fans.axis_bin),
                            over_voxels(grid, orbit.outwards(k), orbit.centre),
                            scaled(up, 1, -line.at(angle)), first - now, last - now,
                            helix.fans.views[k].step});
  }
  return places;
}

namespace {

/// Whether a fan at an angle, or a fan that is some half turns away from it, sees a point.
bool is_seen_from(const HelixScan& helix, const Vector3& point, double angle) {
  const ParallelFans& fans = helix.seen;
  const FittedOrbit& orbit = helix.orbit;
  const Line line(orbit);
  const Vector3 from = point - orbit.centre;
  const double x = dot(from, orbit.at_zero), y = dot(from, orbit.at_quarter), z = dot(from, orbit.axis);
  const double first = std::min(fans.way * fans.first, fans.way * fans.last),
               last = std::max(fans.way * fans.first, fans.way * fans.last);
  for (double t = first + angle; t <= last; t += half_turn) {
    const double aside = y * std::cos(t) - x * std::sin(t), depth = x * std::cos(t) + y * std::sin(t),
                 away = std::sqrt(fans.radius * fans.radius - aside * aside);
    const double slope = (z - line.at(t + std::asin(aside / fans.radius))) / (away - depth),
                 row = fans.level_row + slope * fans.radius / (away * fans.row_slope),
                 bin = fans.axis_bin + aside / fans.bin_pitch;
    if (row >= -0.5 && row <= fans.rows - 0.5 && bin >= -0.5 && bin <= fans.bins - 0.5) return true;
  }
  return false;
}

}  // namespace

double share_unseen(const HelixScan& helix, const VolumeGrid& grid, Index slice) {
  constexpr Index points = 8, directions = 16;
  const FittedOrbit& orbit = helix.orbit;
  const double field = 0.5 * helix.seen.bins * helix.seen.bin_pitch;
  const auto at = [&](Index k, std::size_t axis) { return (k + 0.5) / points * grid.size[axis] - 0.5; };
  double seen = 0, all = 0;
  for (Index y = 0; y < points; ++y)
    for (Index x = 0; x < points; ++x) {
      const Vector3 point{grid.x(at(x, 0)), grid.y(at(y, 1)), grid.z(slice)};
      const Vector3 from = point - orbit.centre;
      if (length(from - dot(from, orbit.axis) * orbit.axis) > 0.95 * field) continue;
      for (Index k = 0; k < directions; ++k, ++all)
        seen += is_seen_from(helix, point, k * half_turn / directions);
    }
  return all > 0 ? 1 - seen / all : 0;
}

}  // namespace tandem
