#include "grids.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/vector.hpp"
#include "../beams/beam.hpp"
#include "../methods/method.hpp"

namespace tandem::pipeline {

Range whole_or(const std::optional<Range>& asked, Index count) { return asked.value_or(Range{0, count}); }

namespace {

/// The slices, or the region of them, that are asked for. They lie around the middle. A parallel beam has at
/// most one slice for each row.
Range slices_of(const Job& job, const Recipe& recipe, VolumeGrid& grid) {
  const std::optional<Index>& asked = recipe.slices;
  const Range part = whole_or(recipe.region_z, asked.value_or(grid.size[2]));
  if (!asked) return part;
  const bool crossed = !rows_are_slices(job.scan);  // rays cross slices, so there may be any number
  require<GeometryError>(*asked > 0 && (crossed || *asked <= grid.size[2]), spelled("slices") + " ", *asked,
                         ": the scan has ", grid.size[2], " rows, one per slice; give 1 to ", grid.size[2]);
  if (crossed) grid.size[2] = *asked;
  require<GeometryError>(0 <= part.first && part.last <= *asked, spelled("region") + " ", part.first, ":",
                         part.last, " along z reaches outside the ", *asked,
                         " slices of " + spelled("slices"));
  const Index below = (grid.size[2] - *asked) / 2;
  return {below + part.first, below + part.last};
}

/// The height of the middle of the binned rows above the middle of the whole detector, in binned rows.
double height_of_rows(const Job& job, Index all) {
  return 0.5 * (job.rows_asked.first + job.rows_asked.last - all) / job.rows_together;
}

/// The grid that fits the circle from which views deviate; or all views, if `whole` is no circle.
VolumeGrid grid_about(const Job& job, const Scan& whole) {
  const auto row = [&](Index of_file) { return (of_file - job.rows.first) / job.rows_together; };
  const Range asked{row(job.rows_asked.first), row(job.rows_asked.last)};
  const Scan sliced = crop(job.scan, {0, views_of(job.scan)}, asked, {0, detector_of(job.scan).bins});
  VolumeGrid grid = fitting_grid(job.circle ? *job.circle : sliced);
  if (!job.circle) return grid;
  if (!axis_of(whole)) {
    VolumeGrid all = fitting_grid(sliced);
    all.size[0] = grid.size[0], all.size[1] = grid.size[1];
    return all;
  }
  if (rows_are_slices(*job.circle))
    grid.centre[2] += height_of_rows(job, detector_of(whole).rows) * grid.pitch[2];
  return grid;
}

/// The full grid, before a region of it is selected.
VolumeGrid full_grid(const Job& job, const Recipe& recipe, std::optional<io::FieldOfView> field,
                     const Scan& whole) {
  VolumeGrid grid = grid_about(job, whole);
  if (field == io::FieldOfView::standard) grid.size[0] = grid.size[1] = detector_of(job.scan).bins;
  if (recipe.size) grid.size[0] = grid.size[1] = *recipe.size;
  if (recipe.voxel_size_mm) {
    require<GeometryError>(job.pitch_known, spelled("voxel-size") + " ", *recipe.voxel_size_mm,
                           " mm: the scan has no pixel size; give " + spelled("pixel-size") + " MM too");
    grid.pitch[0] = grid.pitch[1] = *recipe.voxel_size_mm;
    if (!rows_are_slices(job.upright())) grid.pitch[2] = *recipe.voxel_size_mm;
  }
  validate(grid);
  return grid;
}

/// The first and the last edge of a grid along an axis, mm.
struct Edges {
  double low, high;
};

Edges edges_of(const VolumeGrid& grid, std::size_t axis) {
  const double half = 0.5 * grid.size[axis] * grid.pitch[axis];
  return {grid.centre[axis] - half, grid.centre[axis] + half};
}

/// The grid with more voxels along an axis, so that it reaches the edges.
VolumeGrid reaching(VolumeGrid grid, std::size_t axis, Edges edges) {
  constexpr double rounding = 1e-6;  // voxels
  const Edges own = edges_of(grid, axis);
  const auto voxels = [&](double beyond) {
    return std::max<Index>(0, ceil_index(beyond / grid.pitch[axis] - rounding));
  };
  const Index before = voxels(own.low - edges.low), behind = voxels(edges.high - own.high);
  grid.size[axis] += before + behind;
  grid.centre[axis] += 0.5 * (behind - before) * grid.pitch[axis];
  return grid;
}

/// The largest distance, mm, from the axis to the sides of a grid whose corners are nearer to the axis than
/// the source.
double nearer_than_source(const Scan& scan, double pitch) {
  const auto distance = beam_of(scan).source_distance;
  return distance ? distance(scan) * std::sqrt(0.5) - pitch : INFINITY;
}

/// The scan with the row axis that is farthest from the middle of the detector. If each row has its own axis,
/// no row sees farther from its axis than this row does.
Scan of_row_farthest_aside(const Scan& scan) {
  if (!has_row_axes(scan)) return scan;
  Scan about = scan;
  share_axis(about);
  Detector& d = detector_of(about);
  const auto aside = [&](double axis) { return std::abs(axis - 0.5 * (d.bins - 1)); };
  for (const double axis : row_axes_of(scan))
    if (aside(axis) > aside(d.axis_bin)) d.axis_bin = axis;
  return about;
}

/// The grid of all that the selected rays see, as far as the whole scan sees it. In a parallel beam, and in a
/// fan with one slice, slices are independent. Then all rows have the same grid, even if only some are read.
VolumeGrid seen_around(const VolumeGrid& full, const Scan& scan, const Scan& whole) {
  const VolumeGrid seen = fitting_grid(of_row_farthest_aside(whole));
  const double half = std::min(edges_of(seen, 0).high, nearer_than_source(scan, full.pitch[0]));
  VolumeGrid all = reaching(reaching(full, 0, {-half, half}), 1, {-half, half});
  if (const auto met = beam_of(scan).heights_seen(scan, half)) {
    const auto [low, high] = *met;
    const Edges sample = edges_of(seen, 2);
    all = reaching(all, 2, {std::max(low, sample.low), std::min(high, sample.high)});
  }
  return all;
}

/// The number of rows beside those that meet slices from which the hierarchical model interpolates.
Index rows_beside(const Job& job, const Recipe& recipe, const VolumeGrid& grid) {
  if (recipe.model != Model::hierarchical || !beam_of(job.scan).has(Model::hierarchical)) return 0;
  return hierarchical_rows_beside(point_source_of(job.scan), grid, recipe.execution);
}

/// Selects the rows that some slices of a grid need.
void choose_rows(Job& job, const VolumeGrid& grid, Range slices) {
  const Index factor = job.rows_together;
  const Range rows = rows_needed(job, grid, slices);
  if (rows.size() > 0) job.scan = of_rows_needed(job.scan, rows);
  job.rows = {job.rows.first + rows.first * factor,
              job.rows.first + std::max(rows.first, rows.last) * factor};
}

/// Sets the height of the slices of a parallel beam: a slice is as far above z = 0 as its row is above the
/// middle of the whole detector.
void lift_slices(Job& job, const Detector& whole) {
  const double rows = 0.5 * (job.rows.first + job.rows.last - whole.rows);
  const double unit = job.pitch_known ? 1 : Index{1} << job.preprocessing.binning;
  job.grid.centre[2] = job.solved.centre[2] = rows * whole.row_pitch / unit;
}

/// The selected views with all rows and bins, binned.
Scan not_selected(const Job& job, const Scan& whole) {
  const Scan all = crop(whole, job.views);
  const int level = job.preprocessing.binning;
  return level > 0 ? bin_down(all, level, job.pitch_known) : all;
}

}  // namespace

Range rows_needed(const Job& job, const VolumeGrid& grid, Range slices) {
  const Range met = rows_met(job.scan, grid, slices);
  if (met.size() == 0) return {0, 0};
  return {std::max<Index>(0, met.first - job.rows_beside),
          std::min(detector_of(job.scan).rows, met.last + job.rows_beside)};
}

void choose_grids(Job& job, const Recipe& recipe, std::optional<io::FieldOfView> field, const Scan& whole) {
  VolumeGrid full = full_grid(job, recipe, field, whole);
  const Range z = slices_of(job, recipe, full), x = whole_or(recipe.region_x, full.size[0]),
              y = whole_or(recipe.region_y, full.size[1]);
  job.grid = region(full, x, y, z);
  job.full_size = full.size;
  job.first = {x.first, y.first, z.first};
  const bool apart = rows_are_slices(job.scan);
  const VolumeGrid columns = region(full, x, y, {0, full.size[2]});
  job.rows_beside = apart ? 0 : rows_beside(job, recipe, full);
  if (job.method->iterates() && rows_met(job.scan, columns, z).size() > 0) {
    if (job.rows_asked.size() < job.rows.size()) choose_rows(job, full, {0, full.size[2]});
    const VolumeGrid all = seen_around(full, job.scan, not_selected(job, whole));
    for (std::size_t i = 0; i < 3; ++i)  // both have the same voxels
      job.inside[i] =
          job.first[i] + std::lround((edges_of(full, i).low - edges_of(all, i).low) / full.pitch[i]);
    job.solved = all;
    if (apart) job.solved = region(all, {0, all.size[0]}, {0, all.size[1]}, z), job.inside[2] = 0;
    choose_rows(job, all, apart ? z : Range{0, all.size[2]});
  } else {
    job.solved = job.grid;
    choose_rows(job, columns, z);
  }
  if (apart) lift_slices(job, detector_of(whole));
}

std::array<bool, 2> sees_beyond_slices(const Job& job) {
  const auto met = beam_of(job.scan).heights_seen(job.scan, edges_of(job.solved, 0).high);
  if (!met || !job.method->iterates()) return {false, false};
  const auto [low, high] = *met;
  const Edges slices = edges_of(job.solved, 2);
  const double half = 0.5 * job.solved.pitch[2];
  return {low<slices.low - half, high> slices.high + half};
}

Range solved_slices(const Job& job, Range slices) {
  return job.solved.size[2] == job.grid.size[2] ? slices : Range{0, job.solved.size[2]};
}

Index first_written(const Job& job, Range slices) {
  return solved_slices(job, slices) == slices ? 0 : job.inside[2] + slices.first;
}

namespace {

/// Copies the lines of one image to those of another one, slice by slice.
void copy_box(Image<const float> from, Image<float> to, Stream& stream) {
  for (Index z = 0; z < to.n0; ++z)
    copy({from.data + z * from.s0, to.n1, 1, to.n2, from.s1, to.n2},
         {to.data + z * to.s0, to.n1, 1, to.n2, to.s1, to.n2}, stream);
}

/// The part of a volume on the solved grid that is written, for `slices` slices from `first` on.
template <class T>
Image<T> within(const Job& job, T* solved, Index first, Index slices) {
  const auto [nx, ny, nz] = job.solved.size;
  T* begin = solved + (first * ny + job.inside[1]) * nx + job.inside[0];
  return {begin, slices, job.grid.size[1], job.grid.size[0], ny * nx, nx};
}

}  // namespace

Array cut_out(const Job& job, Index first, Index slices, Array solved) {
  if (slices == 0 || job.solved.size == job.grid.size) return solved;
  const ConstVectorView all = ConstVectorView(solved).share(0);  // one device has all
  Stream& stream = default_stream(solved.space().device()).member(0);
  Array part(Space({slices, job.grid.size[1], job.grid.size[0]}, Blocks::slices, all.space.device()), stream);
  copy_box(within(job, all.data, first, slices), image(VectorView(part)), stream);
  stream.synchronize();
  return part;
}

void clear_unmet(const Job& job, Range slices, Array& volume) {
  const Range met = slices_met(job.scan, job.grid, {0, detector_of(job.scan).rows});
  const Index a_slice = job.grid.size[0] * job.grid.size[1];
  const Device device = volume.space().device();
  for (const Range unmet : {Range{slices.first, std::min(met.first, slices.last)},
                            Range{std::max(met.last, slices.first), slices.last}}) {
    if (unmet.size() <= 0) continue;
    const Space space = Space({unmet.size(), job.grid.size[1], job.grid.size[0]}).on(device);
    fill({volume.data() + (unmet.first - slices.first) * a_slice, space}, 0, default_stream(device));
    default_stream(device).synchronize();
  }
}

void put_in(const Job& job, Index first, const Array& written, Array& solved) {
  const Image<float> to = within(job, solved.data(), first, written.space().shape()[0]);
  copy_box(image(ConstVectorView(written)), to, default_stream(Device::cpu()));
}

std::unique_ptr<io::VolumeReader> open_on_grid(const io::VolumePlace& wanted,
                                               const std::filesystem::path& path, const std::string& what,
                                               bool any_external) {
  auto volume = std::make_unique<io::VolumeReader>(path, any_external);
  volume->require_complete();
  const Shape n = volume->shape(), shape = wanted.grid.shape();
  require<FileError>(n == shape, path.string(), ": ", what, " has ", n[0], " x ", n[1], " x ", n[2],
                     " voxels (z, y, x); the reconstruction has ", shape[0], " x ", shape[1], " x ",
                     shape[2]);
  if (const auto place = volume->place())
    if (const std::string amiss = io::difference(*place, wanted); !amiss.empty())
      throw FileError(path.string() + ": " + what + " is on another grid than the reconstruction: " + amiss);
  return volume;
}

}  // namespace tandem::pipeline
