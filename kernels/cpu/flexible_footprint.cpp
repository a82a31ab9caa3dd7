// Any geometry on the CPU: bricks of voxels, line by line. The places and shares of a line are found side by
// side, a voxel a lane. Then each voxel meets its cells, four of a row at a time. A thread has a brick in
// back-projection, and sums over views in their order; in projection it has a view, and goes through the
// bricks in their order. So bits depend on no number of threads.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/flexible_footprint.cpp"
#include <hwy/foreach_target.h>  // must come before the next
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../flexible.hpp"
#include "../flexible_footprint.hpp"
#include "../launches.hpp"
#include "dispatch.hpp"
#include "update.hpp"

#ifndef TANDEM_KERNELS_CPU_FLEXIBLE_FOOTPRINT_ONCE
#define TANDEM_KERNELS_CPU_FLEXIBLE_FOOTPRINT_ONCE
namespace tandem::kernels::cpu {

constexpr int together = 4;  // cells of a row

/// Cells of a view in memory. Behind the last bin of a row there are zeros, which may be read and added to.
struct CellRows {
  Index rows, bins;
  Index stride() const { return bins + together; }
  Index size() const { return rows * stride(); }
};

/// One of the bricks of a volume (slice, y, x).
struct Brick {
  Brick(Shape volume, Index number) {
    const std::array<Index, 3> size{volume[2], volume[1], volume[0]};
    for (std::size_t k = 0; k < 3; ++k) {
      const Index along = bricks_along(size[k]), first = number % along * brick_edge;
      part[k] = {first, std::min(first + brick_edge, size[k])};
      half[k] = 0.5f * static_cast<float>(part[k].size());
      number /= along;
    }
  }
  static Index bricks_along(Index voxels) { return ceil_div<Index>(voxels, brick_edge); }
  static Index count(Shape volume) {
    return bricks_along(volume[0]) * bricks_along(volume[1]) * bricks_along(volume[2]);
  }
  double middle(std::size_t axis) const {
    return 0.5 * static_cast<double>(part[axis].first + part[axis].last - 1);
  }
  /// Of voxel i along an axis from the middle.
  float away(std::size_t axis, Index i) const {
    return static_cast<float>(static_cast<double>(i) - middle(axis));
  }
  BrickShadow shadow(const FlexiblePlace& view) const {
    return shadow_of(view, middle(0), middle(1), middle(2));
  }

  std::array<Range, 3> part;  ///< x, y, z
  std::array<float, 3> half;  ///< edges, voxels
};

/// Where a line of a brick lies among 8 x 8 x 8 voxels.
inline Index place_in(const Brick& brick, Index y, Index z) {
  return ((z - brick.part[2].first) * brick_edge + y - brick.part[1].first) * brick_edge;
}

}  // namespace tandem::kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The shadows of a line of voxels along x: for each its first cell, and its shares of bins and rows. Shares
/// of rows contain its mass.
class LineShadows {
 public:
  void begin(const BrickShadow& brick, const float* half) {
    const float nearest = nearest_of(brick, half);
    bin_reach_ = reach_of(brick.along_bins, nearest), row_reach_ = reach_of(brick.along_rows, nearest);
    bins_ = 2 * bin_reach_ + 1, rows_ = 2 * row_reach_ + 1;
    groups_ = ceil_div(bins_, together);
    const auto of_line = [](int cells) { return std::size_t{brick_edge} * static_cast<std::size_t>(cells); };
    of_bins_.assign(of_line(groups_ * together), 0);
    of_rows_.resize(of_line(rows_));
    weight_ = weight_of(brick);
  }

  HWY_FLATTEN void cast(const BrickShadow& brick, float x, float y, float z) {
    for (int k = 0; k < brick_edge; ++k) {
      const VoxelShadow voxel = shadow_in(brick, x + static_cast<float>(k), y, z);
      const NearestCell bin = nearest_cell(voxel.bin), row = nearest_cell(voxel.row);
      first_bin_[k] = bin.number - bin_reach_, first_row_[k] = row.number - row_reach_;
      float* of_bins = of_bins_.data() + k * groups_ * together;
      float* of_rows = of_rows_.data() + k * rows_;
      const float weight = weight_ * voxel.inverse * voxel.inverse;
      share_out(brick.along_bins, bin.beside, voxel.stretch, bin_reach_,
                [&](int i, float share) { of_bins[i] = share; });
      share_out(brick.along_rows, row.beside, voxel.stretch, row_reach_,
                [&](int j, float share) { of_rows[j] = share * weight; });
    }
  }

  int bins() const { return bins_; }
  int rows() const { return rows_; }
  int groups() const { return groups_; }
  Index first_bin(int k) const { return first_bin_[k]; }
  Index first_row(int k) const { return first_row_[k]; }
  const float* of_bins(int k) const { return of_bins_.data() + k * groups_ * together; }
  const float* of_rows(int k) const { return of_rows_.data() + k * rows_; }

 private:
  int bin_reach_ = 0, row_reach_ = 0;
  int bins_ = 0, rows_ = 0, groups_ = 0;
  float weight_ = 0;
  int first_bin_[brick_edge], first_row_[brick_edge];
  std::vector<float> of_bins_, of_rows_;
};

/// use(k, first row, first bin, inside) for the voxels of a line that meet the detector. `inside`: all their
/// cells are there, so that groups of cells may be read.
template <class Use>
HWY_INLINE void for_voxels(const LineShadows& line, const BrickShadow& brick, Index count, CellRows cells,
                           const Use& use) {
  for (int k = 0; k < static_cast<int>(count); ++k) {
    const Index row = brick.first_row + line.first_row(k), bin = brick.first_bin + line.first_bin(k);
    if (row >= cells.rows || row + line.rows() <= 0 || bin >= cells.bins || bin + line.bins() <= 0) continue;
    const bool inside =
        row >= 0 && row + line.rows() <= cells.rows && bin >= 0 && bin + line.bins() <= cells.bins;
    use(k, row, bin, inside);
  }
}

/// body(row of the line, its cell there, bin of the line) for the cells of a voxel that the detector has.
template <class Body>
HWY_INLINE void for_cells_there(const LineShadows& line, Index row, Index bin, CellRows cells,
                                const Body& body) {
  for (int j = 0; j < line.rows(); ++j)
    for (int i = 0; i < line.bins(); ++i)
      if (row + j >= 0 && row + j < cells.rows && bin + i >= 0 && bin + i < cells.bins)
        body(j, (row + j) * cells.stride() + bin + i, i);
}

HWY_INLINE float gather(const LineShadows& line, int k, Index row, Index bin, bool inside, CellRows cells,
                        const float* view) {
  const float *of_bins = line.of_bins(k), *of_rows = line.of_rows(k);
  if (!inside) {
    float sum = 0;
    for_cells_there(line, row, bin, cells,
                    [&](int j, Index cell, int i) { sum += of_rows[j] * of_bins[i] * view[cell]; });
    return sum;
  }
  const hn::CappedTag<float, together> d;
  float sums[together];
  for (int lane = 0; lane < together; lane += static_cast<int>(hn::Lanes(d))) {
    auto sum = hn::Zero(d);
    for (int g = lane; g < line.groups() * together; g += together) {
      auto column = hn::Zero(d);
      const float* from = view + row * cells.stride() + bin + g;
      for (int j = 0; j < line.rows(); ++j)
        column = hn::MulAdd(hn::Set(d, of_rows[j]), hn::LoadU(d, from + j * cells.stride()), column);
      sum = hn::MulAdd(column, hn::LoadU(d, of_bins + g), sum);
    }
    hn::StoreU(sum, d, sums + lane);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

HWY_INLINE void scatter(const LineShadows& line, int k, Index row, Index bin, bool inside, CellRows cells,
                        float value, float* view) {
  const float *of_bins = line.of_bins(k), *of_rows = line.of_rows(k);
  if (!inside)
    return for_cells_there(line, row, bin, cells,
                           [&](int j, Index cell, int i) { view[cell] += of_rows[j] * of_bins[i] * value; });
  const hn::CappedTag<float, together> d;
  for (int g = 0; g < line.groups() * together; g += static_cast<int>(hn::Lanes(d))) {
    const auto shares = hn::Mul(hn::Set(d, value), hn::LoadU(d, of_bins + g));
    float* to = view + row * cells.stride() + bin + g;
    for (int j = 0; j < line.rows(); ++j, to += cells.stride())
      hn::StoreU(hn::MulAdd(hn::Set(d, of_rows[j]), shares, hn::LoadU(d, to)), d, to);
  }
}

/// Whether a brick surely misses the detector.
inline bool misses(const BrickShadow& s, const float* half, CellRows cells) {
  const float nearest = nearest_of(s, half);
  const auto beside = [&](const Profile& p, const float* slope, Index first, Index count) {
    const float away =
        half[0] * std::fabs(slope[0]) + half[1] * std::fabs(slope[1]) + half[2] * std::fabs(slope[2]);
    const double reach = static_cast<double>((away + p.outer / p.per_flank) / nearest) + 2,
                 middle = static_cast<double>(first);
    return middle + reach < 0 || middle - reach > static_cast<double>(count);
  };
  return beside(s.along_bins, s.bin, s.first_bin, cells.bins) ||
         beside(s.along_rows, s.row, s.first_row, cells.rows);
}

/// use(brick's shadow, y, z) for the lines of a brick in a view, with the shadows of a line.
template <class Use>
HWY_INLINE void for_lines(const Brick& brick, const FlexiblePlace& view, CellRows cells, LineShadows& line,
                          const Use& use) {
  const BrickShadow shadow = brick.shadow(view);
  if (misses(shadow, brick.half.data(), cells)) return;
  line.begin(shadow, brick.half.data());
  const float x = brick.away(0, brick.part[0].first);
  for (Index z = brick.part[2].first; z < brick.part[2].last; ++z)
    for (Index y = brick.part[1].first; y < brick.part[1].last; ++y) {
      line.cast(shadow, x, brick.away(1, y), brick.away(2, z));
      use(shadow, y, z);
    }
}

/// The sums of a brick over all views: `sums` is (z, y, x) of 8 x 8 x 8 voxels.
void BackProjectBrick(const FlexibleViews& n, const Brick& brick, CellRows cells, const float* projections,
                      float* sums) {
  LineShadows line;
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const float* view = projections + static_cast<Index>(v) * cells.size();
    for_lines(brick, n.views[v], cells, line, [&](const BrickShadow& shadow, Index y, Index z) {
      float* to = sums + place_in(brick, y, z);
      for_voxels(line, shadow, brick.part[0].size(), cells, [&](int k, Index row, Index bin, bool inside) {
        to[k] += gather(line, k, row, bin, inside, cells, view);
      });
    });
  }
}

/// Adds all bricks to the cells of a view.
void ProjectView(const FlexiblePlace& place, Image<const float> volume, CellRows cells, float* view) {
  const Shape shape{volume.n0, volume.n1, volume.n2};
  LineShadows line;
  for (Index b = 0; b < Brick::count(shape); ++b) {
    const Brick brick(shape, b);
    for_lines(brick, place, cells, line, [&](const BrickShadow& shadow, Index y, Index z) {
      const float* from = &volume(z, y, brick.part[0].first);
      for_voxels(line, shadow, brick.part[0].size(), cells, [&](int k, Index row, Index bin, bool inside) {
        scatter(line, k, row, bin, inside, cells, from[k], view);
      });
    });
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackProjectBrick);
HWY_EXPORT(ProjectView);

namespace {

void forward(const FlexibleViews& n, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream&) {
  note_launch("flexible forward");
  const CellRows cells{projections.n1, projections.n2};
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[static_cast<std::size_t>(v)];
    std::vector<float> sums(static_cast<std::size_t>(cells.size()));
    TANDEM_DISPATCH(ProjectView)(view, volume, cells, sums.data());
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin) {
        const float sum = sums[static_cast<std::size_t>(row * cells.stride() + bin)];
        update(projections(v, row, bin), alpha * static_cast<float>(distance_of(view, row, bin)) * sum, beta);
      }
  });
}

void backward(const FlexibleViews& n, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream&) {
  note_launch("flexible backward");
  const CellRows cells{projections.n1, projections.n2};
  std::vector<float> slanted(static_cast<std::size_t>(projections.n0 * cells.size()));
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[static_cast<std::size_t>(v)];
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin)
        slanted[static_cast<std::size_t>(v * cells.size() + row * cells.stride() + bin)] =
            static_cast<float>(distance_of(view, row, bin)) * projections(v, row, bin);
  });
  const Shape shape{volume.n0, volume.n1, volume.n2};
  parallel_for(Brick::count(shape), [&](Index b) {
    const Brick brick(shape, b);
    std::array<float, brick_edge * brick_edge * brick_edge> sums{};
    TANDEM_DISPATCH(BackProjectBrick)(n, brick, cells, slanted.data(), sums.data());
    const float* sum = sums.data();
    for (Index z = brick.part[2].first; z < brick.part[2].last; ++z)
      for (Index y = brick.part[1].first; y < brick.part[1].last; ++y)
        for (Index x = brick.part[0].first; x < brick.part[0].last; ++x)
          update(volume(z, y, x), alpha * sum[place_in(brick, y, z) + x - brick.part[0].first], beta);
  });
}

/// Projections lie once more with their distances; each thread has a view.
WorkingMemory working_memory(Precision, Shape, Shape projections, Device) {
  const CellRows cells{projections[1], projections[2]};
  const double view = sizeof(float) * static_cast<double>(cells.size());
  return {thread_count() * view, static_cast<double>(projections[0]) * view};
}

}  // namespace

namespace flexible_variants {

FlexibleVariant separable_footprint() {
  return {.name = "separable_footprint",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = forward,
          .backward = backward,
          .working_memory = working_memory,
          .kernels = [](Device) {
            return std::vector<std::string>{"flexible forward", "flexible backward"};
          }};
}

}  // namespace flexible_variants

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
