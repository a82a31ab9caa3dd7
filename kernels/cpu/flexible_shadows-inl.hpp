// The shadows of a slice of a brick in any geometry, once for every SIMD target (no include guard but
// Highway's own).
#if defined(TANDEM_KERNELS_CPU_FLEXIBLE_SHADOWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_KERNELS_CPU_FLEXIBLE_SHADOWS_INL_HPP_
#undef TANDEM_KERNELS_CPU_FLEXIBLE_SHADOWS_INL_HPP_
#else
#define TANDEM_KERNELS_CPU_FLEXIBLE_SHADOWS_INL_HPP_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "flexible_bricks.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The shadows of the voxels of a brick in one slice. Voxels beyond the volume have the shadow of the last
/// one.
class SlabShadows {
 public:
  void begin(const Brick& brick, const BrickShadow& shadow) {
    const float nearest = nearest_of(shadow, brick.half.data());
    bin_reach_ = reach_of(shadow.along_bins, nearest), row_reach_ = reach_of(shadow.along_rows, nearest);
    of_bins_.resize(std::size_t{slab} * bins());
    of_rows_.resize(std::size_t{slab} * rows());
    for (int k = 0; k < slab; ++k) {
      const auto within = [&](std::size_t axis, int i) {
        const Range& part = brick.part[axis];
        return brick.away(axis, std::min(part.first + i, part.last - 1));
      };
      x_[k] = within(0, k % brick_edge), y_[k] = within(1, k / brick_edge);
    }
  }

  /// `placed`: where voxels fall, from the brick itself or from its curved form.
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
    if (narrow()) bring_together();
    bins_met_ = met(bin_, brick.first_bin, bin_reach_), rows_met_ = met(row_, brick.first_row, row_reach_);
    first_bin_ = brick.first_bin - bin_reach_, first_row_ = brick.first_row - row_reach_;
  }

  /// Whether voxels meet at most 3 x 3 cells, which `together` is for.
  bool narrow() const { return bin_reach_ == 1 && row_reach_ == 1; }
  const float* together(int k) const { return together_ + 4 * k; }  ///< the bins of a voxel, and a zero

  int bins() const { return 2 * bin_reach_ + 1; }  ///< bins that a voxel can meet
  int rows() const { return 2 * row_reach_ + 1; }
  Index first_bin(int k) const { return first_bin_ + bin_[k]; }
  Index first_row(int k) const { return first_row_ + row_[k]; }
  const float* of_bin(int i) const { return of_bins_.data() + i * slab; }  ///< shares of bin i, of all voxels
  const float* of_row(int j) const { return of_rows_.data() + j * slab; }  ///< shares of row j, times masses

  bool meets(Cells cells) const {
    return bins_met_.first < cells.bins && bins_met_.last > 0 && rows_met_.first < cells.rows &&
           rows_met_.last > 0;
  }
  bool inside(Cells cells) const {
    return bins_met_.first >= 0 && bins_met_.last <= cells.bins && rows_met_.first >= 0 &&
           rows_met_.last <= cells.rows;
  }

 private:
  /// The cells that voxels meet, from the nearest cell of each.
  static HWY_INLINE Range met(const int* nearest, Index first, int reach) {
    const hn::CappedTag<int, slab> d;
    auto low = hn::LoadU(d, nearest), high = low;
    for (Index k = hn::Lanes(d); k < slab; k += hn::Lanes(d)) {
      const auto next = hn::LoadU(d, nearest + k);
      low = hn::Min(low, next), high = hn::Max(high, next);
    }
    return {first + hn::GetLane(hn::MinOfLanes(d, low)) - reach,
            first + hn::GetLane(hn::MaxOfLanes(d, high)) + reach + 1};
  }

  HWY_INLINE void bring_together() {
    const hn::CappedTag<float, slab> d;
    for (Index k = 0; k < slab; k += hn::Lanes(d))
      hn::StoreInterleaved4(hn::LoadU(d, of_bin(0) + k), hn::LoadU(d, of_bin(1) + k),
                            hn::LoadU(d, of_bin(2) + k), hn::Zero(d), d, together_ + 4 * k);
  }

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
  Range bins_met_{}, rows_met_{};  // cells that any voxel meets
  float x_[slab], y_[slab], beside_bin_[slab], beside_row_[slab], stretch_[slab], weight_[slab];
  int bin_[slab], row_[slab];
  HWY_ALIGN float together_[4 * slab];
  std::vector<float> of_bins_, of_rows_;
};

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
