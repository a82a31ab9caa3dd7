// Any geometry on the CPU: bricks of voxels, slice by slice. The places and shares of a slice of a brick are
// found side by side, a voxel a lane. A thread has a brick in back-projection, and sums over views in their
// order; in projection it has a view, and goes through the bricks in their order. So bits depend on no number
// of threads.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/flexible_footprint.cpp"
#include <hwy/foreach_target.h>  // must come before the next
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../curved_footprint.hpp"
#include "../flexible.hpp"
#include "../flexible_footprint.hpp"
#include "../launches.hpp"
#include "dispatch.hpp"
#include "update.hpp"

#ifndef TANDEM_KERNELS_CPU_FLEXIBLE_FOOTPRINT_ONCE
#define TANDEM_KERNELS_CPU_FLEXIBLE_FOOTPRINT_ONCE
namespace tandem::kernels::cpu {

constexpr int slab = brick_edge * brick_edge;  // voxels

/// Cells of a view in memory.
struct Cells {
  Index rows, bins;
  Index size() const { return rows * bins; }
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
  CurvedBrick curved(const FlexiblePlace& view) const {
    const std::array<double, 3> at{middle(0), middle(1), middle(2)};
    return curved_brick(view, at.data(), half.data());
  }
  /// Where a voxel lies among (z, y, x) of 8 x 8 x 8.
  std::size_t place(Index z, Index y, Index x) const {
    return static_cast<std::size_t>(((z - part[2].first) * brick_edge + y - part[1].first) * brick_edge + x -
                                    part[0].first);
  }

  std::array<Range, 3> part;  ///< x, y, z
  std::array<float, 3> half;  ///< edges, voxels
};

}  // namespace tandem::kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The shadows of the voxels of a brick in one slice. Voxels beyond the volume have that of the last one.
class SlabShadows {
 public:
  void begin(const Brick& brick, const BrickShadow& shadow) {
    const float nearest = nearest_of(shadow, brick.half.data());
    bin_reach_ = reach_of(shadow.along_bins, nearest), row_reach_ = reach_of(shadow.along_rows, nearest);
    of_bins_.resize(std::size_t{slab} * static_cast<std::size_t>(bins()));
    of_rows_.resize(std::size_t{slab} * static_cast<std::size_t>(rows()));
    for (int k = 0; k < slab; ++k) {
      const auto within = [&](std::size_t axis, int i) {
        const Range& part = brick.part[axis];
        return brick.away(axis, std::min(part.first + i, part.last - 1));
      };
      x_[k] = within(0, k % brick_edge), y_[k] = within(1, k / brick_edge);
    }
  }

  /// `placed`: what has the places of voxels, the brick or its curved form.
  template <class Placed>
  HWY_FLATTEN void cast(const BrickShadow& brick, const Placed& placed, float z) {
    const float weight = weight_of(brick);
    for (int k = 0; k < slab; ++k) {
      const VoxelShadow voxel = shadow_in(placed, x_[k], y_[k], z);
      const NearestCell bin = nearest_cell(voxel.bin), row = nearest_cell(voxel.row);
      bin_[k] = bin.number, row_[k] = row.number;
      beside_bin_[k] = bin.beside, beside_row_[k] = row.beside, stretch_[k] = voxel.stretch;
      weight_[k] = weight * voxel.inverse * voxel.inverse;
    }
    share(brick.along_bins, beside_bin_, bin_reach_, of_bins_.data());
    share(brick.along_rows, beside_row_, row_reach_, of_rows_.data());
    for (int j = 0; j < rows(); ++j)
      for (int k = 0; k < slab; ++k) of_rows_.data()[j * slab + k] *= weight_[k];
    const auto [low_bin, high_bin] = std::minmax_element(bin_, bin_ + slab);
    const auto [low_row, high_row] = std::minmax_element(row_, row_ + slab);
    bins_met_ = {brick.first_bin + *low_bin - bin_reach_, brick.first_bin + *high_bin + bin_reach_ + 1};
    rows_met_ = {brick.first_row + *low_row - row_reach_, brick.first_row + *high_row + row_reach_ + 1};
    first_bin_ = brick.first_bin - bin_reach_, first_row_ = brick.first_row - row_reach_;
  }

  int bins() const { return 2 * bin_reach_ + 1; }  ///< of a voxel
  int rows() const { return 2 * row_reach_ + 1; }
  Index first_bin(int k) const { return first_bin_ + bin_[k]; }
  Index first_row(int k) const { return first_row_ + row_[k]; }
  const float* of_bin(int i) const { return of_bins_.data() + i * slab; }  ///< of all voxels
  const float* of_row(int j) const { return of_rows_.data() + j * slab; }  ///< times their masses

  bool meets(Cells cells) const {
    return bins_met_.first < cells.bins && bins_met_.last > 0 && rows_met_.first < cells.rows &&
           rows_met_.last > 0;
  }
  bool inside(Cells cells) const {
    return bins_met_.first >= 0 && bins_met_.last <= cells.bins && rows_met_.first >= 0 &&
           rows_met_.last <= cells.rows;
  }

 private:
  /// Compilers make SIMD of the loop over voxels where they know the reach.
  HWY_INLINE void share(const Profile& p, const float* beside, int reach, float* to) const {
    const auto all = [&](auto known) {
      for (int k = 0; k < slab; ++k)
        share_out(p, beside[k], stretch_[k], known, [&](int i, float part) { to[i * slab + k] = part; });
    };
    if (reach == 1)
      all(std::integral_constant<int, 1>{});
    else if (reach == 2)
      all(std::integral_constant<int, 2>{});
    else
      all(reach);
  }

  int bin_reach_ = 1, row_reach_ = 1;
  Index first_bin_ = 0, first_row_ = 0;
  Range bins_met_{}, rows_met_{};  // of all voxels
  float x_[slab], y_[slab], beside_bin_[slab], beside_row_[slab], stretch_[slab], weight_[slab];
  int bin_[slab], row_[slab];
  std::vector<float> of_bins_, of_rows_;
};

/// body(cell, share) for the cells of a voxel that the detector has.
template <class Body>
HWY_INLINE void for_cells_there(const SlabShadows& shadows, int k, Cells cells, const Body& body) {
  const Index row0 = shadows.first_row(k), bin0 = shadows.first_bin(k);
  for (int j = 0; j < shadows.rows(); ++j)
    for (int i = 0; i < shadows.bins(); ++i)
      if (row0 + j >= 0 && row0 + j < cells.rows && bin0 + i >= 0 && bin0 + i < cells.bins)
        body((row0 + j) * cells.bins + bin0 + i, shadows.of_row(j)[k] * shadows.of_bin(i)[k]);
}

/// Adds what the voxels of a slab see. Lanes count the cells of a view in 32 bits.
HWY_FLATTEN void gather(const SlabShadows& shadows, Cells cells, const float* view, float* sums) {
  if (!shadows.inside(cells) || cells.size() > std::numeric_limits<std::int32_t>::max()) {
    for (int k = 0; k < slab; ++k)
      for_cells_there(shadows, k, cells, [&](Index cell, float share) { sums[k] += share * view[cell]; });
    return;
  }
  const hn::CappedTag<float, slab> d;
  const hn::RebindToSigned<decltype(d)> whole;
  std::int32_t first[slab];
  for (int k = 0; k < slab; ++k)
    first[k] = static_cast<std::int32_t>(shadows.first_row(k) * cells.bins + shadows.first_bin(k));
  for (int k = 0; k < slab; k += static_cast<int>(hn::Lanes(d))) {
    const auto at = hn::LoadU(whole, first + k);
    auto sum = hn::LoadU(d, sums + k);
    const float* row = view;
    for (int j = 0; j < shadows.rows(); ++j, row += cells.bins) {
      auto line = hn::Zero(d);
      for (int i = 0; i < shadows.bins(); ++i)
        line = hn::MulAdd(hn::LoadU(d, shadows.of_bin(i) + k), hn::GatherIndex(d, row + i, at), line);
      sum = hn::MulAdd(hn::LoadU(d, shadows.of_row(j) + k), line, sum);
    }
    hn::StoreU(sum, d, sums + k);
  }
}

/// Adds a voxel to its cells.
HWY_INLINE void scatter(const SlabShadows& shadows, int k, bool inside, Cells cells, float value,
                        float* view) {
  if (!inside)
    return for_cells_there(shadows, k, cells, [&](Index cell, float share) { view[cell] += share * value; });
  float* row = view + shadows.first_row(k) * cells.bins + shadows.first_bin(k);
  for (int j = 0; j < shadows.rows(); ++j, row += cells.bins) {
    const float line = shadows.of_row(j)[k] * value;
    for (int i = 0; i < shadows.bins(); ++i) row[i] += line * shadows.of_bin(i)[k];
  }
}

/// Whether a brick surely misses the detector. Places may lie a factor `farther` from the middle than slopes
/// say, and so many rows beyond.
inline bool misses(const BrickShadow& s, const float* half, Cells cells, float farther = 1,
                   float rows_beyond = 0) {
  const float nearest = nearest_of(s, half);
  const auto beside = [&](const Profile& p, const float* slope, Index first, Index count, float beyond) {
    const float away = farther * spread_of(half, slope) + beyond;
    const double reach = static_cast<double>((away + p.outer / p.per_flank) / nearest) + 2,
                 middle = static_cast<double>(first);
    return middle + reach < 0 || middle - reach > static_cast<double>(count);
  };
  return beside(s.along_bins, s.bin, s.first_bin, cells.bins, 0) ||
         beside(s.along_rows, s.row, s.first_row, cells.rows, rows_beyond);
}

/// use(z, shadows) for the slices of a brick that may meet the detector in a view.
template <class Use>
HWY_INLINE void for_slabs(const Brick& brick, const FlexiblePlace& view, Cells cells, SlabShadows& shadows,
                          const Use& use) {
  const auto all = [&](const BrickShadow& shadow, const auto& placed) {
    shadows.begin(brick, shadow);
    for (Index z = brick.part[2].first; z < brick.part[2].last; ++z) {
      shadows.cast(shadow, placed, brick.away(2, z));
      if (shadows.meets(cells)) use(z, shadows);
    }
  };
  const float* half = brick.half.data();
  if (view.curve.bins_per_radian == 0) {
    const BrickShadow shadow = brick.shadow(view);
    if (!misses(shadow, half, cells)) all(shadow, shadow);
  } else {
    const CurvedBrick curved = brick.curved(view);
    const float farther = 1 / nearest_of(curved.shadow, half);
    if (!misses(curved.shadow, half, cells, farther, rows_beyond_slopes(curved, half)))
      all(curved.shadow, curved);
  }
}

/// The sums of a brick over all views: `sums` is (z, y, x) of 8 x 8 x 8 voxels.
void BackProjectBrick(const FlexibleViews& n, const Brick& brick, Cells cells, const float* projections,
                      float* sums) {
  SlabShadows shadows;
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const float* view = projections + static_cast<Index>(v) * cells.size();
    for_slabs(brick, n.views[v], cells, shadows, [&](Index z, const SlabShadows& s) {
      gather(s, cells, view, sums + (z - brick.part[2].first) * slab);
    });
  }
}

/// Adds all bricks to the cells of a view.
void ProjectView(const FlexiblePlace& place, Image<const float> volume, Cells cells, float* view) {
  const Shape shape{volume.n0, volume.n1, volume.n2};
  SlabShadows shadows;
  for (Index b = 0; b < Brick::count(shape); ++b) {
    const Brick brick(shape, b);
    for_slabs(brick, place, cells, shadows, [&](Index z, const SlabShadows& s) {
      const bool inside = s.inside(cells);
      for (Index y = brick.part[1].first; y < brick.part[1].last; ++y) {
        const float* from = &volume(z, y, brick.part[0].first);
        const int line = static_cast<int>(y - brick.part[1].first) * brick_edge;
        for (int k = 0; k < static_cast<int>(brick.part[0].size()); ++k)
          scatter(s, line + k, inside, cells, from[k], view);
      }
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
  const Cells cells{projections.n1, projections.n2};
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[static_cast<std::size_t>(v)];
    std::vector<float> sums(static_cast<std::size_t>(cells.size()));
    TANDEM_DISPATCH(ProjectView)(view, volume, cells, sums.data());
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin) {
        const float sum = sums[static_cast<std::size_t>(row * cells.bins + bin)];
        update(projections(v, row, bin), alpha * static_cast<float>(distance_of(view, row, bin)) * sum, beta);
      }
  });
}

void backward(const FlexibleViews& n, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream&) {
  note_launch("flexible backward");
  const Cells cells{projections.n1, projections.n2};
  std::vector<float> slanted(static_cast<std::size_t>(projections.n0 * cells.size()));
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[static_cast<std::size_t>(v)];
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin)
        slanted[static_cast<std::size_t>(v * cells.size() + row * cells.bins + bin)] =
            static_cast<float>(distance_of(view, row, bin)) * projections(v, row, bin);
  });
  const Shape shape{volume.n0, volume.n1, volume.n2};
  parallel_for(Brick::count(shape), [&](Index b) {
    const Brick brick(shape, b);
    std::array<float, brick_edge * brick_edge * brick_edge> sums{};
    TANDEM_DISPATCH(BackProjectBrick)(n, brick, cells, slanted.data(), sums.data());
    for (Index z = brick.part[2].first; z < brick.part[2].last; ++z)
      for (Index y = brick.part[1].first; y < brick.part[1].last; ++y)
        for (Index x = brick.part[0].first; x < brick.part[0].last; ++x)
          update(volume(z, y, x), alpha * sums[brick.place(z, y, x)], beta);
  });
}

/// Projections lie once more with their distances; each thread has a view.
WorkingMemory working_memory(Precision, Shape, Shape projections, Device) {
  const Cells cells{projections[1], projections[2]};
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
