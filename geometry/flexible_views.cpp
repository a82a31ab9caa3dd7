#include "flexible_views.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "place_of_view.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

void copy(const Vector3& from, double* to) { std::copy_n(from.data(), 3, to); }

Evenly evenly(const std::array<double, 4>& n) { return {n[0], {n[1], n[2], n[3]}}; }

FlexiblePlace place_of(const FlexibleView& view, const Vector3& cell, const FlexibleBeam& scan,
                       const VolumeGrid& grid) {
  const auto n = place_numbers<double>({view.source, view.detector, view.bin_step, view.row_step},
                                       scan.detector, grid, scan.parallel);
  FlexiblePlace place{evenly(n.bin), evenly(n.row), evenly(n.depth), n.mass, {}, {}, {}, {}, {}, {}};
  if (scan.parallel) {
    place.nearest = 1, place.to_first_cell[0] = 1;
    return place;
  }
  copy(cell - view.source, place.to_first_cell);
  copy(view.bin_step, place.to_next_bin);
  copy(view.row_step, place.to_next_row);
  return place;
}

/// A frame in which the source lies on the line through the origin along the normal of the detector.
ConeView upright_view(const FlexibleView& view, const Detector& d, const VolumeGrid& grid) {
  const double bin = length(view.bin_step), row = length(view.row_step);
  const double c = view.bin_step[0] / std::hypot(view.bin_step[0], view.bin_step[1]),
               s = view.bin_step[1] / std::hypot(view.bin_step[0], view.bin_step[1]);
  const Vector3 along{c, s, 0}, normal{-s, c, 0}, ray = view.detector - view.source;
  const double beside = dot(view.source, along);
  const auto middle = [](Index count) { return 0.5 * (count - 1); };
  return {{-dot(view.source, normal), dot(ray, normal), middle(d.bins) - dot(ray, along) / bin,
           middle(d.rows) - ray[2] / row, bin, row, grid.x(0) - beside * c, grid.y(0) - beside * s,
           grid.z(0) - view.source[2], grid.pitch[0], grid.pitch[2]},
          c,
          s};
}

ConeViews upright_views(const FlexibleBeam& scan, const VolumeGrid& grid) {
  ConeViews all{};
  for (const FlexibleView& view : scan.views) all.views.push_back(upright_view(view, scan.detector, grid));
  static_cast<ConeFrame&>(all) = all.views.front();
  all.circular = false;
  return all;
}

/// The least and the greatest of an even number over the voxels of a grid.
std::array<double, 2> range_of(const Evenly& number, const VolumeGrid& grid) {
  std::array ends{number.first, number.first};
  for (std::size_t k = 0; k < 3; ++k) {
    const double change = number.step[k] * (grid.size[k] - 1);
    ends[change < 0 ? 0 : 1] += change;
  }
  return ends;
}

/// Adds what bounds the shadows of voxels. The mean chord over a shadow is at most the diagonal of a voxel,
/// and a cell is at least as far from the source as the plane of the detector. The coefficients of a ray add
/// up to its chord in the volume, but for half as much again that trapezoids may leave.
void add_bounds(FlexiblePlace& place, const VolumeGrid& grid, double plane) {
  const auto [nearest, farthest] = range_of(place.depth, grid);
  const auto edge = [&](std::size_t k) { return grid.size[k] * grid.pitch[k]; };
  place.nearest = nearest;
  place.least_shadow =
      place.mass * plane / (farthest * farthest * std::hypot(grid.pitch[0], grid.pitch[1], grid.pitch[2]));
  place.most_in_cell = 1.5 * std::hypot(edge(0), edge(1), edge(2)) / plane;
}

/// Cells of a row of a curved detector are all as far from the source.
void add_curve(FlexiblePlace& place, const FlexibleView& view, const FlexibleBeam& scan) {
  place.curve = curve_of(scan, view);
  const double rows = 0.5 * (scan.detector.rows - 1);
  copy(view.detector - view.source - rows * view.row_step, place.to_first_cell);
  copy({}, place.to_next_bin);
}

}  // namespace

Curve curve_of(const FlexibleBeam& scan, const FlexibleView& view) {
  const auto middle = [](Index count) { return 0.5 * (count - 1); };
  const double row = length(view.row_step);
  const Vector3 ray = view.detector - view.source, up = 1 / row * view.row_step;
  const double raised = dot(ray, up);
  return {length(ray - raised * up) / length(view.bin_step), middle(scan.detector.bins),
          middle(scan.detector.rows) - raised / row};
}

FlexibleViews places(const FlexibleBeam& scan, const VolumeGrid& grid) {
  const Detector& d = scan.detector;
  FlexibleViews all{{}, scan.parallel, scan.curved};
  for (const FlexibleView& view : scan.views) {
    const Vector3 cell =
        view.detector - 0.5 * (d.bins - 1) * view.bin_step - 0.5 * (d.rows - 1) * view.row_step;
    FlexiblePlace place = place_of(view, cell, scan, grid);
    if (scan.curved) add_curve(place, view, scan);
    place.mass *= grid.pitch[0] * grid.pitch[1] * grid.pitch[2];
    const Vector3 normal = cross(view.bin_step, view.row_step);
    add_bounds(place, grid, scan.parallel ? 1 : std::abs(dot(cell - view.source, normal)) / length(normal));
    all.views.push_back(place);
  }
  if (has_upright_views(scan)) all.upright = upright_views(scan, grid);
  return all;
}

FlexibleViews pack(const FlexibleBeam& scan, const VolumeGrid& grid) {
  validate(scan);
  validate(grid);
  require_source_outside(scan, grid);
  return places(scan, grid);
}

namespace {

/// The least and the greatest number of rows that a voxel of one slice is high, if one row sees its plane in
/// all views; else none.
std::optional<std::array<double, 2>> rows_of_one_slice(const FlexibleBeam& scan, const VolumeGrid& grid) {
  if (scan.detector.rows != 1 || grid.size[2] != 1) return std::nullopt;
  std::array<double, 2> rows{INFINITY, 0};
  for (const FlexiblePlace& view : places(scan, grid).views)
    for (const auto& [right, back] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
      const double x = right * (grid.size[0] - 1), y = back * (grid.size[1] - 1);
      if (std::abs(view.on_flat(x, y, 0).row) >= 0.5) return std::nullopt;
      const double high = std::abs(view.on_flat(x, y, 0.5).row - view.on_flat(x, y, -0.5).row);
      rows = {std::min(rows[0], high), std::max(rows[1], high)};
    }
  return rows;
}

VolumeGrid times_as_high(VolumeGrid grid, double factor) {
  grid.pitch[2] *= factor;
  return grid;
}

}  // namespace

VolumeGrid tall_voxels(const FlexibleBeam& scan, const VolumeGrid& grid) {
  const auto rows = rows_of_one_slice(scan, grid);
  return rows ? times_as_high(grid, 3 / (*rows)[0]) : grid;  // 2 would do
}

VolumeGrid flat_voxels(const FlexibleBeam& scan, const VolumeGrid& grid) {
  const auto rows = rows_of_one_slice(scan, grid);
  return rows ? times_as_high(grid, 1e-3 / (*rows)[1]) : grid;
}

}  // namespace tandem
