#include "check_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../geometry/free_views.hpp"
#include "../geometry/vector3.hpp"
#include "../kernels/cone.hpp"
#include "../kernels/flexible.hpp"
#include "../kernels/fourier.hpp"
#include "../kernels/hierarchical.hpp"
#include "../kernels/parallel.hpp"
#include "../kernels/ramp.hpp"
#include "../operators/algebra.hpp"
#include "../operators/circulant_metric.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/ramp_filter.hpp"
#include "../operators/tiled_projector.hpp"

namespace tandem::apps {

namespace {

// One slice; two slices, which a texel holds; 23 slices, which are 16 and 7 for kernels of 4, 8 or 16 slices,
// with voxels whose hats are wider than a bin; 131 slices, which are 128 and 3 for products of 64 or 128.
const std::vector<CheckShape> parallel_shapes{{1}, {2}, {23, 1.3}, {131}};
// One slice; more slices than are worked on together.
const std::vector<CheckShape> fourier_shapes{{1}, {11}};
// A fan; few rows, for kernels without products; many rows, with every division of the work.
const std::vector<CheckShape> footprint_shapes{
    {1}, {2}, {20, 1, {64, 1}}, {20, 1, {128, 2}}, {20, 1, {256, 3}}};
const std::vector<CheckShape> cone_shapes{{2}, {20}}, few{{2}};
// A fan; enough rows to interpolate between.
const std::vector<CheckShape> hierarchical_shapes{{1}, {20}};
// One slice; shadows of voxels that reach one cell, two cells, and more.
const std::vector<CheckShape> flexible_shapes{{1}, {11}, {12, 1.8}, {3, 8}};

/// A cone beam with magnification 2 on cells twice as large, the principal point off the middle, over a whole
/// turn.
ConeBeam cone_of(const CheckCase& c) {
  const double size = c.grid.size[0] * c.grid.pitch[0];
  ConeBeam cone{c.scan.detector, c.scan.angles, 2 * size, 4 * size, 0.5 * (c.scan.detector.rows - 1) - 0.2};
  cone.detector.bin_pitch = cone.detector.row_pitch = 2;
  for (double& angle : cone.angles) angle *= 2;
  return cone;
}

LinearOperator parallel(const CheckCase& c, Model model) {
  return projector(c.scan, c.grid, model, c.device, c.how);
}

LinearOperator cone(const CheckCase& c, Model model) {
  return projector(cone_of(c), c.grid, model, c.device, {.tuning = c.shape.tuning});
}

/// The views of the cone beam, each with another roll, and with a detector that leans.
FlexibleBeam leaning_views(const CheckCase& c) {
  FlexibleBeam scan = as_free_views(cone_of(c));
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    FlexibleView& view = scan.views[k];
    const double roll = 0.1 * k;
    const Vector3 along = view.bin_step, up = view.row_step;
    view.bin_step = std::cos(roll) * along + std::sin(roll) * up;
    view.row_step = std::cos(roll) * up - std::sin(roll) * along + Vector3{0, 0.05, 0.02};
  }
  return scan;
}

LinearOperator flexible_pair(const CheckCase& c) {
  return projector(leaning_views(c), c.grid, Model::separable_footprint, c.device);
}

LinearOperator fdk_of(const CheckCase& c, Model model) {
  return adjoint(fdk(cone_of(c), c.grid, {}, model, c.device));
}

/// The operator `align_rows` for rows that each have their own axis.
LinearOperator aligned(const CheckCase& c) {
  ParallelBeam scan = c.scan;
  for (Index row = 0; row < scan.detector.rows; ++row)
    scan.row_axis_bins.push_back(scan.detector.axis_bin + 0.37 * (row + 1));
  return align_rows(scan, c.device);
}

/// The inverse of the metric in which `tv` makes its steps, which is its own transpose.
LinearOperator metric_of_tv(const CheckCase& c) {
  const auto [nx, ny, nz] = c.grid.size;
  const Space volume({nz, ny, nx}, Blocks::whole, c.device);
  return CirculantMetric(volume, true, {1, 1, 1}, 0.5f, 0, 0).inverse({1}, {0.2f});
}

/// The projector in tiles, on a device with memory for a third of the whole, and at least for a few lines and
/// views. `memory_of`: the memory of kernels.
template <class Beam>
LinearOperator in_tiles(const CheckCase& c, const Beam& scan, const TileMemory& memory_of) {
  const auto bytes_of = [&](Shape volume, Shape projections) {
    const WorkingMemory kernels = memory_of(volume, projections);
    const auto all = [](Shape n) { return 4.0 * (n[0] * n[1] * n[2]); };
    return 2 * all(volume) + 2 * all(projections) + std::max(kernels.forward, kernels.backward);
  };
  const auto [nx, ny, nz] = c.grid.size;
  const auto [bins, rows] = std::pair{scan.detector.bins, scan.detector.rows};
  const double whole = bytes_of({nz, ny, nx}, {views_of(scan), rows, bins});
  const double a_few = bytes_of({nz, std::min(ny, lines_together(scan)), nx}, {1, rows, bins});
  return tiled_projector(scan, c.grid, {c.device}, std::max(3 * a_few, whole / 3));
}

LinearOperator cone_in_tiles(const CheckCase& c) {
  return in_tiles(c, cone_of(c), [&](Shape volume, Shape projections) {
    return working_memory(Model::separable_footprint, volume, projections, c.device);
  });
}

LinearOperator flexible_in_tiles(const CheckCase& c) {
  return in_tiles(c, leaning_views(c), [&](Shape volume, Shape projections) {
    return working_memory(leaning_views(c), volume, projections, c.device);
  });
}

/// The projector of parallel or of cone beams, whichever has the model, and its transpose.
CheckedPair pair_of(std::optional<Model> CheckedPair::*beam, Model model, std::vector<CheckShape> shapes) {
  const bool is_cone = beam == &CheckedPair::cone;
  CheckedPair pair{.name = (is_cone ? "cone/" : "parallel/") + std::string(name_of(model)),
                   .shapes = std::move(shapes),
                   .make = [=](const CheckCase& c) { return is_cone ? cone(c, model) : parallel(c, model); }};
  pair.*beam = model;
  return pair;
}

/// A scan of 90 views with bins that cover the diagonal. Angles are irregular on purpose for matched pairs.
ParallelBeam scan_for(Index size, Index rows, bool irregular) {
  ParallelBeam scan;
  scan.detector.bins = size + (size + 1) / 2 - 1;
  scan.detector.rows = rows;
  scan.detector.axis_bin = 0.5 * (scan.detector.bins - 1) + (irregular ? 1.3 : 0);
  for (int v = 0; v < 90; ++v)
    scan.angles.push_back(std::numbers::pi * (v + (irregular ? 0.37 * ((v * 7) % 3) : 0)) / 90);
  return scan;
}

}  // namespace

const std::vector<CheckedPair>& checked_pairs() {
  using enum Model;
  const auto of_fdk = [](const char* name, Model model) {
    return CheckedPair{.name = name,
                       .cone = model,
                       .filtered = true,
                       .shapes = cone_shapes,
                       .make = [=](const CheckCase& c) { return fdk_of(c, model); }};
  };
  static const std::vector<CheckedPair> all{
      pair_of(&CheckedPair::parallel, pixel_driven, parallel_shapes),
      pair_of(&CheckedPair::parallel, joseph, parallel_shapes),
      pair_of(&CheckedPair::parallel, fourier, fourier_shapes),
      {.name = "parallel/ramp_filter",
       .shapes = few,
       .make = [](const CheckCase& c) { return ramp_filter(c.scan, {}, c.device); }},
      {.name = "parallel/align_rows", .shapes = few, .make = aligned},
      {.name = "parallel/unmatched joseph with pixel_driven",
       .matched = false,
       .parallel = pixel_driven,
       .shapes = few,
       .make =
           [](const CheckCase& c) {
             return unmatched_pair(parallel(c, joseph), adjoint(parallel(c, pixel_driven)));
           }},
      pair_of(&CheckedPair::cone, separable_footprint, footprint_shapes),
      {.name = "cone/separable_footprint in tiles",
       .cone = separable_footprint,
       .shapes = cone_shapes,
       .make = cone_in_tiles},
      pair_of(&CheckedPair::cone, joseph, cone_shapes),
      pair_of(&CheckedPair::cone, pixel_driven, cone_shapes),
      pair_of(&CheckedPair::cone, hierarchical, hierarchical_shapes),
      {.name = "flexible/separable_footprint",
       .flexible = true,
       .shapes = flexible_shapes,
       .make = flexible_pair},
      {.name = "flexible/separable_footprint in tiles",
       .flexible = true,
       .shapes = cone_shapes,
       .make = flexible_in_tiles},
      {.name = "cone/unmatched joseph with pixel_driven",
       .matched = false,
       .shapes = few,
       .make =
           [](const CheckCase& c) {
             return unmatched_pair(cone(c, joseph), adjoint(cone(c, pixel_driven)));
           }},
      {.name = "metric of tv", .shapes = few, .make = metric_of_tv},
      of_fdk("cone/fdk", separable_footprint),
      of_fdk("cone/fdk pixel_driven", pixel_driven)};
  return all;
}

CheckCase check_case(const CheckedPair& pair, const CheckShape& shape, Index size, Device device) {
  const ParallelBeam scan = scan_for(size, shape.slices, pair.matched);
  return {scan, {{size, size, shape.slices}, {shape.voxel, shape.voxel, 1}, {}}, shape, device, {}};
}

CheckCase small_case(const CheckedPair& pair, const CheckShape& shape, Device device) {
  CheckShape small = shape;
  if (!pair.parallel) small.slices = std::min<Index>(small.slices, 9);
  CheckCase c = check_case(pair, small, 9, device);
  for (std::size_t v = 0; v < 7; ++v) c.scan.angles[v] = c.scan.angles[13 * v];  // all around
  c.scan.angles.resize(7);
  return c;
}

kernels::Bounds bounds_of(const CheckedPair& pair, const Execution& how, Device device) {
  if (pair.parallel == Model::fourier) return grade_of(kernels::fourier(device), how)->bounds;
  if (pair.parallel) return grade_of(kernels::parallel(device), how)->bounds;
  if (pair.flexible) return kernels::flexible(device).front().grades.front().bounds;
  if (!pair.cone) return kernels::bounds::rounding;
  if (pair.cone == Model::hierarchical) return kernels::hierarchical(device).front().grades.front().bounds;
  const kernels::Grade& grade = kernels::cone(*pair.cone, device).grades.front();
  return pair.filtered ? grade.filtered : grade.bounds;
}

std::vector<std::string> kernel_names(Device device) {
  std::vector<std::string> all = kernels::ramp(device).names();
  all.emplace_back("slice metric");
  const auto add = [&](const auto& table) {
    for (const auto& row : table)
      for (const std::string& name : row.kernels(device)) all.push_back(name);
  };
  add(kernels::parallel(device));
  add(kernels::cone(device));
  add(kernels::fourier(device));
  add(kernels::flexible(device));
  add(kernels::hierarchical(device));
  return all;
}

}  // namespace tandem::apps
