#include "hierarchical.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <tuple>

#include "../core/error.hpp"
#include "../core/newest_results.hpp"
#include "hierarchical_groups.hpp"

namespace tandem::kernels {

namespace {

constexpr Index fewest_rows = 8;
constexpr double narrower = 0.9;  // than a footprint: groups alias less, and then their noise is alike

/// How far the farthest voxel is from the axis, mm.
double radius_of(const VolumeGrid& grid) {
  double radius = 0;
  for (const Index ix : {Index{0}, grid.size[0] - 1})
    for (const Index iy : {Index{0}, grid.size[1] - 1})
      radius = std::max(radius, std::hypot(grid.x(ix), grid.y(iy)));
  return radius;
}

/// Voxels over cells at the axis, along a row.
double voxel_over_cell(const ConeBeam& scan, const VolumeGrid& grid) {
  return grid.pitch[0] * scan.magnification() / scan.detector.bin_pitch;
}

/// sod over the step of columns.
double cells_to_source(const ConeBeam& scan, const VolumeGrid& grid) {
  const double wide = voxel_over_cell(scan, grid);
  return scan.sdd / scan.detector.bin_pitch / (wide > much_wider ? wide : 1);
}

/// Rows by which the steepest ray climbs over the depth of a column, at the axis.
double rows_climbed(const ConeBeam& scan, const VolumeGrid& grid) {
  const Detector& d = scan.detector;
  const double highest = std::max(scan.midplane_row, d.rows - 1 - scan.midplane_row) * d.row_pitch;
  return d.rows == 1 ? 0
                     : highest / scan.sdd * std::max(d.bin_pitch, grid.pitch[0] * scan.magnification()) /
                           std::max(d.row_pitch, grid.pitch[2] * scan.magnification());
}

bool interpolates_rows(Index rows, Index slices) { return rows == 1 ? slices == 1 : rows >= fewest_rows; }

}  // namespace

FrameTurn HierarchicalViews::turn(const ViewGroup& child, const ViewGroup& parent) const {
  const double angle = child.angle - parent.angle;
  return {std::cos(angle), std::sin(angle), sod};
}

Range columns_read(const HierarchicalViews& n, const FrameTurn& turn, const Taps& taps,
                   const DisparityPlane& plane) {
  Range read{};
  if (plane.columns.size() <= 0) return read;
  for (const Index end : {plane.columns.first, plane.columns.last - 1})
    widen(read, read_by(taps, n.column_at(turn.u_of_child(plane.u.at(end), plane.t))));
  return read;
}

ViewWeight HierarchicalViews::view_weight() const {
  return {pitch * pitch / cell_u(), pitch_z / cell_v(), flat(), z0 / cell_v(),
          0.5 - midplane_row,       -0.5 - midplane_row};
}

namespace {

HierarchicalViews pack_anew(const ConeBeam& scan, const VolumeGrid& grid, Grouping grouping,
                            const HierarchicalDesign& design, AlongRows along_rows) {
  const ConeViews views = pack(scan, grid, Model::pixel_driven);
  const ConeFrame& frame = views;
  HierarchicalViews n{frame,
                      scan.detector.rows,
                      scan.detector.bins,
                      grid.size[0],
                      grid.size[1],
                      grid.size[2],
                      {},
                      {},
                      0,
                      0,
                      0,
                      0};
  const char* model = "hierarchical model: ";
  require<GeometryError>(interpolates_rows(n.rows, n.nz), model, n.rows, " detector rows for ", n.nz,
                         " slices; it interpolates between rows and needs ", fewest_rows,
                         " of them, or one row and one slice");
  const HierarchicalTaps& taps = hierarchical_taps(design);
  n.of_views = taps.of_views, n.across = taps.across, n.depth = taps.depth, n.stations = linear_taps();
  n.depth_oversampling = design.depth_oversampling;
  n.step_u = n.cell_u(), n.step_v = n.cell_v(), n.axis_column = n.axis_bin, n.middle_row = n.midplane_row;
  const double wide = voxel_over_cell(scan, grid), tall = n.pitch_z / n.cell_v();
  if (wide > much_wider)
    n.step_u = n.pitch, n.axis_column /= wide, n.wider = thinning_of(n.of_views, wide, n.bins);
  if (tall > much_wider && !n.flat())
    n.step_v = n.pitch_z, n.middle_row /= tall, n.taller = thinning_of(n.of_views, tall, n.rows);
  n.of_view_rows = n.of_views;
  if (along_rows == AlongRows::as_footprints && !n.flat())  // a row and a voxel, by the larger of both
    n.of_view_rows = taps_of(design.of_views, {narrower, narrower * (n.taller ? 1 / tall : tall)});
  require<GeometryError>(radius_of(grid) <= widest_grid * n.sod, model, "a corner of the grid is ",
                         radius_of(grid), " mm from the axis, more than ", widest_grid, " of sod = ", n.sod,
                         " mm; its planes are too few so near to the source; take separable_footprint");
  require<GeometryError>(cells_to_source(scan, grid) >= fewest_cells_to_source, model, "sod = ", n.sod,
                         " mm is fewer than ", fewest_cells_to_source, " cells or voxels of ", n.step_u,
                         " mm at the axis; it interpolates too coarsely there; take separable_footprint");
  const double climbed = rows_climbed(scan, grid);
  require<GeometryError>(climbed <= most_rows_climbed, model, "the steepest rays climb by ", climbed,
                         " rows of ", n.step_v, " mm while they pass a column of ", n.step_u,
                         " mm at the axis, more than ", most_rows_climbed,
                         "; it interpolates too coarsely there; take separable_footprint");
  make_groups(scan, grouping, n);
  return n;
}

}  // namespace

bool hierarchical_holds(const ConeBeam& scan, const VolumeGrid& grid) {
  return interpolates_rows(scan.detector.rows, grid.size[2]) && radius_of(grid) <= widest_grid * scan.sod &&
         cells_to_source(scan, grid) >= fewest_cells_to_source &&
         rows_climbed(scan, grid) <= most_rows_climbed;
}

Grouping grouping_on(Device device) {
  if (device.is_cuda()) return {8, std::numeric_limits<std::size_t>::max()};
  return {4, 16};
}

std::shared_ptr<const HierarchicalViews> pack_hierarchical(const ConeBeam& scan, const VolumeGrid& grid,
                                                           Grouping grouping, double accuracy,
                                                           AlongRows along_rows) {
  using Key = std::tuple<std::uint64_t, std::array<Index, 3>, std::array<double, 3>, std::array<double, 3>,
                         Grouping, const HierarchicalDesign*, AlongRows, double>;
  // views of a projector, of FDK and of what is planned
  static NewestResults<Key, HierarchicalViews> kept(3);
  const HierarchicalDesign& design = hierarchical_design(accuracy);
  return kept.result({fingerprint(scan), grid.size, grid.pitch, grid.centre, grouping, &design, along_rows,
                      scan.farthest_row()},
                     [&] { return pack_anew(scan, grid, grouping, design, along_rows); });
}

}  // namespace tandem::kernels
