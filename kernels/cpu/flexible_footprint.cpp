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
#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "../cone.hpp"
#include "../flexible.hpp"
#include "../flexible_footprint.hpp"
#include "../launches.hpp"
#include "dispatch.hpp"
#include "flexible_bricks.hpp"
#include "flexible_shadows-inl.hpp"
#include "update.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Four = hn::CappedTag<float, 4>;  ///< three bins and one that weighs nothing, or some of these

/// body(cell, share) for the cells of a voxel that the detector has.
template <class Body>
HWY_INLINE void for_cells_there(const SlabShadows& shadows, int k, Cells cells, const Body& body) {
  const Index row0 = shadows.first_row(k), bin0 = shadows.first_bin(k);
  for (int j = 0; j < shadows.rows(); ++j)
    for (int i = 0; i < shadows.bins(); ++i)
      if (row0 + j >= 0 && row0 + j < cells.rows && bin0 + i >= 0 && bin0 + i < cells.bins)
        body((row0 + j) * cells.bins + bin0 + i, shadows.of_row(j)[k] * shadows.of_bin(i)[k]);
}

/// Adds what the voxels of a slab see: bins are lanes, which are added up for several voxels together.
HWY_FLATTEN void gather_narrow(const SlabShadows& shadows, Cells cells, const float* view, float* sums) {
  const Four four;
  HWY_ALIGN float products[4 * slab];
  for (int k = 0; k < slab; ++k) {
    const float* cell = view + shadows.first_row(k) * cells.bins + shadows.first_bin(k);
    for (std::size_t i = 0; i < 4; i += hn::Lanes(four)) {
      auto line = hn::Mul(hn::Set(four, shadows.of_row(0)[k]), hn::LoadU(four, cell + i));
      for (Index j = 1; j < 3; ++j)
        line = hn::MulAdd(hn::Set(four, shadows.of_row(static_cast<int>(j))[k]),
                          hn::LoadU(four, cell + j * cells.bins + i), line);
      hn::Store(hn::Mul(line, hn::Load(four, shadows.together(k) + i)), four, products + 4 * k + i);
    }
  }
  const hn::CappedTag<float, slab> d;
  for (Index k = 0; k < slab; k += hn::Lanes(d)) {
    hn::Vec<decltype(d)> a, b, c, nothing;
    hn::LoadInterleaved4(d, products + 4 * k, a, b, c, nothing);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + k), hn::Add(hn::Add(a, b), c)), d, sums + k);
  }
}

/// The same for shadows of any width. Lanes are voxels, and count the cells of a view in 32 bits.
HWY_FLATTEN void gather(const SlabShadows& shadows, Cells cells, const float* view, float* sums) {
  if (!shadows.inside(cells) || cells.size() > std::numeric_limits<std::int32_t>::max()) {
    for (int k = 0; k < slab; ++k)
      for_cells_there(shadows, k, cells, [&](Index cell, float share) { sums[k] += share * view[cell]; });
    return;
  }
  if (shadows.narrow()) return gather_narrow(shadows, cells, view, sums);
  const hn::CappedTag<float, slab> d;
  const hn::RebindToSigned<decltype(d)> whole;
  std::int32_t first[slab];
  for (int k = 0; k < slab; ++k)
    first[k] = static_cast<std::int32_t>(shadows.first_row(k) * cells.bins + shadows.first_bin(k));
  for (Index k = 0; k < slab; k += hn::Lanes(d)) {
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

/// use(z, shadows) for the slices of a brick that may meet the detector in a view.
template <class Shadow, class Use>
HWY_INLINE void for_slabs(const Brick& brick, const Shadow& shadow, Cells cells, SlabShadows& shadows,
                          const Use& use) {
  shadows.begin(brick, widths_of(shadow));
  for (Index z = brick.part[2].first; z < brick.part[2].last; ++z) {
    shadows.cast(widths_of(shadow), shadow, brick.away(2, z));
    if (shadows.meets(cells)) use(z, shadows);
  }
}

/// use(shadow of a brick) on a flat detector, or on a curved one.
template <class Use>
HWY_INLINE void with_shadow(const Brick& brick, const FlexiblePlace& view, const Use& use) {
  if (view.curve.bins_per_radian == 0)
    use(brick.shadow(view));
  else
    use(brick.curved(view));
}

/// The sums of a brick over all views: `sums` is (z, y, x) of 8 x 8 x 8 voxels.
void BackProjectBrick(const FlexibleViews& n, const Brick& brick, Cells cells, const float* projections,
                      float* sums) {
  SlabShadows shadows;
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const float* view = projections + v * cells.size();
    with_shadow(brick, n.views[v], [&](const auto& shadow) {
      if (Reached(brick, shadow).misses(cells)) return;
      for_slabs(brick, shadow, cells, shadows, [&](Index z, const SlabShadows& s) {
        gather(s, cells, view, sums + (z - brick.part[2].first) * slab);
      });
    });
  }
}

/// The cells where a brick with narrow shadows is added up before it goes to its view. Neighbouring voxels
/// meet in the same cells, and it takes long to read a sum just after a part of it was written. So they go to
/// copies.
class Copies {
 public:
  static constexpr int side = 48;  ///< cells along each edge
  Copies() : cells_(count * side * side) {}

  static bool fits(const Reached& reached) {
    return reached.bins.size() + 4 <= side && reached.rows.size() <= side;
  }
  void begin(const Reached& reached) { reached_ = reached; }

  HWY_INLINE void add(const SlabShadows& shadows, int k, float value) {
    const Four four;
    float* to = cells_.data() + k % count * side * side +
                (shadows.first_row(k) - reached_.rows.first) * side + shadows.first_bin(k) -
                reached_.bins.first;
    for (std::size_t i = 0; i < 4; i += hn::Lanes(four)) {
      const auto bins = hn::Load(four, shadows.together(k) + i);
      for (int j = 0; j < 3; ++j) {
        float* sums = to + j * side + i;
        const auto line = hn::Set(four, shadows.of_row(j)[k] * value);
        hn::StoreU(hn::MulAdd(bins, line, hn::LoadU(four, sums)), four, sums);
      }
    }
  }

  HWY_FLATTEN void move_to(float* view, Cells cells) {
    const Range bins{std::max<Index>(reached_.bins.first, 0), std::min(reached_.bins.last, cells.bins)};
    for (Index row = reached_.rows.first; row < reached_.rows.last; ++row) {
      float* from = cells_.data() + (row - reached_.rows.first) * side;
      if (row >= 0 && row < cells.rows)
        for (Index bin = bins.first; bin < bins.last; ++bin) {
          const float* cell = from + (bin - reached_.bins.first);
          view[row * cells.bins + bin] +=
              (cell[0] + cell[side * side]) + (cell[2 * side * side] + cell[3 * side * side]);
        }
      for (int copy = 0; copy < count; ++copy)
        std::fill_n(from + copy * side * side, reached_.bins.size() + 4, 0.0f);
    }
  }

 private:
  static constexpr int count = 4;
  Reached reached_;
  std::vector<float> cells_;
};

struct ProjectionScratch {
  SlabShadows shadows;
  Copies copies;
};

/// Adds a brick to the cells of a view.
template <class Shadow>
HWY_INLINE void project_brick(const Brick& brick, const Shadow& shadow, Image<const float> volume,
                              Cells cells, ProjectionScratch& scratch, float* view) {
  SlabShadows& shadows = scratch.shadows;
  Copies& copies = scratch.copies;
  const Reached reached(brick, shadow);
  if (reached.misses(cells)) return;
  const auto for_voxels = [&](Index z, const auto& use) {
    for (Index y = brick.part[1].first; y < brick.part[1].last; ++y) {
      const float* from = &volume(z, y, brick.part[0].first);
      const int line = static_cast<int>(y - brick.part[1].first) * brick_edge;
      for (int k = 0; k < brick.part[0].size(); ++k) use(line + k, from[k]);
    }
  };
  bool copied = false;
  if (Copies::fits(reached)) copies.begin(reached);
  for_slabs(brick, shadow, cells, shadows, [&](Index z, const SlabShadows& s) {
    if (s.narrow() && Copies::fits(reached)) {
      copied = true;
      for_voxels(z, [&](int k, float value) { copies.add(s, k, value); });
    } else {
      const bool inside = s.inside(cells);
      for_voxels(z, [&](int k, float value) { scatter(s, k, inside, cells, value, view); });
    }
  });
  if (copied) copies.move_to(view, cells);
}

/// Adds all bricks to the cells of a view.
void ProjectView(const FlexiblePlace& place, Image<const float> volume, Cells cells, float* view) {
  const Shape shape{volume.n0, volume.n1, volume.n2};
  ProjectionScratch scratch;
  for (Index b = 0; b < Brick::count(shape); ++b) {
    let_interrupt();
    const Brick brick(shape, b);
    with_shadow(brick, place,
                [&](const auto& shadow) { project_brick(brick, shadow, volume, cells, scratch, view); });
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackProjectBrick);
HWY_EXPORT(ProjectView);

namespace {

const ConeVariant& of_upright_views() { return cone(Model::separable_footprint, Device::cpu()); }

void forward(const FlexibleViews& n, const Execution& how, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  if (n.upright) return of_upright_views().forward(*n.upright, how, alpha, volume, beta, projections, stream);
  note_launch("flexible forward");
  const Cells cells{projections.n1, projections.n2};
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[v];
    std::vector<float> sums(cells.size());
    TANDEM_DISPATCH(ProjectView)(view, volume, cells, sums.data());
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin) {
        const float sum = sums[row * cells.bins + bin];
        update(projections(v, row, bin), alpha * static_cast<float>(distance_of(view, row, bin)) * sum, beta);
      }
  });
}

void backward(const FlexibleViews& n, const Execution& how, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  if (n.upright)
    return of_upright_views().backward(*n.upright, how, alpha, projections, beta, volume, stream);
  note_launch("flexible backward");
  const Cells cells{projections.n1, projections.n2};
  constexpr Index beyond = 4;  // numbers that narrow shadows may read behind the last cell
  std::vector<float> slanted(projections.n0 * cells.size() + beyond);
  parallel_for(projections.n0, [&](Index v) {
    const FlexiblePlace& view = n.views[v];
    for (Index row = 0; row < cells.rows; ++row)
      for (Index bin = 0; bin < cells.bins; ++bin)
        slanted[v * cells.size() + row * cells.bins + bin] =
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
  const double view = sizeof(float) * cells.size();
  return {thread_count() * view, projections[0] * view};
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
