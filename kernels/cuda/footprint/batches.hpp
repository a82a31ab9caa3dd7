#pragma once

// How the tiled footprint kernels divide their work: what a block has, how many lines of tiles and views a
// launch has, and what memory that takes. Plain C++, so that tests need no device.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "../../../core/ceil_div.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/space.hpp"
#include "../../../core/units.hpp"
#include "../../../geometry/views.hpp"
#include "../../variant.hpp"

namespace tandem::kernels::cuda {

// ---- tiles and their records

constexpr int edge = 4, columns = edge * edge;  // columns of a tile
constexpr int granule = 8;                      // bins of one product
constexpr int most_granules = 3;                // granules that a tile can meet
constexpr int window = 16, most_bins = 32;      // bins that a tile can meet; and a number above that
constexpr int warps = 8;                        // warps of a block

/// A column's place along one view's rows, or a row's along the column: `first + step k` is where the k-th
/// voxel (row) begins, in rows (voxels) from the lower edge of the first.
struct Ladder {
  double first, step;
};

/// Parts of 16 bytes a lane that hold the weights of a tile in a view.
constexpr int parts_of(Direction direction) { return direction == Direction::forward ? most_granules : 2; }

constexpr Index record_bytes(Direction direction) {
  return parts_of(direction) * 32 * 16 + columns * sizeof(Ladder) + sizeof(int);
}

/// The most cells that positions in fixed point reach, with so many bits behind the point.
constexpr int most_cells(int bits) { return (1 << (31 - bits)) - 1; }

constexpr int most_of_box = 256;            // elements along each dimension
constexpr int half_of_shared = 112 * 1024;  // bytes: two blocks a multiprocessor

/// The most bytes of scratch of each kind (records; turned projections; turned volume: half of it). It is a
/// quarter of both vectors, within limits, because every batch reads and writes the output again.
inline Index most_scratch(const Shape& volume, const Shape& projections) {
  const auto bytes = [](const Shape& n) { return 4 * n[0] * n[1] * n[2]; };
  constexpr auto gib = static_cast<Index>(bytes_per_gib);
  return std::clamp((bytes(volume) + bytes(projections)) / 4, gib, 4 * gib);
}

/// How far two views can differ: in the place across of a voxel, in pitches, and in what a row meets, in
/// slices.
struct Drift {
  double across, along;
};

/// Bounds over all voxels and views: how far shadows of a grid reach, for the sizes of windows.
class Reach {
 public:
  double bins = 0;                 ///< bins that a shadow moves when its voxel moves by one pitch
  double step[2] = {INFINITY, 0};  ///< rows a voxel takes: least and most
  double rows = 0;                 ///< rows from the midplane, of voxels and of the detector alike
  double slope = 0;                ///< rows that a shadow moves at most, for one pitch
  double slices = 0;               ///< slices by which what a row meets moves at most, for one pitch

  Reach(const ConeViews& n, const Shape& volume, Index detector_rows)
      : across_(volume[2]), down_(volume[1]), high_(volume[0]), detector_rows_(detector_rows) {
    for (const ConeView& view : n.views) add(view);
  }
  /// Bins that a tile can meet.
  double tile_bins() const { return bins * std::numbers::sqrt2 * edge + 2; }
  bool fits_window() const { return tile_bins() <= window; }

  /// Whether slices can meet the detector of a view.
  bool meets(const ConeView& n, Range some) const {
    double low = INFINITY, high = -INFINITY;
    for (int corner = 0; corner < 4; ++corner)
      for (const Index slice : {some.first, some.last}) {
        const double z = n.z0 + n.pitch_z * (slice - 0.5);
        const double row = n.midplane_row + 0.5 + n.sdd * z / (n.row_pitch * point(n, corner).depth);
        low = std::min(low, row), high = std::max(high, row);
      }
    constexpr double rounding = 0.01;
    return low < detector_rows_ + rounding && high > -rounding;
  }
  Drift between(const ConeView& a, const ConeView& b) const {
    Drift most{};
    const double first = std::max(std::min(a.midplane_row, b.midplane_row) - rows, -0.5),
                 last = std::min(std::max(a.midplane_row, b.midplane_row) + rows, detector_rows_ - 0.5);
    for (int corner = 0; corner < 4; ++corner) {
      const Point p = point(a, corner), q = point(b, corner);
      most.across = std::max(most.across, std::hypot(p.depth - q.depth, p.beside - q.beside) / a.pitch);
      for (const double row : {first, last})
        most.along = std::max(most.along, std::abs(slice_at(a, p.depth, row) - slice_at(b, q.depth, row)));
    }
    return most;
  }

 private:
  struct Point {
    double depth, beside;  ///< from the source, along the normal of the detector and along its bins, mm
  };
  /// A corner of the grid.
  Point point(const ConeView& n, int corner) const {
    const double x = n.x0 + n.pitch * (corner % 2 * across_ - 0.5),
                 y = n.y0 + n.pitch * (corner / 2 * down_ - 0.5);
    return {n.sod - x * n.sin + y * n.cos, x * n.cos + y * n.sin};
  }
  static double slice_at(const ConeView& n, double depth, double row) {
    return ((row - n.midplane_row) * n.row_pitch * depth / n.sdd - n.z0) / n.pitch_z;
  }
  void add(const ConeView& n) {
    double nearest = INFINITY, farthest = 0, tangent = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const Point p = point(n, corner);
      nearest = std::min(nearest, p.depth), farthest = std::max(farthest, p.depth);
      tangent = std::max(tangent, std::abs(p.beside / p.depth));
    }
    const double row = n.sdd / n.row_pitch;  // rows that a mm takes at depth 1
    const double height =
        std::max(std::abs(n.z0 - 0.5 * n.pitch_z), std::abs(n.z0 + n.pitch_z * (high_ - 0.5)));
    const double last = detector_rows_ - 1 - n.midplane_row,
                 all = std::min(height * row / nearest,
                                1.2 * std::max(std::abs(n.midplane_row), std::abs(last)) + 2);
    bins = std::max(bins, n.sdd * n.pitch / (n.bin_pitch * nearest) * std::hypot(1.0, tangent));
    step[0] = std::min(step[0], row * n.pitch_z / farthest);
    step[1] = std::max(step[1], row * n.pitch_z / nearest);
    rows = std::max(rows, all);
    slope = std::max(slope, all * n.pitch / nearest);
    slices = std::max(slices, all * n.pitch / (row * n.pitch_z));
  }

  double across_, down_, high_, detector_rows_;
};

// ---- projection: a block has groups of 32 rows, and as many views as warps are left

constexpr int warp_bins = 64, warp_rows = 32;
constexpr int most_lines = 512;        // lines of tiles at once
constexpr int kept_bytes = 21 * 1024;  // static shared memory of a block, at most
constexpr double most_drift = 16;      // pitches that a voxel may move between the views of a block

/// Tiles of a row of tiles that meet the bins of a warp in one view.
struct Span {
  int first, last;
};

/// Bits behind the point in a column's window, which has up to 511 voxels, or 255.
constexpr int column_bits(int row_groups) { return row_groups == warps ? 22 : 23; }

/// Views by their angles, from the widest gap on, so that those of a block see nearly the same tiles. Views
/// that are no circle may do that better in the order in which they came: a helix meets an angle again
/// elsewhere.
struct OrderedViews {
  std::vector<int> order;
  std::vector<ConeView> list;
  OrderedViews(const ConeViews& packed, const Reach& reach) : order(packed.views.size()) {
    std::iota(order.begin(), order.end(), 0);
    list = packed.views;
    if (packed.circular) {
      sort_by_angle(packed.views);
    } else {
      OrderedViews by_angle = *this;
      by_angle.sort_by_angle(packed.views);
      const auto worse = [](const Drift& a) { return a.across + a.along; };
      if (worse(by_angle.drift_of(reach, 4)) < worse(drift_of(reach, 4))) *this = std::move(by_angle);
    }
    for (std::size_t k = 0; k < drifts_.size(); ++k) drifts_[k] = drift_of(reach, warps >> (k + 1));
  }
  /// How far apart the views that share a block are at most, if it has so many groups of rows: 2, 4 or 8.
  const Drift& drift(int row_groups) const { return drifts_[row_groups == 2 ? 0 : row_groups == 4 ? 1 : 2]; }

 private:
  Drift drift_of(const Reach& reach, std::size_t views_a_block) const {
    Drift most{};
    for (std::size_t a = 0; a < list.size(); ++a)
      for (std::size_t b = a + 1; b < std::min(list.size(), (a / views_a_block + 1) * views_a_block); ++b) {
        const Drift one = reach.between(list[a], list[b]);
        most = {std::max(most.across, one.across), std::max(most.along, one.along)};
      }
    return most;
  }

  void sort_by_angle(const std::vector<ConeView>& views) {
    const auto angle = [&](int v) {
      const ConeView& view = views[v];
      return std::atan2(view.sin, view.cos);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return angle(a) < angle(b); });
    auto first = order.begin();
    double widest = angle(order.front()) + 2 * std::numbers::pi - angle(order.back());
    for (auto next = order.begin() + 1; next < order.end(); ++next)
      if (const double gap = angle(*next) - angle(*(next - 1)); gap > widest) first = next, widest = gap;
    std::rotate(order.begin(), first, order.end());
    list.clear();
    for (const int v : order) list.push_back(views[v]);
  }

  std::array<Drift, 3> drifts_{};  // drifts of two, four and eight groups of rows
};

/// Where the rows of a view meet a column: row r at voxel (r - row_of_0) voxels depth + voxel_of_0. Rows and
/// voxels count from their lower edges.
struct alignas(16) VoxelsOfRows {
  float depth, deeper_x, deeper_y;  ///< depth of column (0, 0), and its steps along x and y, mm
  float row_of_0, voxel_of_0;       ///< the midplane
  float voxels;                     ///< voxels that a row takes, for a mm of depth
  float unused[2] = {};

  explicit VoxelsOfRows(const ConeView& n)
      : depth(static_cast<float>(n.sod - n.x0 * n.sin + n.y0 * n.cos)),
        deeper_x(static_cast<float>(-n.pitch * n.sin)),
        deeper_y(static_cast<float>(n.pitch * n.cos)),
        row_of_0(static_cast<float>(n.midplane_row + 0.5)),
        voxel_of_0(static_cast<float>(0.5 - n.z0 / n.pitch_z)),
        voxels(static_cast<float>(n.row_pitch / (n.sdd * n.pitch_z))) {}
};

/// How many groups of rows a block has, and voxels of a column; no groups: nothing fits.
struct ForwardLayout {
  int row_groups, window;
  int views_a_block() const { return warps / row_groups; }
  int shared_bytes(int lines) const {
    constexpr int span_bytes = sizeof(Span);
    return 2 * views_a_block() * columns * window * 4 + 16 + lines * span_bytes;
  }
};

/// The fewest groups with which the views of a block lie near to each other; `wanted`, if that fits.
inline ForwardLayout forward_layout(const Reach& reach, const OrderedViews& views, int wanted,
                                    int most_shared) {
  for (const int row_groups : {2, 4, 8}) {
    if (wanted && row_groups != wanted) continue;
    const Drift& apart = views.drift(row_groups);
    if (!wanted && row_groups < warps && apart.across > most_drift) continue;
    const double spread = reach.slices * std::sqrt(2) * (edge - 1) + apart.along;
    const double needed = row_groups * warp_rows / reach.step[0] + spread + 12;
    if (!(needed + 12 <= std::min(2 * most_of_box, most_cells(column_bits(row_groups))))) continue;
    const int voxels = ceil_int(needed / 8) * 8 + 4;  // neighbouring columns in other banks
    const ForwardLayout layout{row_groups, voxels};
    if (layout.shared_bytes(most_lines) <= std::min(half_of_shared, most_shared) - kept_bytes) return layout;
  }
  return wanted ? forward_layout(reach, views, 0, most_shared) : ForwardLayout{0, 0};
}

/// Lines of tiles and views at once, and what is kept of these lines.
struct ForwardBatches {
  Index across;  ///< tiles of a line
  int all_lines;
  int slices;        ///< slices in memory
  Index line_bytes;  ///< bytes of a line of the turned volume
  int lines;
  Index scratch;
  ForwardBatches(const Shape& volume, const Shape& projections)
      : across(ceil_div<Index>(volume[2], edge)),
        all_lines(int_of(ceil_div<Index>(volume[1], edge))),
        slices(int_of(ceil_div<Index>(volume[0], 4) * 4)),
        line_bytes(across * columns * slices * 4),
        scratch(most_scratch(volume, projections)) {
    const Index enough_views = 64 * across * record_bytes(Direction::forward);  // a line's
    lines = int_of(std::clamp<Index>(std::min(scratch / 2 / line_bytes, scratch / enough_views), 1,
                                     std::min(all_lines, most_lines)));
  }
  int views(Index all, int views_a_block) const {
    constexpr Index most_blocks = 65'532;  // along a dimension of a grid; whole blocks of views
    const Index fitting = scratch / (lines * across * record_bytes(Direction::forward));
    return int_of(std::min({std::max<Index>(fitting / views_a_block, 1) * views_a_block, most_blocks, all}));
  }
};

// ---- back-projection: a block has 4 x 2 tiles, and one view after the other

constexpr int tiles_x = 4, tiles_y = 2;
static_assert(tiles_x * tiles_y == warps);
constexpr int slots = 4, slot_bytes = 1168;  // views on their way, and what is known of each
constexpr int spare_rows = 32;               // bytes: what a group of 16 rows may read beyond the last window
constexpr int profile_bits = 23;             // bits behind the point of a position in rows

/// Rounds up to a multiple of `to`. Values are first cut at 1e6, which no layout accepts and which fits an
/// int.
inline int round_up(double value, int to) { return ceil_int(std::min(value, 1e6) / to) * to; }

/// Windows of a block's tiles, and profiles of one; windows lie in shared memory as (plane, bin, row).
struct BackwardLayout {
  int tile_bins;                 ///< bins that a tile can meet
  int window_bins, window_rows;  ///< window of a block
  int profile_rows;              ///< rows of a tile's profile; its stride in floats
  TANDEM_HOST_DEVICE int bin_bytes() const { return 2 * window_rows; }
  TANDEM_HOST_DEVICE int plane_bytes() const { return window_bins * bin_bytes(); }
  TANDEM_HOST_DEVICE int window_bytes() const { return ceil_div(2 * plane_bytes(), 128) * 128; }
  int shared_bytes() const {
    return slots * slot_bytes + warps * columns * profile_rows * 4 + 2 * window_bytes() + spare_rows + 16;
  }
  bool fits(int most_shared) const {
    return profile_rows <= most_cells(profile_bits) && window_rows <= most_of_box &&
           window_bins <= most_of_box && shared_bytes() <= most_shared;
  }
};

/// The layout for lanes with `per_lane` voxels: a chunk has 32 slices for each of them.
inline BackwardLayout backward_layout(const Reach& reach, int per_lane) {
  const auto spread = [&](double x, double y) { return std::hypot(x, y) * edge; };  // pitches
  const double rows = 32 * per_lane * reach.step[1] + 2 + 2 + 7, shift = reach.slope;
  const int tile_bins = round_up(reach.tile_bins(), 1);
  return {tile_bins, round_up(reach.bins * spread(tiles_x - 1, tiles_y - 1), 1) + 1 + tile_bins,
          // an odd number of eights: neighbouring bins lie in other banks; as neighbouring columns do
          round_up(rows + shift * spread(tiles_x, tiles_y) - 8, 16) + 8,
          round_up(rows + shift * spread(1, 1), 16) + 8};
}

/// For each chunk of slices, the views from the first to the last one that it meets: in a helix of many turns
/// these are few.
inline std::vector<Range> views_met(const ConeViews& n, const Reach& reach, Range views, Index slices,
                                    Index chunk) {
  std::vector<Range> all;
  for (Index first = 0; first < slices; first += chunk) {
    Range met{views.size(), 0};
    for (Index v = 0; v < views.size(); ++v)
      if (reach.meets(n.views[views.first + v], {first, first + chunk}))
        met = {std::min(met.first, v), v + 1};
    all.push_back({std::min(met.first, met.last), met.last});
  }
  return all;
}

/// Rows of turned projections, in memory: pieces of a box are 16 bytes.
constexpr Index rows_in_memory(Index rows) { return ceil_div<Index>(rows, 8) * 8; }

/// Views and lines of tiles at once, and what is kept of these views.
struct BackwardBatches {
  Index across, down;  ///< tiles
  Index view_bytes;    ///< bytes of a view of turned projections
  int views, lines;
  BackwardBatches(const Shape& volume, const Shape& projections)
      : across(ceil_div<Index>(volume[2], edge)),
        down(ceil_div<Index>(volume[1], edge)),
        view_bytes(projections[2] * 2 * rows_in_memory(projections[1]) * 2) {
    constexpr Index most_views = 256;
    const Index scratch = most_scratch(volume, projections);
    views = int_of(std::clamp<Index>(scratch / view_bytes, 1, std::min(projections[0], most_views)));
    const Index fitting = scratch / line_bytes() / tiles_y * tiles_y,
                most_blocks = 65'535 / ceil_div<Index>(across, tiles_x) * tiles_y;  // blocks of a grid
    lines = int_of(std::min({std::max<Index>(fitting, tiles_y), most_blocks, down}));
  }
  /// Bytes of a line of records.
  Index line_bytes() const { return views * across * record_bytes(Direction::backward); }
};

// ---- what an application takes beside its vectors

/// The most that an application takes, whatever the geometry. It counts the rest by which batches were
/// rounded down, so that it grows with lines and with views. Plain kernels take less.
inline WorkingMemory footprint_memory(Shape volume, Shape projections) {
  const double list =
      1.0 * projections[0] * (sizeof(ConeView) + sizeof(VoxelsOfRows) + sizeof(int)) + (1 << 14);
  const ForwardBatches forward(volume, projections);
  const double scratch = forward.scratch;
  constexpr double most_views_a_block = 4;
  const double lines = forward.lines, line_records = forward.across * record_bytes(Direction::forward);
  const double line_views = std::min(lines * projections[0],
                                     std::max(scratch / line_records, lines * most_views_a_block)),
               spans = 1.0 * ceil_div<Index>(projections[2], warp_bins) * sizeof(Span);
  const BackwardBatches backward(volume, projections);
  const double line = backward.line_bytes(), down = backward.down;
  return {
      lines * forward.line_bytes + line_views * (line_records + spans) + list,
      backward.views * backward.view_bytes + std::min(down * line, std::max(scratch, tiles_y * line)) + list};
}

}  // namespace tandem::kernels::cuda
