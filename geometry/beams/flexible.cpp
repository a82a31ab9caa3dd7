#include "flexible.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/units.hpp"
#include "../fingerprint.hpp"
#include "../fitted_orbit.hpp"
#include "../flexible_views.hpp"
#include "../shortest_number.hpp"
#include "../vector3.hpp"
#include "rows_and_slices.hpp"

namespace tandem {

namespace {

bool is_finite(const Vector3& a) { return std::isfinite(a[0]) && std::isfinite(a[1]) && std::isfinite(a[2]); }

void validate(const FlexibleView& view, std::size_t number, bool parallel) {
  const auto ok = [&](bool fine, const char* what) {
    require<GeometryError>(fine, "FlexibleBeam: view ", number, ": ", what);
  };
  constexpr double least = 5;  // degrees; a shadow is up to 1 / sine of the angle as many cells long
  ok(is_finite(view.source), parallel ? "the direction of the rays is not finite" : "source is not finite");
  ok(is_finite(view.detector), "detector is not finite");
  ok(is_finite(view.bin_step) && is_finite(view.row_step), "bin_step or row_step is not finite");
  const double bin = length(view.bin_step), row = length(view.row_step);
  const Vector3 normal = cross(view.bin_step, view.row_step);
  ok(bin > 0 && row > 0,
     "bin_step or row_step has no length; the distance from cell to cell, in mm, is needed");
  const auto open = [&](double area, double edges, const char* what) {
    const double angle = edges > 0 ? in_degrees(std::asin(std::min(area / edges, 1.0))) : 0;
    require<GeometryError>(angle >= least, "FlexibleBeam: view ", number, ": ", what, ", or nearly so, at ",
                           angle, " degrees; ", least, " or more are needed: check the vectors of this view");
  };
  open(length(normal), bin * row, "bin_step and row_step are along one line");
  const Vector3 ray = parallel ? view.source : view.detector - view.source;
  open(std::abs(dot(ray, normal)), length(ray) * length(normal),
       parallel ? "rays go along the detector" : "the source lies in the plane of the detector");
}

/// The radius of a curved detector.
double radius_of(const FlexibleView& view) {
  return length(cross(view.detector - view.source, view.row_step)) / length(view.row_step);
}

/// A detector on a cylinder about the source faces it, and sees less than half a turn.
void validate_curve(const FlexibleView& view, std::size_t number, const Detector& detector) {
  constexpr double square = 1e-6, most = 80;  // the sine of an angle; degrees to either side
  const auto ok = [&](bool fine, const char* what) {
    require<GeometryError>(fine, "FlexibleBeam: view ", number, ": a curved detector ", what);
  };
  const double bin = length(view.bin_step);
  ok(std::abs(dot(view.bin_step, view.row_step)) <= square * bin * length(view.row_step),
     "has columns at right angles to its rows; these are not");
  ok(std::abs(dot(view.bin_step, view.detector - view.source)) <=
         square * bin * length(view.detector - view.source),
     "lies on a cylinder about the source; this one does not face it: resample it to a flat one");
  const double reach = in_degrees(0.5 * detector.bins * bin / radius_of(view));
  require<GeometryError>(reach <= most, "FlexibleBeam: view ", number, ": a curved detector reaches ", reach,
                         " degrees to either side; at most ", most, " are taken: leave out columns");
}

/// The views with the middle of their detectors moved by so many cells.
void move(FlexibleBeam& scan, double rows, double bins) {
  for (FlexibleView& view : scan.views) view = moved(scan, view, rows, bins);
}

double middle(Index count) { return 0.5 * (count - 1); }
double middle(Range range) { return 0.5 * (range.first + range.last - 1); }

/// The corners of the voxels of some slices.
std::array<Vector3, 8> corners(const VolumeGrid& grid, Range slices) {
  const auto ends = [](Range cells) { return std::array{cells.first - 0.5, cells.last - 0.5}; };
  const auto x = ends({0, grid.size[0]}), y = ends({0, grid.size[1]}), z = ends(slices);
  std::array<Vector3, 8> all;
  for (std::size_t k = 0; k < 8; ++k) all[k] = {x[k & 1], y[k >> 1 & 1], z[k >> 2]};
  return all;
}

/// @throws GeometryError unless all voxels are at least 4 voxels before the source of each view
void require_in_front(const FlexibleViews& all, const VolumeGrid& grid) {
  constexpr double voxels = 4;  // nearer ones cast shadows that no trapezoid has
  const double least = voxels * std::max({grid.pitch[0], grid.pitch[1], grid.pitch[2]});
  for (std::size_t k = 0; !all.parallel && k < all.views.size(); ++k) {
    double nearest = INFINITY;
    for (const auto& [ix, iy, iz] : corners(grid, {0, grid.size[2]}))
      nearest = std::min(nearest, all.views[k].depth.at(ix, iy, iz));
    require<GeometryError>(nearest >= least, "FlexibleBeam: view ", k, ": the grid reaches to ", nearest,
                           " mm before the source, along the normal of the detector; ", least, " mm, ",
                           voxels, " voxels, are needed; take a smaller grid");
  }
}

/// The rows of a detector that some slices meet in any view.
Range rows_met(const FlexibleViews& all, const VolumeGrid& grid, Range slices, Index rows) {
  double low = INFINITY, high = -INFINITY;
  for (const FlexiblePlace& view : all.views)
    for (const auto& [ix, iy, iz] : corners(grid, slices)) {
      const CellPlace flat = view.on_flat(ix, iy, iz), bent = view.curve.bent(flat);
      // between corners rows may lie farther out on a curved detector, but not beyond those of the flat one
      low = std::min({low, bent.row, flat.row}), high = std::max({high, bent.row, flat.row});
    }
  return rows_between(low, high, rows);
}

}  // namespace

FlexibleBeam flexible_beam(Index rows, Index bins, std::vector<FlexibleView> views, bool parallel,
                           bool curved) {
  FlexibleBeam scan{{bins, rows, 1, 1, middle(bins)}, std::move(views), parallel};
  scan.curved = curved;
  require<GeometryError>(!scan.views.empty(), "FlexibleBeam: no views; at least 1 is needed");
  validate(scan.views.front(), 0, parallel);
  const auto pitch = [](const Vector3& step) {
    return shortest_number(length(step), open_digits(length(step)));
  };
  scan.detector.bin_pitch = pitch(scan.views.front().bin_step);
  scan.detector.row_pitch = pitch(scan.views.front().row_step);
  validate(scan);
  return scan;
}

bool has_upright_views(const FlexibleBeam& scan) {
  constexpr double leaning = 5e-6;  // rad
  if (scan.parallel || scan.leaning || scan.curved) return false;
  return std::ranges::all_of(scan.views, [](const FlexibleView& view) {
    const Vector3 &bin = view.bin_step, &row = view.row_step, ray = view.detector - view.source;
    return std::abs(bin[2]) <= leaning * length(bin) && row[2] > 0 &&
           std::hypot(row[0], row[1]) <= leaning * length(row) && bin[0] * ray[1] - bin[1] * ray[0] > 0;
  });
}

void validate(const FlexibleBeam& scan) {
  validate(scan.detector);
  require<GeometryError>(!scan.views.empty(), "FlexibleBeam: no views; at least 1 is needed");
  require<GeometryError>(!scan.curved || !scan.parallel,
                         "FlexibleBeam: a curved detector lies about a source; parallel rays have none");
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    validate(scan.views[k], k, scan.parallel);
    if (scan.curved) validate_curve(scan.views[k], k, scan.detector);
  }
}

FlexibleView moved(const FlexibleBeam& scan, const FlexibleView& view, double rows, double bins) {
  FlexibleView there = view;
  if (!scan.curved || bins == 0) {  // no rounding where nothing turns
    there.detector = view.detector + bins * view.bin_step + rows * view.row_step;
    return there;
  }
  const double pitch = length(view.bin_step), radius = radius_of(view), turn = bins * pitch / radius,
               c = std::cos(turn), s = std::sin(turn);
  const Vector3 ray = view.detector - view.source, up = 1 / length(view.row_step) * view.row_step,
                along = 1 / pitch * view.bin_step, raised = dot(ray, up) * up,
                away = 1 / radius * (ray - raised);
  there.bin_step = pitch * (c * along - s * away);
  there.detector = view.source + radius * (c * away + s * along) + raised + rows * view.row_step;
  return there;
}

std::vector<Index> order_of_views(const FlexibleBeam& scan) {
  try {
    const FittedOrbit orbit = fitted_orbit(scan);
    return order_of_angles(orbit.angles, period_of(orbit));
  } catch (const GeometryError&) {  // they go along no orbit
    std::vector<Index> order(scan.views.size());
    std::iota(order.begin(), order.end(), Index{0});
    return order;
  }
}

void keep_views(FlexibleBeam& scan, std::span<const Index> views) {
  scan.leaning = !has_upright_views(scan);
  std::vector<FlexibleView> kept;
  for (const Index view : views) kept.push_back(scan.views[view]);
  scan.views = std::move(kept);
}

FlexibleBeam crop(const FlexibleBeam& scan, Range views, Range rows, Range bins) {
  FlexibleBeam part = scan;
  part.detector = crop(scan.detector, rows, bins);
  require<GeometryError>(0 <= views.first && views.first < views.last && views.last <= views_of(scan),
                         "view range ", views.first, ":", views.last,
                         " is empty or outside 0:", views_of(scan));
  part.leaning = !has_upright_views(scan);
  part.views.assign(scan.views.begin() + views.first, scan.views.begin() + views.last);
  move(part, middle(rows) - middle(scan.detector.rows), middle(bins) - middle(scan.detector.bins));
  return part;
}

/// If no pitch is known, a new bin is the unit of length.
FlexibleBeam bin_down(const FlexibleBeam& scan, int level, bool pitch_known) {
  const double f = Index{1} << level, g = rows_together(scan.detector.rows, level);
  FlexibleBeam binned = scan;
  binned.detector = bin_down(scan.detector, level, pitch_known);
  // the middle of what is left, in old cells
  const auto left = [](Index count, double factor) { return 0.5 * (count * factor - 1); };
  move(binned, left(binned.detector.rows, g) - middle(scan.detector.rows),
       left(binned.detector.bins, f) - middle(scan.detector.bins));
  const double unit = pitch_known ? 1 : 1 / f;
  for (FlexibleView& view : binned.views) {
    view.bin_step = unit * f * view.bin_step, view.row_step = unit * g * view.row_step;
    view.detector = unit * view.detector;
    if (!scan.parallel) view.source = unit * view.source;
  }
  return binned;
}

std::uint64_t fingerprint(const FlexibleBeam& scan) {
  Fingerprint all;
  all.add(scan.detector);
  all.add(scan.parallel), all.add(has_upright_views(scan));
  if (scan.curved) all.add(scan.curved);
  for (const FlexibleView& view : scan.views)
    for (const Vector3& each : {view.source, view.detector, view.bin_step, view.row_step})
      for (const double number : each) all.add(number);
  return all.value();
}

double magnification(const FlexibleBeam& scan) {
  if (scan.parallel) return 1;
  double sum = 0;
  for (const FlexibleView& view : scan.views) {
    const Vector3 normal = cross(view.bin_step, view.row_step);
    sum += std::abs(dot(view.detector - view.source, normal) / dot(view.source, normal));
  }
  return sum / scan.views.size();
}

namespace {

/// The lowest and the highest point, mm, where a middle ray passes the origin: in the plane through it that
/// is parallel to the detector.
std::array<double, 2> heights_of_middle_rays(const FlexibleBeam& scan) {
  std::array<double, 2> ends{INFINITY, -INFINITY};
  for (const FlexibleView& view : scan.views) {
    const Vector3 normal = cross(view.bin_step, view.row_step),
                  way = scan.parallel ? view.source : view.detector - view.source;
    const double height = view.detector[2] - dot(view.detector, normal) / dot(way, normal) * way[2];
    ends = {std::min(ends[0], height), std::max(ends[1], height)};
  }
  return ends;
}

}  // namespace

VolumeGrid fitting_grid(const FlexibleBeam& scan) {
  validate(scan);
  const Detector& d = scan.detector;
  const double larger = magnification(scan), pitch = d.bin_pitch / larger;
  require<GeometryError>(std::isfinite(larger),
                         "FlexibleBeam: a source is as high above its detector as the origin; put the origin "
                         "into the sample, or give a grid");
  constexpr double rounding = 1e-9;  // slices
  const double covered = d.rows * d.row_pitch / d.bin_pitch;
  const auto [low, high] = heights_of_middle_rays(scan);
  const auto slices = ceil_index(covered - rounding) + floor_index((high - low) / pitch);
  const double middle =
      0.5 * pitch * std::round((low + high) / pitch);  // not moved by what is hardly a voxel
  return {{d.bins, d.bins, std::max<Index>(slices, 1)}, {pitch, pitch, pitch}, {0, 0, middle}};
}

Space projection_space(const FlexibleBeam& scan, Device device) {
  return Space({views_of(scan), scan.detector.rows, scan.detector.bins}, Blocks::whole, device,
               fingerprint(scan))
      .split();
}

void require_source_outside(const FlexibleBeam& scan, const VolumeGrid& grid) {
  require_in_front(places(scan, grid), grid);
}

Range rows_met(const FlexibleBeam& scan, const VolumeGrid& grid, Range slices) {
  return rows_met(pack(scan, grid), grid, slices, scan.detector.rows);
}

Range slices_met(const FlexibleBeam& scan, const VolumeGrid& grid, Range rows) {
  const FlexibleViews all = pack(scan, grid);
  return slices_meeting(rows, grid.size[2], [&](Index z) {
    return rows_met(all, grid, {z, z + 1}, scan.detector.rows);
  });
}

double distance_from_axis(const FlexibleBeam& scan, double on_detector) {
  return on_detector / magnification(scan);
}

}  // namespace tandem
