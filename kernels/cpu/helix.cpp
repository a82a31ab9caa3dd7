// A helix on the CPU. In back-projection a thread has a brick of 8 x 8 x 8 voxels, the 64 of a slice side by
// side, and sums over fans in their order: bits depend on no number of threads.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/helix.cpp"
#include <hwy/foreach_target.h>  // must come before the next
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../launches.hpp"
#include "dispatch.hpp"
#include "helix.hpp"
#include "update.hpp"

#ifndef TANDEM_KERNELS_CPU_HELIX_ONCE
#define TANDEM_KERNELS_CPU_HELIX_ONCE
namespace tandem::kernels::cpu {

constexpr int fan_edge = 8, fan_slab = fan_edge * fan_edge;  // voxels

/// A brick of a volume (slice, y, x): voxels from `first`, `size` of them.
struct FanBrick {
  std::array<Index, 3> first, size;  ///< x, y, z
  FanBrick(Shape volume, Index number) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index all = volume[2 - k], along = ceil_div<Index>(all, fan_edge);
      first[k] = number % along * fan_edge, size[k] = std::min<Index>(fan_edge, all - first[k]);
      number /= along;
    }
  }
  static Index count(Shape volume) {
    Index all = 1;
    for (const Index voxels : volume) all *= ceil_div<Index>(voxels, fan_edge);
    return all;
  }
  double middle(std::size_t axis) const { return first[axis] + 0.5 * (size[axis] - 1); }
  float half(std::size_t axis) const { return 0.5f * (size[axis] - 1); }
  FanHere seen(const FanPlace& view) const { return {view, middle(0), middle(1), middle(2)}; }
};

}  // namespace tandem::kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The voxels of a slice of a brick in a fan. Compilers make SIMD of these loops, over copies of what the
/// loops read, which no store can change.
class FanSlab {
 public:
  explicit FanSlab(const FanBrick& brick) {
    for (int k = 0; k < fan_slab; ++k) {
      x_[k] = static_cast<float>(k % fan_edge) - brick.half(0);
      const int line = k / fan_edge;
      y_[k] = line - brick.half(1);
    }
  }
  HWY_FLATTEN void begin(const FanShape s, const FanHere fan, float z) {
    for (int k = 0; k < fan_slab; ++k) {
      bin_[k] = fan.bin_at(x_[k], y_[k], z);
      const FanColumn c = fan_column(s, bin_[k] + fan.first_bin, fan.depth_at(x_[k], y_[k], z));
      to_source_[k] = c.to_source, to_other_[k] = c.to_other, climb_[k] = c.climb;
      to_rows_[k] = c.to_rows, meets_[k] = c.meets, other_[k] = c.other;
    }
  }
  HWY_FLATTEN void cast(const FanShape s, const FanHere fan, float z) {
    for (int k = 0; k < fan_slab; ++k) {
      const FanColumn c{to_source_[k], to_other_[k], climb_[k], to_rows_[k], meets_[k], other_[k]};
      const FanShare share =
          fan_share(s, c, fan.height_at(x_[k], y_[k], z), fan.before_first, fan.before_last);
      row_[k] = share.row, weight_[k] = share.weight * fan.step;
    }
    const int bins = floor_int(s.last_bin) + 1;
    for (int k = 0; k < fan_slab; ++k) {
      const FanTap tap = fan_tap(s, row_[k], bin_[k], fan.first_bin);
      cell[k] = tap.row * bins + tap.bin;
      low[k] = weight_[k] * tap.low, high[k] = weight_[k] * tap.high, next_row[k] = tap.next_row;
    }
  }

  std::int32_t cell[fan_slab];  ///< cell of the fan
  float low[fan_slab], high[fan_slab], next_row[fan_slab];

 private:
  float x_[fan_slab], y_[fan_slab], bin_[fan_slab];
  float to_source_[fan_slab], to_other_[fan_slab], climb_[fan_slab], to_rows_[fan_slab], meets_[fan_slab],
      other_[fan_slab], row_[fan_slab], weight_[fan_slab];
};

/// use(z, slab) for the slices of a brick in a fan that counts there.
template <class Use>
HWY_INLINE void for_fan_slabs(const FanShape& s, const FanBrick& brick, const FanPlace& view, FanSlab& slab,
                              const Use& use) {
  const FanHere fan = brick.seen(view);
  if (fan.misses(s, brick.half(0), brick.half(1), brick.half(2))) return;
  for (Index z = 0; z < brick.size[2]; ++z) {
    const float away = z - brick.half(2);
    if (z == 0 || !fan.level) slab.begin(s, fan, away);
    slab.cast(s, fan, away);
    use(z, slab);
  }
}

HWY_FLATTEN void GatherFan(const FanSlab& slab, const float* fan, Index to_next_row, Index bins,
                           float* sums) {
  const hn::CappedTag<float, fan_slab> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const float* above = fan + to_next_row * bins;
  for (Index k = 0; k < fan_slab; k += hn::Lanes(d)) {
    const auto at = hn::LoadU(whole, slab.cell + k);
    const auto low = hn::LoadU(d, slab.low + k), high = hn::LoadU(d, slab.high + k);
    const auto line = [&](const float* row) {
      return hn::MulAdd(low, hn::GatherIndex(d, row, at), hn::Mul(high, hn::GatherIndex(d, row + 1, at)));
    };
    const auto here = line(fan), next = line(above);
    const auto value = hn::MulAdd(hn::LoadU(d, slab.next_row + k), hn::Sub(next, here), here);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + k), value), d, sums + k);
  }
}

/// The sums of a brick over all fans: (z, y, x) of 8 x 8 x 8 voxels.
void BackProjectFans(const FanPlaces& n, const FanShape& s, const FanBrick& brick, Image<const float> fans,
                     float* sums) {
  FanSlab slab(brick);
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const float* fan = &fans(v, 0, 0);
    for_fan_slabs(s, brick, n.views[v], slab, [&](Index z, const FanSlab& cast) {
      GatherFan(cast, fan, fans.n1 > 1 ? 1 : 0, fans.n2, sums + z * fan_slab);
    });
  }
}

/// Adds all voxels to the cells of a fan.
void ProjectFan(const FanPlace& place, const FanShape& s, Image<const float> volume, Index rows, Index bins,
                float* fan) {
  const Shape shape{volume.n0, volume.n1, volume.n2};
  float* above = fan + (rows > 1 ? bins : 0);
  for (Index b = 0; b < FanBrick::count(shape); ++b) {
    const FanBrick brick(shape, b);
    FanSlab slab(brick);
    for_fan_slabs(s, brick, place, slab, [&](Index z, const FanSlab& cast) {
      for (Index y = 0; y < brick.size[1]; ++y)
        for (Index x = 0; x < brick.size[0]; ++x) {
          const Index k = y * fan_edge + x;
          const float value = volume(brick.first[2] + z, brick.first[1] + y, brick.first[0] + x),
                      next = value * cast.next_row[k], here = value - next;
          const Index cell = cast.cell[k];
          fan[cell] += here * cast.low[k], fan[cell + 1] += here * cast.high[k];
          above[cell] += next * cast.low[k], above[cell + 1] += next * cast.high[k];
        }
    });
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackProjectFans);
HWY_EXPORT(ProjectFan);

namespace {

/// The weights of rays for their slant, (row, bin).
std::vector<float> slants(const ParallelFans& fans) {
  std::vector<float> all(fans.rows * fans.bins);
  for (Index row = 0; row < fans.rows; ++row)
    for (Index bin = 0; bin < fans.bins; ++bin)
      all[row * fans.bins + bin] = static_cast<float>(FanRay(fans, bin).slant(fans, row));
  return all;
}

RaysOfBin rays_of(const FanViews& from, double angle, Index bin) {
  return {from, from.views.data(), std::ssize(from.views), angle, bin};
}

/// Calls use(view, row, bin, weight) for all that makes a cell.
template <class Use>
void for_cell(const FanViews& from, const RaysOfBin& rays, Index row, const Use& use) {
  rays.for_taps(from, from.upright, from.rows_before, from.bins_before, from.views.data(), row, use);
}

/// A bin of a fan, if rows are rows of the detector: all have the same bins of the same views.
void sort_rows(const FanViews& from, const RaysOfBin& rays, Image<const float> in, float* column,
               Index rows) {
  Index cells[16];
  float weights[16];
  int count = 0;
  for_cell(from, rays, 0, [&](Index v, Index, Index b, float weight) {
    cells[count] = v * in.s0 + b, weights[count++] = weight;
  });
  for (Index row = 0; row < rows; ++row) {
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum += weights[k] * in.data[cells[k] + row * in.s1];
    column[row] = sum;
  }
}

void sort_rays(const FanViews& from, const FanSteps& to, Image<const float> in, Image<float> fans, Stream&) {
  note_launch("sort fans");
  const std::vector<float> slant = slants(from);
  parallel_for(fans.n0, [&](Index f) {
    const auto [angle, step] = to.views[f];
    std::vector<float> column(fans.n1);
    for (Index bin = 0; bin < fans.n2; ++bin) {
      const RaysOfBin rays = rays_of(from, angle, bin);
      if (step > 0 && from.upright) sort_rows(from, rays, in, column.data(), fans.n1);
      for (Index row = 0; row < fans.n1; ++row) {
        float& sum = column[row];
        if (step > 0 && !from.upright) {
          sum = 0;
          for_cell(from, rays, row,
                   [&](Index v, Index r, Index b, float weight) { sum += weight * in(v, r, b); });
        }
        fans(f, row, bin) = slant[row * fans.n2 + bin] * sum;
      }
    }
  });
}

/// A thread has a view, and adds fans in their order.
void sort_back(const FanViews& from, const FanSteps& to, float alpha, Image<const float> fans, float beta,
               Image<float> out, Stream&) {
  note_launch("sort fans, transposed");
  const std::vector<float> slant = slants(from);
  parallel_for(out.n0, [&](Index v) {
    std::vector<float> sums(out.n1 * out.n2);
    for (Index f = 0; f < fans.n0; ++f)
      for (Index bin = 0; bin < fans.n2; ++bin) {
        const auto [angle, step] = to.views[f];
        const RaysOfBin rays = rays_of(from, angle, bin);
        if (step == 0 || v < rays.near.first || v > rays.near.first + 3) continue;
        for (Index row = 0; row < fans.n1; ++row)
          for_cell(from, rays, row, [&](Index w, Index r, Index b, float weight) {
            if (w == v) sums[r * out.n2 + b] += weight * slant[row * fans.n2 + bin] * fans(f, row, bin);
          });
      }
    for (Index row = 0; row < out.n1; ++row)
      for (Index bin = 0; bin < out.n2; ++bin)
        update(out(v, row, bin), alpha * sums[row * out.n2 + bin], beta);
  });
}

void back_project(const FanPlaces& n, float alpha, Image<const float> fans, float beta, Image<float> volume,
                  Stream&) {
  note_launch("helix backward");
  const Shape shape{volume.n0, volume.n1, volume.n2};
  const FanShape s = shape_of(n);
  parallel_for(FanBrick::count(shape), [&](Index b) {
    const FanBrick brick(shape, b);
    std::array<float, fan_slab * fan_edge> sums{};
    TANDEM_DISPATCH(BackProjectFans)(n, s, brick, fans, sums.data());
    for (Index z = 0; z < brick.size[2]; ++z)
      for (Index y = 0; y < brick.size[1]; ++y)
        for (Index x = 0; x < brick.size[0]; ++x)
          update(volume(brick.first[2] + z, brick.first[1] + y, brick.first[0] + x),
                 alpha * sums[z * fan_slab + y * fan_edge + x], beta);
  });
}

void project(const FanPlaces& n, float alpha, Image<const float> volume, float beta, Image<float> fans,
             Stream&) {
  note_launch("helix forward");
  const FanShape s = shape_of(n);
  parallel_for(fans.n0, [&](Index f) {
    std::vector<float> sums(fans.n1 * fans.n2);
    TANDEM_DISPATCH(ProjectFan)
    (n.views[f], s, volume, fans.n1, fans.n2, sums.data());
    for (Index row = 0; row < fans.n1; ++row)
      for (Index bin = 0; bin < fans.n2; ++bin)
        update(fans(f, row, bin), alpha * sums[row * fans.n2 + bin], beta);
  });
}

}  // namespace

const HelixKernels helix_kernels{sort_rays, sort_back, back_project, project};

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
