#include "check_pairs.hpp"

#include <algorithm>
#include <numbers>

#include "../kernels/cone.hpp"
#include "../kernels/parallel.hpp"
#include "../kernels/ramp.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/ramp_filter.hpp"
#include "../operators/tiled_projector.hpp"

namespace tandem::apps {

namespace {

// Matched pairs in float32, whose rounding unit is u = 6e-8. Forward and adjoint take their entries from the
// same numbers, so that only sums round differently.
// mu: n terms of random sign leave u sqrt(n) of a sum, and n stays below 1000 along a ray.
// kappa: terms of one sign, whose roundings may be so too: 160 u.
// entries: a projector's are the same bits both ways; a filter's come out of transforms of P points, each of
// which leaves u log2 P of the row: two of them and the response, 3 u log2 P, and P = 32 here.
constexpr Bounds by_rounding{2e-6, 1e-5, 1e-6};
// tensor: the same weights both ways, whose sums are cut where others round.
constexpr Bounds by_products{1e-5, 1e-5, 1e-6};
// standard, texture, hybrid: a texture unit rounds the back-projection's weights to 1/256, the projection's
// are float32; bytes round the data as well.
constexpr Bounds by_texture{5e-3, 1e-3, 5e-3}, by_bytes{2e-2, 1e-2, 1e-2};
// A cone beam's texture units cut two fractions to 1/256: 2^-8 / sqrt(3) of a step of sqrt(2) between signs,
// which the other fraction averages, of a root mean square of 2/3: mu is 5.5e-3 and scatters by 18 %; entries
// are off by up to 2^-8 twice.
constexpr Bounds cone_by_texture{6.6e-3, 1e-3, 8e-3};
// FDK of it: of filtered data, which are of both signs, kappa may err like mu. Filtered noise has steps
// of 1.79 times its root mean square along bins, 1.41 along rows, and the same cuts make 7.1e-3 of what
// interpolation leaves; mu scatters by a fifth. A step between the ramp's neighbours is 1.4 of its largest
// number: entries are off by up to 2^-8 of that and 2^-8 of a row.
constexpr Bounds fdk_by_texture{8.5e-3, 5e-3, 9.4e-3};
// A footprint on a GPU has positions that are off by up to 2^-24 of a row for each voxel from the middle of a
// run, each way: up to 48 voxels where a thread has three. mu averages over runs; FDK filters as well.
constexpr Bounds footprint_on_cuda{4e-6, 2e-6, 6e-6}, fdk_on_cuda{4e-6, 2e-5, 4e-6};

// One slice; two, which a texel holds; 23, which are 16 and 7 for kernels of 4, 8 or 16 slices, with voxels
// whose hats are wider than a bin; 131, which are 128 and 3 for products of 64 or 128.
const std::vector<CheckShape> parallel_shapes{{1}, {2}, {23, 1.3}, {131}};
// A fan; few rows, by kernels without products; many, in every division of the work.
const std::vector<CheckShape> footprint_shapes{
    {1}, {2}, {20, 1, {64, 1}}, {20, 1, {128, 2}}, {20, 1, {256, 3}}};
const std::vector<CheckShape> cone_shapes{{2}, {20}}, few{{2}};

/// Magnification 2 on cells twice as large, the principal point off the middle, a whole turn.
ConeBeam cone_of(const CheckCase& c) {
  const double size = static_cast<double>(c.grid.size[0]) * c.grid.pitch[0];
  ConeBeam cone{c.scan.detector, c.scan.angles, 2 * size, 4 * size,
                0.5 * static_cast<double>(c.scan.detector.rows - 1) - 0.2};
  cone.detector.bin_pitch = cone.detector.row_pitch = 2;
  for (double& angle : cone.angles) angle *= 2;
  return cone;
}

LinearOperator parallel(const CheckCase& c, Model model) {
  return projector(c.scan, c.grid, model, c.device, c.how);
}

LinearOperator cone(const CheckCase& c, Model model) {
  return projector(cone_of(c), c.grid, model, c.device, c.shape.tuning);
}

/// Each row with an axis of its own.
LinearOperator aligned(const CheckCase& c) {
  ParallelBeam scan = c.scan;
  for (Index row = 0; row < scan.detector.rows; ++row)
    scan.row_axis_bins.push_back(scan.detector.axis_bin + 0.37 * static_cast<double>(row + 1));
  return align_rows(scan, c.device);
}

/// On a device that has room for a third of what the whole takes, at least for a few lines and views.
LinearOperator in_tiles(const CheckCase& c) {
  const ConeBeam scan = cone_of(c);
  const auto bytes_of = [&](Shape volume, Shape projections) {
    const WorkingMemory kernels = working_memory(Model::separable_footprint, volume, projections, c.device);
    const auto all = [](Shape n) { return 4 * static_cast<double>(n[0] * n[1] * n[2]); };
    return 2 * all(volume) + 2 * all(projections) + std::max(kernels.forward, kernels.backward);
  };
  const auto [nx, ny, nz] = c.grid.size;
  const auto [bins, rows] = std::pair{scan.detector.bins, scan.detector.rows};
  const double whole = bytes_of({nz, ny, nx}, {static_cast<Index>(scan.angles.size()), rows, bins});
  return tiled_projector(scan, c.grid, {c.device},
                         std::max(3 * bytes_of({nz, 1, nx}, {1, rows, bins}), whole / 3));
}

/// 90 views, irregular on purpose for matched pairs; bins that cover the diagonal.
ParallelBeam scan_for(Index size, Index rows, bool irregular) {
  ParallelBeam scan;
  scan.detector.bins = size + (size + 1) / 2 - 1;
  scan.detector.rows = rows;
  scan.detector.axis_bin = 0.5 * static_cast<double>(scan.detector.bins - 1) + (irregular ? 1.3 : 0);
  for (int v = 0; v < 90; ++v)
    scan.angles.push_back(std::numbers::pi * (v + (irregular ? 0.37 * ((v * 7) % 3) : 0)) / 90);
  return scan;
}

}  // namespace

const std::vector<CheckedPair>& checked_pairs() {
  using enum Model;
  static const std::vector<CheckedPair> all{
      {"parallel/pixel_driven", true, pixel_driven, parallel_shapes,
       [](const CheckCase& c) { return parallel(c, pixel_driven); }},
      {"parallel/joseph", true, joseph, parallel_shapes,
       [](const CheckCase& c) { return parallel(c, joseph); }},
      {"parallel/ramp_filter",
       true,
       {},
       few,
       [](const CheckCase& c) { return ramp_filter(c.scan, {}, c.device); }},
      {"parallel/align_rows", true, {}, few, aligned},
      {"parallel/unmatched joseph with pixel_driven", false, pixel_driven, few,
       [](const CheckCase& c) {
         return unmatched_pair(parallel(c, joseph), adjoint(parallel(c, pixel_driven)));
       }},
      {"cone/separable_footprint",
       true,
       {},
       footprint_shapes,
       [](const CheckCase& c) { return cone(c, separable_footprint); },
       footprint_on_cuda},
      {"cone/separable_footprint in tiles", true, {}, cone_shapes, in_tiles, footprint_on_cuda},
      {"cone/joseph",
       true,
       {},
       cone_shapes,
       [](const CheckCase& c) { return cone(c, joseph); },
       cone_by_texture},
      {"cone/pixel_driven",
       true,
       {},
       cone_shapes,
       [](const CheckCase& c) { return cone(c, pixel_driven); },
       cone_by_texture},
      {"cone/unmatched joseph with pixel_driven",
       false,
       {},
       few,
       [](const CheckCase& c) { return unmatched_pair(cone(c, joseph), adjoint(cone(c, pixel_driven))); }},
      {"cone/fdk",
       true,
       {},
       cone_shapes,
       [](const CheckCase& c) { return adjoint(fdk(cone_of(c), c.grid, {}, separable_footprint, c.device)); },
       fdk_on_cuda},
      {"cone/fdk pixel_driven",
       true,
       {},
       cone_shapes,
       [](const CheckCase& c) { return adjoint(fdk(cone_of(c), c.grid, {}, pixel_driven, c.device)); },
       fdk_by_texture}};
  return all;
}

CheckCase check_case(const CheckedPair& pair, const CheckShape& shape, Index size, Device device) {
  const ParallelBeam scan = scan_for(size, shape.slices, pair.matched);
  return {scan, {{size, size, shape.slices}, {shape.voxel, shape.voxel, 1}, {}}, shape, device, {}};
}

CheckCase small_case(const CheckedPair& pair, const CheckShape& shape, Device device) {
  CheckShape small = shape;
  if (!pair.model) small.slices = std::min<Index>(small.slices, 9);
  CheckCase c = check_case(pair, small, 9, device);
  for (std::size_t v = 0; v < 7; ++v) c.scan.angles[v] = c.scan.angles[13 * v];  // all around
  c.scan.angles.resize(7);
  return c;
}

Bounds bounds_of(const CheckedPair& pair, Execution how, Device device) {
  if (device.is_cuda() && pair.on_cuda) return *pair.on_cuda;
  if (how.variant == Variant::tensor) return by_products;
  if (!pair.model || is_matched(how, device)) return by_rounding;
  return how.precision == Precision::uint8 ? by_bytes : by_texture;
}

std::vector<std::string> kernel_names(Device device) {
  std::vector<std::string> all = kernels::parallel(device).names(device);
  const auto add = [&](const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (const Model model : {Model::separable_footprint, Model::joseph, Model::pixel_driven})
    add(kernels::cone(model, device).names());
  add(kernels::ramp(device).names());
  return all;
}

}  // namespace tandem::apps
