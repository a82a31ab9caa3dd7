#include "views.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

constexpr std::array<std::string_view, 4> models{"pixel_driven", "joseph", "separable_footprint", "fourier"};

}  // namespace

std::string_view name_of(Model model) { return models[static_cast<std::size_t>(model)]; }

Model model_named(std::string_view name) {
  return static_cast<Model>(&named(models, name, "model:") - models.data());
}

ParallelViews pack(const ParallelBeam& scan, const VolumeGrid& grid, Model model) {
  validate(scan);
  validate(grid);
  const Detector& d = scan.detector;
  require<GeometryError>(grid.size[2] == d.rows, "VolumeGrid: ", grid.size[2], " slices for ", d.rows,
                         " detector rows; a parallel beam has one slice per row");
  require<GeometryError>(model == Model::pixel_driven || model == Model::joseph,
                         "ParallelBeam: only pixel_driven and joseph have hats; the separable footprint is a "
                         "model of cone beams");
  const double pixels_per_bin = d.bin_pitch / grid.pitch[0];
  ParallelViews packed{{}, static_cast<float>(grid.pitch[0] / pixels_per_bin), 1};
  for (std::size_t v = 0; v < scan.angles.size(); ++v) {
    const double c = std::cos(scan.angles[v]), s = std::sin(scan.angles[v]);
    const double middle = d.axis_bin + scan.shift_of(v);
    // radius of the hat in bins; its area is one bin, times the scale
    const double radius =
        model == Model::pixel_driven ? 1.0 : std::max(std::abs(c), std::abs(s)) / pixels_per_bin;
    packed.views.push_back({middle + (grid.x(0) * c + grid.y(0) * s) / d.bin_pitch, c / pixels_per_bin,
                            s / pixels_per_bin, static_cast<float>(1 / radius),
                            static_cast<float>(1 / (radius * radius))});
    packed.half_width = std::max(packed.half_width, static_cast<int>(std::ceil(radius)));
  }
  return packed;
}

ConeViews pack(const ConeBeam& scan, const VolumeGrid& grid, Model model) {
  validate(scan);
  validate(grid);
  // models that interpolate reach to the neighbours of the last voxels
  require_source_outside(scan, grid, model == Model::separable_footprint ? 0.5 : 1);
  const Detector& d = scan.detector;
  ConeViews packed{{scan.sod, scan.sdd, d.axis_bin, scan.midplane_row, d.bin_pitch, d.row_pitch, grid.x(0),
                    grid.y(0), grid.z(0), grid.pitch[0], grid.pitch[2]},
                   {}};
  for (double angle : scan.angles) packed.views.push_back({std::cos(angle), std::sin(angle)});
  return packed;
}

namespace {

/// along . (x - from) for the middles x of voxels.
Evenly evenly(const VolumeGrid& grid, const Vector3& along, const Vector3& from) {
  const Vector3 first{grid.x(0), grid.y(0), grid.z(0)};
  return {dot(along, first - from),
          {along[0] * grid.pitch[0], along[1] * grid.pitch[1], along[2] * grid.pitch[2]}};
}

Evenly sum(double f, const Evenly& a, double g, const Evenly& b) {
  Evenly both{f * a.first + g * b.first, {}};
  for (std::size_t k = 0; k < 3; ++k) both.step[k] = f * a.step[k] + g * b.step[k];
  return both;
}

void copy(const Vector3& from, double* to) { std::copy_n(from.data(), 3, to); }

/// A ray through x meets the detector at p. If g is dual to the step along bins, the bin is g . (p - c),
/// where c is the middle of cell (0, 0). Parallel rays along t: p = x - t ((x - c) . n) / (t . n).
FlexiblePlace parallel_place(const FlexibleView& view, const Vector3& cell, const VolumeGrid& grid) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  const double square = dot(normal, normal), steep = dot(view.source, normal);
  const auto seen = [&](const Vector3& dual) {
    return evenly(grid, dual - dot(dual, view.source) / steep * normal, cell);
  };
  FlexiblePlace place{seen(1 / square * cross(view.row_step, normal)),
                      seen(1 / square * cross(normal, view.bin_step)),
                      {1, {}},
                      length(view.source) / std::abs(steep),
                      {1, 0, 0},
                      {},
                      {}};
  return place;
}

/// From a source s, p = s + (x - s) D / d, where D and d are the distances of c and x from s along the
/// normal. So bin d = (g . (s - c)) d + D g . (x - s).
FlexiblePlace cone_place(const FlexibleView& view, const Vector3& cell, const VolumeGrid& grid) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  const double area = length(normal), side = dot(cell - view.source, normal) < 0 ? -1 : 1;
  const Evenly depth = evenly(grid, side / area * normal, view.source);
  const double away = side / area * dot(cell - view.source, normal);
  const auto seen = [&](const Vector3& along) {
    const Vector3 dual = 1 / (area * area) * along;
    return sum(dot(dual, view.source - cell), depth, away, evenly(grid, dual, view.source));
  };
  FlexiblePlace place{
      seen(cross(view.row_step, normal)), seen(cross(normal, view.bin_step)), depth, away / area, {}, {}, {}};
  copy(cell - view.source, place.to_first_cell);
  copy(view.bin_step, place.to_next_bin);
  copy(view.row_step, place.to_next_row);
  return place;
}

}  // namespace

FlexibleViews places(const FlexibleBeam& scan, const VolumeGrid& grid) {
  const Detector& d = scan.detector;
  FlexibleViews all{{}, scan.parallel};
  for (const FlexibleView& view : scan.views) {
    const Vector3 cell = view.detector - 0.5 * static_cast<double>(d.bins - 1) * view.bin_step -
                         0.5 * static_cast<double>(d.rows - 1) * view.row_step;
    all.views.push_back(scan.parallel ? parallel_place(view, cell, grid) : cone_place(view, cell, grid));
    all.views.back().mass *= grid.pitch[0] * grid.pitch[1] * grid.pitch[2];
  }
  return all;
}

FlexibleViews pack(const FlexibleBeam& scan, const VolumeGrid& grid) {
  validate(scan);
  validate(grid);
  require_source_outside(scan, grid);
  return places(scan, grid);
}

}  // namespace tandem
