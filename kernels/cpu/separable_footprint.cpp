// The footprint separates: bins are shared by a whole column of voxels, rows by all its bins. Both directions
// take a column and a view at a time: back-projection adds its bins up to one profile along the rows and
// integrates that over every voxel; projection integrates the column, a profile of voxels, over every row and
// adds that to every bin. Columns and rows are contiguous, and SIMD lanes: volumes are turned to (y, x,
// slice), projections to (view, bin, row).
//
// Loop order: tiles of columns; views; columns. A tile's columns and the bins that it meets stay in the
// second cache. Sums run over views, or over tiles, in their order, whatever the thread.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/separable_footprint.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include "footprint-inl.hpp"

#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "../cone.hpp"
#include "../launches.hpp"
#include "dispatch.hpp"
#include "few_rows.hpp"
#include "update.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {

constexpr int bins_at_once = 4;  // bins whose weights stay in registers together

/// profile[row] = sum over `count` bins of their weights times their rows, plus the profile.
template <int count, class D>
HWY_INLINE void mix(D d, const float* from, Index stride, const float* weights, Range rows, bool add,
                    float* profile) {
  const Index lanes = hn::Lanes(d);
  hn::Vec<D> w[count];
  for (int b = 0; b < count; ++b) w[b] = hn::Set(d, weights[b * edge]);
  for (Index row = rows.first / lanes * lanes; row < rows.last; row += lanes) {
    auto sum = add ? hn::Load(d, profile + row) : hn::Zero(d);
    for (int b = 0; b < count; ++b) sum = hn::MulAdd(w[b], hn::Load(d, from + b * stride + row), sum);
    hn::Store(sum, d, profile + row);
  }
}

/// The transpose: the rows of each bin += its weight times the profile.
template <int count, class D>
HWY_INLINE void spread(D d, const float* profile, const float* weights, Range rows, Index stride, float* to) {
  const Index lanes = hn::Lanes(d);
  hn::Vec<D> w[count];
  for (int b = 0; b < count; ++b) w[b] = hn::Set(d, weights[b * edge]);
  for (Index row = rows.first / lanes * lanes; row < rows.last; row += lanes) {
    const auto value = hn::Load(d, profile + row);
    for (int b = 0; b < count; ++b) {
      float* sum = to + b * stride + row;
      hn::Store(hn::MulAdd(w[b], value, hn::Load(d, sum)), d, sum);
    }
  }
}

/// use(constant, bin) for groups of `constant` bins that make `count` together.
template <class Use>
HWY_INLINE void for_bins(Index count, const Use& use) {
  Index bin = 0;
  for (; count - bin >= bins_at_once; bin += bins_at_once)
    use(std::integral_constant<int, bins_at_once>{}, bin);
  if (count - bin == 3) use(std::integral_constant<int, 3>{}, bin);
  if (count - bin == 2) use(std::integral_constant<int, 2>{}, bin);
  if (count - bin == 1) use(std::integral_constant<int, 1>{}, bin);
}

/// Rows that a column of voxels meets.
inline Range rows_of(const Column& along, Index slices, Index rows) {
  return cells_between(along.first, along.first + along.step * slices, rows);
}

template <class D>
HWY_INLINE void back_project_column(D d, const Shadows& shadows, int k, const TurnedView& view,
                                    const float* from, Index slices, float* profile, float* sums) {
  const Range bins = shadows.bins(k);
  const Column along = shadows.along(k);
  const Range rows = rows_of(along, slices, view.rows);
  if (bins.size() <= 0 || rows.size() <= 0) return;
  for_bins(bins.size(), [&](auto count, Index bin) {
    mix<count()>(d, from + (bins.first + bin) * view.stride(), view.stride(), shadows.weights(k) + bin * edge,
                 rows, bin > 0, profile);
  });
  // zeros beside the profile: the numbers there belong to other columns, and would count by weights of
  // rounding
  const Index lanes = hn::Lanes(d);
  for (Index row = 0; row < widest_vector; row += lanes) {
    hn::StoreU(hn::Zero(d), d, profile + rows.first - lanes - row);
    hn::StoreU(hn::Zero(d), d, profile + rows.last + row);
  }
  const auto voxel_at = [&](Index row) { return (row - 0.5 - along.first) * shadows.inverse_step(k) - 0.5; };
  const Range voxels = cells_between(voxel_at(rows.first), voxel_at(rows.last), slices);
  for_integrals(d, {along.first + 0.5, along.step}, voxels, rows, profile, [&](Index iz, auto integral) {
    hn::Store(hn::Add(hn::Load(d, sums + iz), integral), d, sums + iz);
  });
}

template <class D>
HWY_INLINE void project_column(D d, const Shadows& shadows, int k, const TurnedView& view,
                               const float* column, Index slices, float* profile, float* sums) {
  const Range bins = shadows.bins(k);
  const Column along = shadows.along(k);
  const Range rows = rows_of(along, slices, view.rows);
  if (bins.size() <= 0 || rows.size() <= 0) return;
  const double voxels_a_row = shadows.inverse_step(k);
  const auto step = hn::Set(d, static_cast<float>(along.step));
  for_integrals(d, {-(along.first + 0.5) * voxels_a_row, voxels_a_row}, rows, {0, slices}, column,
                [&](Index row, auto integral) { hn::Store(hn::Mul(step, integral), d, profile + row); });
  for_bins(bins.size(), [&](auto count, Index bin) {
    spread<count()>(d, profile, shadows.weights(k) + bin * edge, rows, view.stride(),
                    sums + (bins.first + bin) * view.stride());
  });
}

/// The columns of a tile in some views: use(view, column of the tile, shadows, lane).
template <class Use>
HWY_INLINE void for_shadows(const ConeViews& n, Range views, const ColumnTile& tile, Index bins,
                            const Use& use) {
  Shadows shadows;
  for (Index v = views.first; v < views.last; ++v)
    for (Index iy = tile.y.first; iy < tile.y.last; ++iy) {
      shadows.cast(n.views[v], tile.x, iy, bins);
      for (int k = 0; k < tile.x.size(); ++k)
        use(v - views.first, tile.column(tile.x.first + k, iy), shadows, k);
    }
}

void BackProjectTile(const ConeViews& n, const ColumnTile& tile, const TurnedView& view, const float* turned,
                     float* sums) {
  const hn::CappedTag<float, widest_vector> d;
  Array profile(Space({1, 1, view.stride() + 2 * profile_margin}));
  const Range all{0, std::ssize(n.views)};
  for_shadows(n, all, tile, view.bins, [&](Index v, Index column, const Shadows& shadows, int k) {
    back_project_column(d, shadows, k, view, turned + v * view.size(), tile.slices,
                        profile.data() + profile_margin, sums + column * tile.stride());
  });
}

void ProjectTile(const ConeViews& n, Range views, const ColumnTile& tile, const TurnedView& view,
                 const float* columns, float* sums) {
  const hn::CappedTag<float, widest_vector> d;
  Array profile(Space({1, 1, view.stride()}));
  for_shadows(n, views, tile, view.bins, [&](Index v, Index column, const Shadows& shadows, int k) {
    project_column(d, shadows, k, view, columns + column * tile.stride(), tile.slices, profile.data(),
                   sums + v * view.size());
  });
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackProjectTile);
HWY_EXPORT(ProjectTile);

namespace {

constexpr Index widest_view_block = 4;  // a tile's columns are read once for so many views

/// Calls body(i, j) for all i and j, j in blocks: if i and j change places in memory, both are read in lines.
template <class Body>
void for_turned(Index rows, Index columns, const Body& body) {
  constexpr Index block = 16;
  for (Index first = 0; first < columns; first += block)
    for (Index i = 0; i < rows; ++i)
      for (Index j = first; j < std::min(columns, first + block); ++j) body(i, j);
}

/// All views of a block, tile by tile, into (view, bin, row).
void project_block(const ConeViews& n, Range views, const float* turned, Shape volume, const TurnedView& view,
                   float* sums) {
  Array columns(Space({column_tile, column_tile, ColumnTile(volume, 0).stride()}));
  for (Index t = 0; t < ColumnTile::count(volume); ++t) {
    let_interrupt();
    const ColumnTile tile(volume, t);
    for (Index iy = tile.y.first; iy < tile.y.last; ++iy)
      for (Index ix = tile.x.first; ix < tile.x.last; ++ix)
        std::copy_n(turned + (iy * volume[2] + ix) * volume[0], volume[0],
                    columns.data() + tile.column(ix, iy) * tile.stride() + profile_margin);
    TANDEM_DISPATCH(ProjectTile)(n, views, tile, view, columns.data() + profile_margin, sums);
  }
}

bool in_vectors(Index rows) { return rows > most_of_few; }

std::string form_of(Index rows) { return in_vectors(rows) ? "in vectors" : "of few rows"; }

std::vector<std::string> names(Device) {
  std::vector<std::string> all;
  for (const Index rows : {Index{1}, most_of_few + 1})
    for (const char* direction : {"footprint forward, ", "footprint backward, "})
      all.push_back(direction + form_of(rows));
  return all;
}

void forward(const ConeViews& n, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream&) {
  const Shape shape{volume.n0, volume.n1, volume.n2};
  const TurnedView view{projections.n2, projections.n1};
  note_launch("footprint forward, " + form_of(view.rows));
  const Slants slant(n, view.rows, view.bins);
  if (!in_vectors(view.rows)) return few_rows_forward(n, slant, alpha, volume, beta, projections);
  Array turned(Space({volume.n1, volume.n2, volume.n0}));
  parallel_for(volume.n1, [&](Index iy) {
    for_turned(volume.n0, volume.n2, [&](Index iz, Index ix) {
      turned.data()[(iy * volume.n2 + ix) * volume.n0 + iz] = volume(iz, iy, ix);
    });
  });
  parallel_for_blocks(projections.n0, widest_view_block, [&](Range block) {
    Array sums(Space({block.size(), view.bins, view.stride()}));
    project_block(n, block, turned.data(), shape, view, sums.data());
    for (Index v = block.first; v < block.last; ++v)
      for_turned(view.rows, view.bins, [&](Index row, Index bin) {
        const float sum = sums.data()[(v - block.first) * view.size() + bin * view.stride() + row];
        const float value = alpha * slant(v, row, bin) * sum;
        update(projections(v, row, bin), value, beta);
      });
  });
}

void backward(const ConeViews& n, const Execution&, float alpha, Image<const float> projections, float beta,
              Image<float> volume, Stream&) {
  const TurnedView view{projections.n2, projections.n1};
  note_launch("footprint backward, " + form_of(view.rows));
  const Slants slant(n, view.rows, view.bins);
  if (!in_vectors(view.rows)) return few_rows_backward(n, slant, alpha, projections, beta, volume);
  Array turned(Space({projections.n0, view.bins, view.stride()}));
  parallel_for(projections.n0, [&](Index v) {
    for_turned(view.rows, view.bins, [&](Index row, Index bin) {
      turned.data()[v * view.size() + bin * view.stride() + row] =
          slant(v, row, bin) * projections(v, row, bin);
    });
  });
  const Shape shape{volume.n0, volume.n1, volume.n2};
  parallel_for(ColumnTile::count(shape), [&](Index t) {
    const ColumnTile tile(shape, t);
    Array sums(Space({column_tile, column_tile, tile.stride()}));
    TANDEM_DISPATCH(BackProjectTile)(n, tile, view, turned.data(), sums.data());
    for (Index iz = 0; iz < volume.n0; ++iz)
      for (Index iy = tile.y.first; iy < tile.y.last; ++iy)
        for (Index ix = tile.x.first; ix < tile.x.last; ++ix)
          update(volume(iz, iy, ix), alpha * sums.data()[tile.column(ix, iy) * tile.stride() + iz], beta);
  });
}

/// What is read lies in a turned copy, with the slant of a view's cells; each thread has some views, or a
/// tile.
WorkingMemory working_memory(Precision, Shape volume, Shape projections, Device) {
  if (!in_vectors(projections[1])) return few_rows_memory(volume, projections);
  const auto bytes = [](double count) { return sizeof(float) * count; };
  const TurnedView view{projections[2], projections[1]};
  const double slant = bytes(view.bins * view.rows), threads = thread_count(),
               tile = threads * bytes(column_tile * column_tile * ColumnTile(volume, 0).stride());
  return {bytes(volume[0] * volume[1] * volume[2]) + slant + tile +
              threads * bytes(widest_view_block * view.size()),
          bytes(projections[0] * view.size()) + slant + tile};
}

}  // namespace

namespace cone_variants {

ConeVariant separable_footprint() {
  return {.name = "separable_footprint",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = forward,
          .backward = backward,
          .working_memory = working_memory,
          .kernels = names};
}

}  // namespace cone_variants

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
