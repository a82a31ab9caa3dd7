#pragma once

// The hierarchical pair of cone and fan beams (docs/kernels/hierarchical.md): groups of neighbouring views on
// coarse stacks of planes. A view at the angle b has the frame a = x cos b + y sin b, e = -x sin b + y cos b,
// d = sod + e, and the coordinates of disparity
//
//   u = sod a / d      v = sod z / d      t = sod e / d
//
// so that rays are the lines u, v = const. What views within +-h of an angle back-project is sampled along u
// and v by cells as they appear at the axis, or by voxels if these are larger, and along t by steps of
// cell / (alpha sin h): equal steps of t have equal bandwidth near the source and far from it. Seen from the
// frame of a parent, whose angle is less by D, with c = cos D and s = sin D,
//
//   u' = (u c + t s) / Q      t' = (t c - u s) / Q      v' = v / Q      Q = 1 - (u s + t (1 - c)) / sod
//
// Three passes go from a child to its parent: along v at fixed u', t'; along t at fixed u'; along u at fixed
// t. The planes of the last parents are lines of voxels. A transpose does the same steps in reverse order,
// with the same weights.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "../core/kept_on_devices.hpp"
#include "../geometry/beams/cone.hpp"
#include "../geometry/views.hpp"
#include "hierarchical_taps.hpp"
#include "line.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// How views are grouped: each quarter of the circle has so many groups; one of more views than these has
/// four groups, and so on.
struct Grouping {
  int groups_a_quarter;
  std::size_t most_views;
  bool operator==(const Grouping&) const = default;
};
/// A CPU takes four groups of 22.5 degrees. A GPU takes twice as many and no more levels, so that whatever it
/// makes of a group goes straight to the voxels.
Grouping grouping_on(Device device);

/// How many groups a wave of a view passes before it comes to voxels, if views are as dense as on average.
int hierarchical_levels(const ConeBeam& scan, Grouping grouping);

/// The frame of a child, seen from that of its parent.
struct FrameTurn {
  double c, s, sod;
  double q(double u, double t) const { return 1 - (u * s + t * (1 - c)) / sod; }
  double u_of_child(double u, double t) const { return (u * c + t * s) / q(u, t); }
  /// t' at the parent's t and the child's u.
  double t_of_child(double child_u, double t) const {
    return (t * (1 + child_u * s / sod) - child_u * s) / (c + t * (1 - c) / sod);
  }
  /// v' / v, by the child's coordinates.
  double rows_of_child(double child_u, double child_t) const {
    return 1 - (child_t * (1 - c) - child_u * s) / sod;
  }
  /// sod / d of the child, by the parent's coordinates.
  double magnification(double u, double t) const { return (1 - t / sod) / q(u, t); }
};

/// Makes a range hold another one, too.
inline void widen(Range& range, Range by) {
  if (by.size() <= 0) return;
  range = range.size() <= 0 ? by : Range{std::min(range.first, by.first), std::max(range.last, by.last)};
}

/// Samples at one t: (column, row), rows side by side. A column is a bin, of the detector or beyond its ends,
/// or a voxel of a line. A row is one of the detector or beyond its ends.
struct DisparityPlane {
  double t;          ///< mm
  Line u;            ///< places of columns, mm
  Range columns;     ///< columns that something reads
  Range rows;        ///< rows that something reads; in whole vectors, unless there is only one
  Index offset = 0;  ///< place of its first number, among those of all planes
  /// The number at which column 0 would begin, with the first of its rows.
  Index column_0() const { return offset - columns.first * rows.size(); }
  Index end() const { return offset + columns.size() * rows.size(); }
};

/// A view, a group of views or, without a parent, the lines of voxels of a quarter of the circle.
struct ViewGroup {
  double angle, half;                    ///< rad: the middle of its views, and how far they reach
  int view = -1;                         ///< number of the view in the scan; -1 for a group
  Line t{0, 1};                          ///< places of turned planes, mm
  std::vector<DisparityPlane> planes{};  ///< for a view one plane, its cells
  std::vector<DisparityPlane> turned{};  ///< behind the pass along v: rows are those of the parent
  std::vector<std::size_t> children{};   ///< in the order of sums

  bool is_view() const { return view >= 0; }
  /// The plane from which a turned plane comes.
  const DisparityPlane& plane_of(std::size_t which) const { return is_view() ? planes[0] : planes[which]; }
};

inline Index numbers_of(const std::vector<DisparityPlane>& all) { return all.empty() ? 0 : all.back().end(); }

/// The lines of voxels of a quarter of the circle. Voxel i of line l is (x, y) = (i, l) or (l, i).
struct VoxelLines {
  std::size_t group;
  bool along_x;
};

/// The factor of a view at a place with a given magnification, mm: the area of a voxel over the width of a
/// cell, times its height over the height of a cell. If there is one slice, the share of the row that it
/// fills takes the place of the heights.
struct ViewWeight {
  double area, height;  ///< area and height of a voxel over those of a cell at the axis: mm, and a share
  bool flat;
  double middle, above, below;  ///< middle of a flat voxel, and the ends of its row, rows at the axis
  TANDEM_HOST_DEVICE double at(double magnification) const {
    const double low = magnification * (middle - 0.5 * height),
                 high = magnification * (middle + 0.5 * height);
    const double first = low > below ? low : below, last = high < above ? high : above;
    const double share = last > first ? last - first : 0;
    return area * magnification * (flat ? share : magnification * height);
  }
};

/// The farthest voxel from the axis over sod.
constexpr double widest_grid = 0.6;
/// The nearest source, in steps of columns: from there neighbouring columns differ by a tenth of a radian.
constexpr double fewest_cells_to_source = 10;
/// The steepest ray, in rows by which it climbs while it passes a column: from there rows of neighbouring
/// columns are too far apart to interpolate between them.
constexpr double most_rows_climbed = 0.7;

/// The input of the kernels.
struct HierarchicalViews : ConeFrame {
  Index rows, bins, nx, ny, nz;
  std::vector<ViewGroup> groups{};
  std::vector<VoxelLines> quarters{};
  double step_u, step_v;  ///< steps of columns and rows, mm: a cell at the axis, or a voxel if larger
  double axis_column, middle_row;             ///< where u = 0 and v = 0 are
  std::optional<Thinning> wider{}, taller{};  ///< make columns of a view's bins, and rows of its rows
  Taps across{}, of_views{};                  ///< taps along u and v, of groups and of views
  Taps of_view_rows{};                        ///< taps of views along v
  Taps depth{}, stations{};                   ///< taps along t, of groups and of views
  double depth_oversampling = 0;
  KeptOnDevices kept{};

  /// One row and one slice: there is no v.
  bool flat() const { return rows == 1; }
  double cell_u() const { return bin_pitch * sod / sdd; }
  double cell_v() const { return row_pitch * sod / sdd; }
  double column_at(double u) const { return axis_column + u / step_u; }
  Line columns() const { return {-axis_column * step_u, step_u}; }  ///< u by columns
  /// The columns and the rows of a view.
  Range view_columns() const { return wider ? wider->samples : Range{0, bins}; }
  Range view_rows() const { return taller ? taller->samples : Range{0, rows}; }
  /// How far from the axis the scan sees, mm. Planes lie by this, so that any part of a volume has the same.
  double radius_seen() const {
    const double aside = bin_pitch * (0.5 + std::max(axis_bin, static_cast<double>(bins - 1) - axis_bin));
    return sod * std::min(aside / std::hypot(aside, sdd), widest_grid);
  }
  FrameTurn turn(const ViewGroup& child, const ViewGroup& parent) const;
  ViewWeight view_weight() const;
  /// How columns of a child are interpolated, and its rows.
  const Taps& along_u(const ViewGroup& child) const { return child.is_view() ? of_views : across; }
  const Taps& along_v(const ViewGroup& child) const { return child.is_view() ? of_view_rows : across; }
  /// How turned planes are interpolated along t; one plane stands for all t.
  const Taps& along_t(const ViewGroup& child) const { return child.is_view() ? stations : depth; }
  /// Rows of the child by those of its parent, at a place of the child.
  Line rows_of(const FrameTurn& turn, double child_u, double child_t) const {
    const double scale = turn.rows_of_child(child_u, child_t);
    return {middle_row * (1 - scale), scale};
  }
  /// Rows by slices, on a line of voxels.
  Line rows_of(const DisparityPlane& line) const {
    const double rows_a_mm = (1 - line.t / sod) / step_v;
    return {middle_row + z0 * rows_a_mm, pitch_z * rows_a_mm};
  }
};

/// The samples that `count` taps at `position` read.
inline Range read_by(const Taps& taps, double position) {
  const Index first = static_cast<Index>(std::floor(position)) + taps.first();
  return {first, first + taps.count};
}
/// The columns of a child that a parent's plane reads.
Range columns_read(const HierarchicalViews& n, const FrameTurn& turn, const Taps& taps,
                   const DisparityPlane& plane);

using HierarchicalVariant = Variant<HierarchicalViews>;

/// Planes of a parent, or lines of voxels, that are worked on at a time.
constexpr Index planes_at_once = 32;
/// Voxels are made of averaged cells if they are so much wider than cells at the axis.
constexpr double much_wider = 1.05;
/// Rows lie in vectors of so many numbers.
constexpr Index rows_a_vector = 16;

/// Whether the model holds for a geometry, else `pack_hierarchical` throws.
bool hierarchical_holds(const ConeBeam& scan, const VolumeGrid& grid);

/// The input of the kernels for a scan. The last ones are kept, and shared by all callers that ask for the
/// same. @throws GeometryError for a geometry beyond what the model holds for, or for an accuracy that no
/// design gives
std::shared_ptr<const HierarchicalViews> pack_hierarchical(const ConeBeam& scan, const VolumeGrid& grid,
                                                           Grouping grouping = grouping_on(Device::cpu()),
                                                           double accuracy = 0,
                                                           AlongRows rows = AlongRows::exactly);

/// The memory that an application takes beside its two vectors, bytes.
WorkingMemory hierarchical_memory(const HierarchicalViews& views, Device device);

/// The variants of a device; empty if it has none.
Table<HierarchicalViews> hierarchical(Device device);

}  // namespace tandem::kernels
