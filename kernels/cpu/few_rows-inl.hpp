// Separable footprints of neighbouring columns in float, once for every SIMD target (no include guard but
// Highway's own).
#if defined(TANDEM_KERNELS_CPU_FEW_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_KERNELS_CPU_FEW_ROWS_INL_HPP_
#undef TANDEM_KERNELS_CPU_FEW_ROWS_INL_HPP_
#else
#define TANDEM_KERNELS_CPU_FEW_ROWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "../../core/rounding.hpp"
#include "../footprint.hpp"
#include "few_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, few_tile>;

/// A slice and a row that some columns of a tile bring together. The edges of the voxel are low + low_by deep
/// and high + high_by deep, where `deep` says how far the column is; rows are counted from one near by.
struct Overlap {
  Index slice, row;
  float centre;  ///< centre of the row
  float low, low_by, high, high_by;
  bool whole;  ///< whether the row sees no end of any column
};

/// The place of a tile in a view, in double; its columns are counted from its middle in float. x and y are in
/// pitches from there. With the depth D (1 + deeper_x x + deeper_y y) a point falls on the bin `bin` + offset
/// + (step_x x + step_y y) / (1 + deeper_x x + deeper_y y), which is exact.
struct TileInView {
  TileInView() = default;
  TileInView(const ConeView& n, const FewRowsTile& tile, Index all_bins) {
    const double x = n.x0 + n.pitch * tile.middle(tile.x), y = n.y0 + n.pitch * tile.middle(tile.y);
    depth = n.sod - x * n.sin + y * n.cos;
    const double over = 1 / depth, tangent = over * (x * n.cos + y * n.sin);
    const double bins = n.sdd / n.bin_pitch, scale = bins * n.pitch * over;
    const double position = n.axis_bin + bins * tangent;
    const double sx = scale * (n.cos + tangent * n.sin), sy = scale * (n.sin - tangent * n.cos);
    const double dx = -n.pitch * n.sin * over, dy = n.pitch * n.cos * over;
    const double end = all_bins;
    bin = floor_index(std::clamp(position + 0.5, 0.0, end));
    offset = static_cast<float>(position - bin);
    step_x = static_cast<float>(sx), step_y = static_cast<float>(sy);
    deeper_x = static_cast<float>(dx), deeper_y = static_cast<float>(dy);
    ray_x = static_cast<float>((x - n.sod * n.sin) / n.pitch);
    ray_y = static_cast<float>((y + n.sod * n.cos) / n.pitch);
    set_bounds(std::array{sx, sy}, std::array{dx, dy}, tile, position, end);
  }

  /// Lanes are along y, where neighbours share bins; the projection wants them along the other axis.
  bool flat_along_y() const { return std::abs(step_y) < std::abs(step_x); }

  /// Depth of the middle, mm; depths of the tile differ from it by at most `range` times it.
  double depth, range;
  bool meets;            ///< whether it meets the detector; true also for some tiles that do not
  Index bin, most_bins;  ///< bin near the middle; the most bins that a column meets
  float offset, step_x, step_y, deeper_x, deeper_y;
  float ray_x, ray_y;  ///< from the source to the middle, pitches

 private:
  void set_bounds(std::array<double, 2> step, std::array<double, 2> deeper, const FewRowsTile& tile,
                  double position, double end) {
    const double half_x = 0.5 * tile.x.size(), half_y = 0.5 * tile.y.size();
    for (double& s : step) s = std::abs(s);
    for (double& d : deeper) d = std::abs(d);
    range = half_x * deeper[0] + half_y * deeper[1];
    const double over = 1 / (1 - range), reach = over * (half_x * step[0] + half_y * step[1]);
    meets = position - reach < end && position + reach > -1;
    const double turned = step[0] * deeper[1] + step[1] * deeper[0],
                 widest = over * over * (step[0] + step[1] + (half_x + half_y) * turned);
    constexpr double rounding = 1e-3;
    most_bins = floor_index(std::min(std::floor(widest + rounding) + 2, end));
  }
};

/// The overlaps of a tile in a view, slice by slice.
inline void find_overlaps(const ConeFrame& n, const TileInView& at, Index slices, Index rows,
                          std::vector<Overlap>& all) {
  all.clear();
  const Column columns[3] = {column_at(n, at.depth), column_at(n, at.depth * (1 - at.range)),
                             column_at(n, at.depth * (1 + at.range))};  // middle, near, far
  for (Index iz = 0; iz < slices; ++iz) {
    double low[3], high[3];
    for (int c = 0; c < 3; ++c) {
      low[c] = columns[c].first + columns[c].step * iz;
      high[c] = low[c] + columns[c].step;
    }
    const Range met = cells_between(std::min(low[1], low[2]), std::max(high[1], high[2]), rows);
    const double from = met.first;
    for (Index row = met.first; row < met.last; ++row) {
      const double centre = row;
      all.push_back({iz, row, static_cast<float>(centre - from), static_cast<float>(low[0] - from),
                     static_cast<float>(n.midplane_row - low[0]), static_cast<float>(high[0] - from),
                     static_cast<float>(n.midplane_row - high[0]),
                     std::max(low[1], low[2]) < centre - 0.5 && std::min(high[1], high[2]) > centre + 0.5});
    }
  }
}

constexpr int bins_together = 4;  // bins that are weighed, and added to, at a time

/// The shadows of the columns of a line of a tile in a view. Here and in `TileShadows` the arithmetic is
/// footprint.hpp's; compilers make SIMD of these loops, a column a lane.
struct LineShadows {
  HWY_ALIGN float corners[4][few_tile];
  HWY_ALIGN float height[few_tile], rise[few_tile], fall[few_tile];
  HWY_ALIGN float first[few_tile];  ///< first bin, counted from that of the tile
  HWY_ALIGN float deep[few_tile];   ///< how much deeper a column is; set if not all are seen whole
  HWY_ALIGN int bins[few_tile];     ///< first bin of each column, counted from the first of the detector

  /// Weights l_phi F1 / pitch of `bins_together` bins, from the bin that lies `behind` bins after the first
  /// one.
  HWY_INLINE void weigh(Index behind, float* HWY_RESTRICT weights) const {
    for (int k = 0; k < few_tile; ++k) {
      float before = area(k, behind);
      for (int b = 0; b < bins_together; ++b) {
        const float next = area(k, behind + b + 1);
        weights[b * few_tile + k] = height[k] * (next - before);
        before = next;
      }
    }
  }

  /// Shares F2 of an overlap.
  HWY_INLINE void share(const Overlap& o, float* HWY_RESTRICT shares) const {
    for (int k = 0; k < few_tile; ++k)
      shares[k] = share_of(o.low + o.low_by * deep[k], o.high + o.high_by * deep[k], o.centre);
  }

 private:
  /// The part of the shadow before the bin that lies `behind` bins after the first one.
  HWY_INLINE float area(int k, Index behind) const {
    const Trapezoid<float> t{
        {corners[0][k], corners[1][k], corners[2][k], corners[3][k]}, height[k], rise[k], fall[k], 0};
    return area_before(t, first[k] + (behind - 0.5f));
  }
};

/// The shadows of a tile in a view, line by line. Sums of two products have the same bits whichever axis the
/// lanes are along.
class TileShadows {
 public:
  HWY_INLINE void place(const TileInView& at, const FewRowsTile& tile, bool along_y, Index all_bins) {
    const auto ordered = [&](auto x, auto y) { return along_y ? std::pair{y, x} : std::pair{x, y}; };
    const auto [lanes, lines] = ordered(tile.x, tile.y);
    std::tie(step_lane_, step_line_) = ordered(at.step_x, at.step_y);
    std::tie(deeper_lane_, deeper_line_) = ordered(at.deeper_x, at.deeper_y);
    std::tie(ray_lane_, ray_line_) = ordered(at.ray_x, at.ray_y);
    line_count_ = static_cast<int>(lines.size()), bin_ = static_cast<int>(at.bin), offset_ = at.offset;
    lowest_ = -at.bin, highest_ = all_bins - at.bin;
    const auto from_middle = [](int k, Index count) { return std::min<Index>(k, count) - 0.5f * count; };
    for (int k = 0; k <= few_tile; ++k) lane_[k] = from_middle(k, lanes.size());
    for (int l = 0; l <= few_tile; ++l) line_[l] = from_middle(l, lines.size());
    place_corners();
  }

  /// Casts the shadows of line l.
  HWY_INLINE void cast(int l, LineShadows& to) const {
    const float *near = corners_[l], *far = corners_[l + 1];
    const float line = ray_line_ + (line_[l] + 0.5f);
    for (int k = 0; k < few_tile; ++k) {
      const Trapezoid<float> t = trapezoid_between(near[k], near[k + 1], far[k], far[k + 1],
                                                   ray_lane_ + (lane_[k] + 0.5f), line, 0.0f);
      for (int c = 0; c < 4; ++c) to.corners[c][k] = t.corners[c];
      to.height[k] = t.height, to.rise[k] = t.rise, to.fall[k] = t.fall;
    }
    for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d_)) find_bins(k, to);
  }

  /// Finds `deep` for the columns of line l.
  HWY_INLINE void find_depths(int l, LineShadows& to) const {
    const V line = number(line_[l] + 0.5f), half = number(0.5f);
    for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d_)) {
      const V deeper = deeper_at(hn::Add(hn::Load(d_, lane_ + k), half), line);
      hn::Store(hn::Div(deeper, hn::Add(number(1), deeper)), d_, to.deep + k);
    }
  }

  int lines() const { return line_count_; }

 private:
  using V = hn::Vec<Lanes>;
  static HWY_INLINE V number(float value) { return hn::Set(Lanes(), value); }

  HWY_INLINE V deeper_at(V lane, V line) const {
    return hn::Add(hn::Mul(number(deeper_lane_), lane), hn::Mul(number(deeper_line_), line));
  }
  HWY_INLINE V corner(V lane, V line) const {
    const V step = hn::Add(hn::Mul(number(step_lane_), lane), hn::Mul(number(step_line_), line));
    return hn::Add(number(offset_), hn::Div(step, hn::Add(number(1), deeper_at(lane, line))));
  }
  HWY_INLINE void place_corners() {
    HWY_ALIGN float ends[few_tile];
    const V end = number(lane_[few_tile]), last = number(line_[few_tile]);
    for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d_)) {
      const V lane = hn::Load(d_, lane_ + k);
      for (int l = 0; l <= few_tile; ++l) hn::Store(corner(lane, number(line_[l])), d_, corners_[l] + k);
      hn::Store(corner(end, hn::Load(d_, line_ + k)), d_, ends + k);
    }
    for (int l = 0; l < few_tile; ++l) corners_[l][few_tile] = ends[l];
    corners_[few_tile][few_tile] = hn::GetLane(corner(end, last));
  }
  /// Finds `bins`. It uses Highway, because compilers make no SIMD of `floor`.
  HWY_INLINE void find_bins(std::size_t k, LineShadows& to) const {
    const hn::RebindToSigned<Lanes> di;
    const V below = hn::Floor(hn::Add(hn::Load(d_, to.corners[0] + k), number(0.5f)));
    const V first = hn::Min(hn::Max(below, number(lowest_)), number(highest_));
    hn::Store(first, d_, to.first + k);
    hn::Store(hn::Add(hn::ConvertTo(di, first), hn::Set(di, bin_)), di, to.bins + k);
  }

  static constexpr Lanes d_{};
  int line_count_, bin_;
  float step_lane_, step_line_, deeper_lane_, deeper_line_, ray_lane_, ray_line_;
  float offset_, lowest_, highest_;
  HWY_ALIGN float lane_[2 * few_tile], line_[2 * few_tile];
  HWY_ALIGN float corners_[few_tile + 1][2 * few_tile];
};

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
