#include "level_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../core/error.hpp"
#include "../core/rounding.hpp"
#include "../core/units.hpp"
#include "beams/cone.hpp"
#include "beams/parallel.hpp"
#include "beams/ray_shares.hpp"
#include "beside_axis.hpp"
#include "flexible_views.hpp"
#include "parallel_fans.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

double half(Index count) { return 0.5 * (count - 1); }

/// The way from the source to a place on a detector; of parallel rays their direction.
Vector3 ray_to(const FlexibleView& view, bool parallel, const Vector3& place) {
  return parallel ? 1 / length(view.source) * view.source : place - view.source;
}

Vector3 place_on(const FlexibleView& view, double rows, double bins) {
  return view.detector + rows * view.row_step + bins * view.bin_step;
}

/// The number of rows by which a row is off a level one at its ends.
double off_level(const FlexibleView& view, bool parallel, const Detector& d, const Vector3& along) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  const double square = dot(normal, normal);
  double most = 0;
  for (const double row : {-half(d.rows), 0.0, half(d.rows)}) {
    const Vector3 ray = ray_to(view, parallel, place_on(view, row, 0));
    const Vector3 level = along - dot(along, normal) / dot(ray, normal) * ray;  // on the detector
    const double bins = dot(cross(view.row_step, normal), level) / square,
                 rows = dot(cross(normal, view.bin_step), level) / square;
    most = std::max(most, bins > 0 ? rows * rows / (bins * bins) : INFINITY);
  }
  return std::sqrt(most) * half(d.bins);
}

/// The detector turned so that its rows go along a direction, by the least angle, about its middle.
/// @throws GeometryError naming the view if that angle is large
FlexibleView turned_level(const FlexibleView& view, const Vector3& along, std::size_t number) {
  constexpr double most = 75;  // degrees
  Vector3 normal = cross(view.bin_step, view.row_step);
  const double angle = in_degrees(std::asin(std::min(1.0, std::abs(dot(normal, along)) / length(normal))));
  require<GeometryError>(angle <= most, "ramp filter: view ", number, ": its detector is turned by ", angle,
                         " degrees against the way of the source, at most ", most,
                         " may be; a solver takes such views, such as cgls");
  normal = normal - dot(normal, along) * along;
  const Vector3 up = 1 / length(normal) * cross(normal, along);
  double bin = length(view.bin_step), row = length(view.row_step);
  if (std::abs(dot(view.bin_step, along)) / bin < std::abs(dot(view.row_step, along)) / row)
    std::swap(bin, row);
  return {view.source, view.detector, bin * along, row * up};
}

/// The angle of the ray to a place with the normal of a detector, degrees; more than 90 if it goes back.
double obliqueness(const FlexibleView& view, bool parallel, const Vector3& place) {
  const Vector3 normal = cross(view.bin_step, view.row_step), ray = ray_to(view, parallel, place),
                forward = std::copysign(1, dot(ray_to(view, parallel, view.detector), normal)) * normal;
  return in_degrees(std::acos(std::clamp(dot(ray, forward) / length(ray) / length(normal), -1.0, 1.0)));
}

/// The place where the ray to a point meets a detector, in rows and bins from its middle.
std::array<double, 2> met(const FlexibleView& view, bool parallel, const Vector3& place) {
  const Vector3 normal = cross(view.bin_step, view.row_step), ray = ray_to(view, parallel, place);
  const Vector3 there = place + dot(view.detector - place, normal) / dot(ray, normal) * ray - view.detector;
  const double square = dot(normal, normal);
  return {dot(cross(normal, view.bin_step), there) / square,
          dot(cross(view.row_step, normal), there) / square};
}

/// Where the corners of a detector as it stood meet the level one, in rows and in bins from its middle.
struct Corners {
  std::array<double, 4> rows, bins;
};

Corners corners_on(const FlexibleView& level, const FlexibleBeam& scan, std::size_t number) {
  constexpr double most = 80;  // degrees
  const Detector& d = scan.detector;
  Corners corners{};
  std::size_t k = 0;
  for (const double row : {-half(d.rows), half(d.rows)})
    for (const double bin : {-half(d.bins), half(d.bins)}) {
      const Vector3 place = point_on(scan, scan.views[number], row, bin);
      const double oblique = obliqueness(level, scan.parallel, place);
      require<GeometryError>(oblique <= most, "ramp filter: view ", number, ": its detector sees a ray at ",
                             oblique, " degrees to the normal of a level one, at most ", most,
                             " may be; a solver takes such views, such as cgls");
      const std::array<double, 2> at = met(level, scan.parallel, place);
      corners.rows[k] = at[0], corners.bins[k++] = at[1];
    }
  std::ranges::sort(corners.bins);
  return corners;
}

/// Rows or bins more at each side so that a level detector has all corners.
Index more_for(const std::array<double, 4>& corners, Index count) {
  constexpr double rounding = 1e-6;
  const auto [low, high] = std::ranges::minmax(corners);
  return ceil_index(std::max(-low, high) - half(count) - rounding);
}

void copy_to(const Vector3& from, double* to) { std::copy_n(from.data(), 3, to); }

/// A vector that changes evenly over cells, along some direction.
struct VectorOverCells {
  Vector3 first, a_row, a_bin;
  EvenlyOverCells along(const Vector3& direction) const {
    return {dot(direction, first), dot(direction, a_row), dot(direction, a_bin)};
  }
};

EvenlyOverCells sum(const EvenlyOverCells& a, double f, const EvenlyOverCells& b) {
  return {a.first + f * b.first, a.a_row + f * b.a_row, a.a_bin + f * b.a_bin};
}

/// How the cells of a level detector see the one that stood otherwise. A ray q from the source meets it at q
/// / depth, where depth = (q . n) / (r . n) and r goes to its middle; a parallel ray t that passes x, as seen
/// from the middle, at x - t (x . n) / (t . n).
void place_cells(LevelView& seen, const FlexibleView& level, const FlexibleView& view,
                 const FlexibleBeam& scan, const Detector& d) {
  const Vector3 normal = cross(view.bin_step, view.row_step),
                ray = ray_to(view, scan.parallel, view.detector);
  const double square = dot(normal, normal), away = dot(ray, normal);
  const Vector3 first = place_on(level, -half(d.rows), -half(d.bins)),
                from = scan.parallel ? view.detector : view.source;
  const VectorOverCells cells{first - from, level.row_step, level.bin_step};
  seen.depth = scan.parallel ? EvenlyOverCells{1, 0, 0} : cells.along(1 / away * normal);
  const auto place = [&](const Vector3& dual, double middle) {
    const double aside = dot(dual, ray);
    return scan.parallel ? sum(cells.along(dual - aside / away * normal), middle, seen.depth)
                         : sum(cells.along(dual), middle - aside, seen.depth);
  };
  seen.row = place(1 / square * cross(normal, view.bin_step), half(scan.detector.rows));
  seen.bin = place(1 / square * cross(view.row_step, normal), half(scan.detector.bins));
}

void add_rays(LevelView& seen, const FlexibleView& level, bool parallel, const Detector& d) {
  copy_to(ray_to(level, parallel, place_on(level, -half(d.rows), -half(d.bins))), seen.to_first_cell);
  if (!parallel) copy_to(level.bin_step, seen.to_next_bin), copy_to(level.row_step, seen.to_next_row);
  copy_to(1 / length(level.bin_step) * level.bin_step, seen.along);
}

/// The level views, about the middles of the detectors as they stand, and which of these are level already.
struct Turned {
  std::vector<FlexibleView> views{};
  std::vector<bool> as_they_stood{};
  std::vector<std::array<double, 4>> ends{};  ///< bins of the corners of each, from its middle
  Index rows_more = 0, bins_more = 0;         ///< at each side
};

Turned turned_level(const FlexibleBeam& scan, const FittedOrbit& orbit) {
  constexpr double most = 0.1;  // rows
  const Detector& d = scan.detector;
  const double end = half(d.bins);
  Turned turned;
  std::array<Index, 2> more{};
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    const FlexibleView& view = scan.views[k];
    const bool stood = !scan.curved && off_level(view, scan.parallel, d, orbit.along(k)) <= most;
    turned.as_they_stood.push_back(stood);
    turned.views.push_back(stood ? view : turned_level(view, orbit.along(k), k));
    std::array<Index, 2> its{};
    turned.ends.push_back({-end, -end, end, end});
    if (!stood) {
      const Corners corners = corners_on(turned.views.back(), scan, k);
      turned.ends.back() = corners.bins;
      its = {more_for(corners.rows, d.rows), more_for(corners.bins, d.bins)};
    }
    for (std::size_t i = 0; i < 2; ++i) more[i] = k == 0 ? its[i] : std::max(more[i], its[i]);
  }
  turned.rows_more = more[0], turned.bins_more = more[1];
  return turned;
}

/// The detector of the level views, with the pitches of the first one and the mean of the bins of the axis.
Detector level_detector(const FlexibleBeam& scan, const Turned& turned,
                        const std::vector<BesideAxis>& beside) {
  Detector d{scan.detector.bins + 2 * turned.bins_more, scan.detector.rows + 2 * turned.rows_more,
             length(turned.views.front().bin_step), length(turned.views.front().row_step)};
  double aside = 0;
  for (std::size_t k = 0; k < beside.size(); ++k) aside += beside[k].bin(0, turned.views[k]);
  d.axis_bin = half(d.bins) + aside / beside.size();
  return d;
}

/// How far beside the axis a ray passes, in bins of the detector of a circle.
double bins_beside(const ConeBeam& circle, bool parallel) {
  return (parallel ? 1 : circle.sdd) / circle.detector.bin_pitch;
}

/// A circle at the mean distance of the axis, whose detector faces it.
ConeBeam circle_like(const FlexibleBeam& scan, const FittedOrbit& orbit, const Turned& turned,
                     const std::vector<BesideAxis>& beside, const Detector& level) {
  ConeBeam circle{level, orbit.angles};
  double away = 0;
  for (std::size_t k = 0; k < beside.size(); ++k) {
    const FlexibleView& view = turned.views[k];
    away += length(ray_to(view, scan.parallel, place_on(view, 0, beside[k].bin(0, view))));
  }
  circle.sdd = away / beside.size(), circle.sod = 0.5 * circle.sdd;  // shares do not depend on these
  circle.midplane_row = half(level.rows);
  std::vector<std::array<double, 4>> corners = turned.ends;
  for (std::size_t k = 0; k < beside.size(); ++k)
    for (double& end : corners[k])
      end = bins_beside(circle, scan.parallel) * beside[k].of(place_on(turned.views[k], 0, end));
  circle.detector = facing_detector(level, corners);
  return circle;
}

/// Rows that voxels meet in the views of a turn beyond those that there are: they are as the last ones.
Index rows_beyond(const FlexibleBeam& scan, const FittedOrbit& orbit, const ConeBeam& circle,
                  const Turned& turned) {
  const Detector& d = circle.detector;
  const FlexibleView& view = turned.views.front();
  const double climb = std::abs(orbit.rise) * (half_turn + fade_of_turn) / whole_turn;
  double rows = climb / d.row_pitch, aside = 0;
  if (!scan.parallel) {
    const double side = std::max(d.axis_bin, d.bins - 1 - d.axis_bin) * d.bin_pitch;
    const double seen = orbit.radius * std::sin(std::atan(side / circle.sdd));
    rows *= circle.sdd / (orbit.radius - seen);
    aside = std::abs(met(view, false, view.source + orbit.radius * (-1 * orbit.outwards(0)))[0]);
  }
  return std::clamp<Index>(ceil_index(aside + rows - half(d.rows)), 0, d.rows);
}

/// The same for a circle: rows on which voxels fall in some views (`filtered_scan`). None if the source lies
/// so high or low that rays climb through the slices.
Index rows_beyond_circle(const FlexibleBeam& scan, const FittedOrbit& orbit, ConeBeam circle,
                         const Turned& turned) {
  if (scan.parallel) return 0;
  const FlexibleView& view = turned.views.front();
  const double aside = met(view, false, view.source + orbit.radius * (-1 * orbit.outwards(0)))[0];
  if (std::abs(aside) > scan.detector.rows) return 0;
  circle.sod = orbit.radius, circle.midplane_row += aside;
  const ConeBeam wide = filtered_scan(circle);
  const Index below = std::lround(wide.midplane_row - circle.midplane_row);
  return std::max(below, wide.detector.rows - circle.detector.rows - below);
}

/// The bins of the detector among those of one that reaches as far on both sides of the axis.
struct Wide {
  Detector detector;
  Range own_bins;
};

/// Shares times what the back-projection of a view leaves out: the distance of the detector, the area of a
/// cell and, for the ramp, its pitch.
std::vector<float> scaled_shares(const std::vector<float>& own, const Wide& wide, const FlexibleBeam& level) {
  const Detector& d = wide.detector;
  const std::size_t bins = wide.own_bins.size(), all = d.bins + 2, first = wide.own_bins.first;
  std::vector<float> shares(level.views.size() * all);
  for (std::size_t k = 0; k < level.views.size(); ++k) {
    const FlexibleView& view = level.views[k];
    const double factor =
        std::abs(dot(ray_to(view, level.parallel, view.detector), cross(view.bin_step, view.row_step))) *
        d.bin_pitch / length(view.bin_step);
    const auto from = own.begin() + k * (bins + 2);
    const auto to = shares.begin() + k * all;
    const auto scaled = [&](float share) { return static_cast<float>(factor * share); };
    to[0] = scaled(from[0]);
    to[all - 1] = scaled(from[bins + 1]);
    std::transform(from + 1, from + bins + 1, to + first + 1, scaled);
  }
  return shares;
}

LevelView cells_of(const FlexibleView& level, bool as_it_stood, const FlexibleView& view,
                   const FlexibleBeam& scan, const Detector& d, Range own_rows) {
  LevelView seen{};
  seen.as_it_stood = as_it_stood, seen.own_rows = own_rows;
  place_cells(seen, level, view, scan, d);
  if (scan.curved) seen.curve = curve_of(scan, view);
  if (as_it_stood) {  // cells lie on cells
    seen.row = {std::round(seen.row.first / seen.depth.first), 1, 0};
    seen.bin = {std::round(seen.bin.first / seen.depth.first), 0, 1};
    seen.depth = {1, 0, 0};
  }
  add_rays(seen, level, scan.parallel, d);
  return seen;
}

/// A scan on its way to level rows.
struct Levelling {
  FittedOrbit orbit;
  std::vector<BesideAxis> beside;
  Turned turned;
  Detector level;
  ConeBeam circle;
  Wide wide;
  Range own_rows;  ///< the level rows of the detector as it stood

  explicit Levelling(const FlexibleBeam& scan)
      : orbit(fitted_orbit(scan)),
        beside(beside_axis(scan.views, orbit)),
        turned(turned_level(scan, orbit)),
        level(level_detector(scan, turned, beside)),
        circle(circle_like(scan, orbit, turned, beside, level)),
        wide{level, {0, level.bins}} {
    const Index beyond = orbit.goes_on ? rows_beyond(scan, orbit, circle, turned)
                                       : rows_beyond_circle(scan, orbit, circle, turned);
    own_rows = {beyond, beyond + level.rows};
    wide.detector.rows += 2 * beyond;
    if (is_half(scan.parallel)) widen(scan.parallel);
  }

  bool is_half(bool parallel) const {
    const Index bins = parallel ? symmetric(ParallelBeam{circle.detector, circle.angles}).detector.bins
                                : symmetric(circle).detector.bins;
    return bins > circle.detector.bins;
  }

  /// Adds bins on the nearer side until the rows of all views go as far there as on the farther one.
  void widen(bool parallel) {
    constexpr double most = 80, rounding = 1e-6;  // degrees; bins
    const Sides side = sides(circle.detector);
    const double end = -side.direction * side.farther / bins_beside(circle, parallel);
    Index missing = 0;
    for (std::size_t k = 0; k < beside.size(); ++k) {
      const FlexibleView& view = turned.views[k];
      const double bin = beside[k].bin(end, view);
      const double oblique = obliqueness(view, parallel, place_on(view, 0, bin));
      require<GeometryError>(oblique <= most, "ramp filter: view ", k,
                             ": rows of a half acquisition go on beyond its detector to a ray at ", oblique,
                             " degrees to its normal, at most ", most,
                             " may be; a solver takes such views, such as cgls");
      missing = std::max(missing, ceil_index(-side.direction * bin - half(level.bins) - rounding));
    }
    wide.detector.bins += missing;
    if (side.direction < 0) return;
    wide.detector.axis_bin += missing;
    wide.own_bins = {missing, missing + level.bins};
  }

  /// The shares of rays, (view, 1 + bin + 1), rad.
  std::vector<float> shares(bool parallel) const {
    const auto from_axis = [&, unit = bins_beside(circle, parallel)](Index view, Index ray) {
      return unit * beside[view].of(place_on(turned.views[view], 0, ray - 1 - half(level.bins)));
    };
    const Index rays = level.bins + 2;
    if (orbit.goes_on) return shares_of_helix(rays, from_axis);
    return parallel ? ray_shares(ParallelBeam{circle.detector, circle.angles}, rays, from_axis)
                    : ray_shares(circle, rays, from_axis);
  }

  /// Each view of a helix stands for its step, and a turn for a circle.
  std::vector<float> shares_of_helix(Index rays, const PlacesOfRays& from_axis) const {
    double way = 0;
    for (const double step : orbit.steps) way += step;
    const SidedShares sided(circle.detector, std::lround(whole_turn * beside.size() / way));
    std::vector<float> shares;
    for (Index view = 0; view < std::ssize(beside); ++view)
      for (Index ray = 0; ray < rays; ++ray)
        shares.push_back(static_cast<float>(0.5 * orbit.steps[view] * sided.twice(from_axis(view, ray))));
    return shares;
  }
};

/// Parallel rays that rise a little over the plane across the axis nearly see the lines of the views half a
/// turn away. A view holds the Fourier plane across its rays. If these rise by e, the two views that hold a
/// frequency, which rises by f, are half a turn less 2 asin(tan e tan f) apart. So up to f = 45 degrees,
/// views over half a turn leave open 2 e more than level ones do.
void take_opposite(ViewsOnOrbit& views, const FittedOrbit& orbit) {
  constexpr double most = in_radians(10);
  const double rise = std::acos(std::min(1.0, orbit.radius));
  const double gap = widest_gap(orbit.angles, half_turn) + 2 * rise;
  if (rise <= most && gap < views.gap) views.gap = gap, views.period = half_turn;
}

}  // namespace

FilteredRows level_rows(const FlexibleBeam& scan) {
  const Levelling levelling(scan);
  if (const std::optional<HelixScan> helix = helix_scan(scan, levelling.orbit))
    return {detector_of(*helix), views_beside(*helix)};
  return {levelling.wide.detector};
}

ViewsOnOrbit views_on_orbit(const FlexibleBeam& scan) {
  const Levelling levelling(scan);
  const FittedOrbit& orbit = levelling.orbit;
  const double period = period_of(orbit);
  ViewsOnOrbit views{orbit.angles, period, widest_gap(orbit.angles, period), 0};
  if (orbit.goes_on) return views;
  if (scan.parallel) take_opposite(views, orbit);
  if (!scan.parallel) {
    views.open = missing_arc(levelling.circle), views.gap = gap_between_views(levelling.circle);
    return views;
  }
  double counted = 0;
  for (const double weight : view_weights(orbit.angles)) counted += weight;
  views.open = std::max(0.0, half_turn - counted);
  return views;
}

LevelScan level_scan(const FlexibleBeam& scan) {
  Levelling levelling(scan);
  const FittedOrbit& orbit = levelling.orbit;
  Turned& turned = levelling.turned;
  const Wide& wide = levelling.wide;
  const Range own = wide.own_bins;
  const std::vector<float> shares = levelling.shares(scan.parallel);
  const double aside = 0.5 * (wide.detector.bins - own.last - own.first);
  auto cells = std::make_shared<LevelViews>(LevelViews{{}, scan.detector.rows, scan.detector.bins});
  for (std::size_t k = 0; k < turned.views.size(); ++k) {
    FlexibleView& view = turned.views[k];
    view.detector = view.detector + aside * view.bin_step;
    cells->views.push_back(
        cells_of(view, turned.as_they_stood[k], scan.views[k], scan, wide.detector, levelling.own_rows));
    copy_to(orbit.speed(k), cells->views.back().speed);
  }
  LevelScan level{orbit, {wide.detector, std::move(turned.views), scan.parallel}, std::move(cells), {}, own};
  level.shares = scaled_shares(shares, wide, level.scan);
  return level;
}

}  // namespace tandem
