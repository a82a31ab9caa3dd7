// A detector of few rows leaves too little to share between the voxels of a column. So neighbouring columns
// are the lanes here, along x or along y, and shadows are computed for all of them at once.
//
// Back-projection: tiles of columns, each by one thread; views; lines of the tile; bins. Lanes are along the
// axis where neighbours share bins: those of a line then lie in two vectors, where lanes look them up.
//
// Projection: blocks of views, each by one thread; tiles in their order; a few views; lines; bins, four at a
// time; columns. Lanes are along the other axis. A column adds to four bins of a view at once, and then
// another view has its turn, since a sum has to be stored before it can be read again.
//
// Sums run over views, or over tiles and their columns, in their order, whatever the thread.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/few_rows.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include "few_rows-inl.hpp"
#include "near_by-inl.hpp"

#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "dispatch.hpp"
#include "update.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {

/// sums += a b, column by column.
HWY_INLINE void add_products(const float* a, const float* b, float* sums) {
  const Lanes d;
  for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d))
    hn::Store(hn::MulAdd(hn::Load(d, a + k), hn::Load(d, b + k), hn::Load(d, sums + k)), d, sums + k);
}

HWY_ALIGN constexpr float ones[few_tile] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

inline bool depths_count(const std::vector<Overlap>& all) {
  return !std::all_of(all.begin(), all.end(), [](const Overlap& o) { return o.whole; });
}

/// sums = what the columns find in `bins` bins of a row, each from its first one on, times its weights.
HWY_INLINE void mix(const float* row, Index all_bins, const LineShadows& line, const float* weights,
                    Index bins, float* sums) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d)) {
    const NearBy<Lanes> columns(row, line.bins + k,
                                static_cast<int32_t>(std::min<Index>(bins, few_tile)) - 1);
    auto sum = hn::Zero(d);
    for (Index b = 0; b < bins; ++b) {
      const auto weight = hn::Load(d, weights + b * few_tile + k);
      if (b < few_tile) {
        sum = hn::MulAdd(weight, columns.at(b), sum);
      } else {  // rows have no more zeros behind them
        const auto bin = hn::Add(hn::Load(di, line.bins + k), hn::Set(di, static_cast<int>(b)));
        const auto kept = hn::Min(bin, hn::Set(di, static_cast<int>(all_bins)));
        sum = hn::MulAdd(weight, hn::GatherIndex(d, row, kept), sum);
      }
    }
    hn::Store(sum, d, sums + k);
  }
}

/// A tile in all views: sums (slice, along y or not, line, lane).
void BackProjectFewRows(const ConeViews& n, const FewRowsTile& tile, const FewRows& q, Index slices,
                        float* sums) {
  TileShadows shadows;
  LineShadows lines[few_tile];
  std::vector<Overlap> overlaps;
  HWY_ALIGN float profiles[most_of_few][few_tile], shares[few_tile];
  Array weights(Space({1, 1, few_tile}));
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const TileInView at(n.views[v], tile, q.bins);
    if (!at.meets) continue;
    find_overlaps(n.views[v], at, slices, q.rows, overlaps);
    if (overlaps.empty()) continue;
    const Index bins = ceil_div<Index>(at.most_bins, bins_together) * bins_together;
    if (weights.size() < bins * few_tile) weights = Array(Space({1, bins, few_tile}));
    shadows.place(at, tile, at.flat_along_y(), q.bins);
    // all lines first, each on its own: what they wait for then overlaps
    for (int l = 0; l < shadows.lines(); ++l) shadows.cast(l, lines[l]);
    if (depths_count(overlaps))
      for (int l = 0; l < shadows.lines(); ++l) shadows.find_depths(l, lines[l]);
    for (int l = 0; l < shadows.lines(); ++l) {
      const LineShadows& line = lines[l];
      for (Index b = 0; b < bins; b += bins_together) line.weigh(b, weights.data() + b * few_tile);
      for (Index row = 0; row < q.rows; ++row)
        mix(q.row(v, row), q.bins, line, weights.data(), bins, profiles[row]);
      for (const Overlap& o : overlaps) {
        if (!o.whole) line.share(o, shares);
        float* sum = sums + ((2 * o.slice + at.flat_along_y()) * few_tile + l) * few_tile;
        add_products(o.whole ? ones : shares, profiles[o.row], sum);
      }
    }
  }
}

constexpr Index views_at_once = 8;

/// A tile in a view, on its way to the rows.
struct Cast {
  TileShadows shadows;
  LineShadows line;
  std::vector<Overlap> overlaps;
  Index view;
  bool along_y;
  HWY_ALIGN float values[most_of_few][few_tile];
  HWY_ALIGN float weights[few_tile][bins_together];
  HWY_ALIGN int places[few_tile];  ///< the first of the bins

  void add_up(const float* columns, int which, Index rows) {
    HWY_ALIGN float shares[few_tile];
    shadows.cast(which, line);
    if (depths_count(overlaps)) shadows.find_depths(which, line);
    std::fill_n(values[0], rows * few_tile, 0.0f);
    for (const Overlap& o : overlaps) {
      if (!o.whole) line.share(o, shares);
      const float* voxels = columns + ((2 * o.slice + along_y) * few_tile + which) * few_tile;
      add_products(o.whole ? ones : shares, voxels, values[o.row]);
    }
  }

  void weigh(Index first, Index all_bins) {
    HWY_ALIGN float of_bins[bins_together][few_tile];
    line.weigh(first, of_bins[0]);
    const Lanes d;
    for (std::size_t k = 0; k < few_tile; k += hn::Lanes(d))
      hn::StoreInterleaved4(hn::Load(d, of_bins[0] + k), hn::Load(d, of_bins[1] + k),
                            hn::Load(d, of_bins[2] + k), hn::Load(d, of_bins[3] + k), d, weights[k]);
    for (int k = 0; k < few_tile; ++k)
      places[k] = std::min(line.bins[k] + static_cast<int>(first), static_cast<int>(all_bins));
  }
};

/// The casts of some views, line by line, into the rows of the block of views.
class Scatter {
 public:
  Scatter(const FewRows& q, float* sums) : q_(q), sums_(sums) {}

  HWY_INLINE void add_line(Cast* const* casts, int count, Index most_bins) const {
    for (Index b = 0; b < most_bins; b += bins_together) {
      for (int i = 0; i < count; ++i) casts[i]->weigh(b, q_.bins);
      for (Index row = 0; row < q_.rows; ++row) {
        float* to[views_at_once];
        for (int i = 0; i < count; ++i) to[i] = sums_ + q_.place(casts[i]->view, row);
        for (int k = 0; k < few_tile; ++k)
          for (int i = 0; i < count; ++i) add(*casts[i], k, row, to[i]);
      }
    }
  }

 private:
  /// Column k.
  HWY_INLINE static void add(const Cast& c, int k, Index row, float* to) {
    const hn::CappedTag<float, bins_together> d;
    const auto value = hn::Set(d, c.values[row][k]);
    float* sums = to + c.places[k];
    for (std::size_t b = 0; b < bins_together; b += hn::Lanes(d))
      hn::StoreU(hn::MulAdd(hn::Load(d, c.weights[k] + b), value, hn::LoadU(d, sums + b)), d, sums + b);
  }

  const FewRows& q_;
  float* sums_;
};

/// A tile (slice, along y or not, line, lane) into the rows of views [views.first, views.last).
void ProjectFewRows(const ConeViews& n, Range views, const FewRowsTile& tile, const FewRows& q, Index slices,
                    const float* columns, float* sums) {
  std::vector<Cast> casts(views_at_once);
  const Scatter scatter(q, sums);
  for (Index v = views.first; v < views.last;) {
    std::size_t count = 0;
    Index most_bins = 0;
    for (; v < views.last && count < views_at_once; ++v) {
      const ConeView& view = n.views[v];
      const TileInView at(view, tile, q.bins);
      Cast& c = casts[count];
      if (!at.meets) continue;
      find_overlaps(view, at, slices, q.rows, c.overlaps);
      if (c.overlaps.empty()) continue;
      c.view = v - views.first, c.along_y = !at.flat_along_y();
      c.shadows.place(at, tile, c.along_y, q.bins);
      most_bins = std::max(most_bins, at.most_bins);
      ++count;
    }
    for (int l = 0; l < few_tile; ++l) {
      Cast* of_line[views_at_once];
      int those = 0;
      for (std::size_t i = 0; i < count; ++i)
        if (l < casts[i].shadows.lines()) of_line[those++] = &casts[i];
      for (int i = 0; i < those; ++i) of_line[i]->add_up(columns, l, q.rows);
      scatter.add_line(of_line, those, most_bins);
    }
  }
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(BackProjectFewRows);
HWY_EXPORT(ProjectFewRows);

namespace {

constexpr Index widest_view_block = 16;  // a tile is read once for so many views

/// use(place in (along y or not, line, lane), y, x) for all columns of a tile.
template <class Use>
void for_columns(const FewRowsTile& tile, const Use& use) {
  for (Index y = tile.y.first; y < tile.y.last; ++y)
    for (Index x = tile.x.first; x < tile.x.last; ++x)
      use((y - tile.y.first) * few_tile + x - tile.x.first,
          few_tile * few_tile + (x - tile.x.first) * few_tile + y - tile.y.first, y, x);
}

constexpr Index both_ways = 2 * few_tile * few_tile;  // numbers of a slice of a tile

}  // namespace

void few_rows_forward(const ConeViews& n, const Slants& slant, float alpha, Image<const float> volume,
                      float beta, Image<float> projections) {
  const Index rows = projections.n1, bins = projections.n2, slices = volume.n0;
  const Shape shape{volume.n0, volume.n1, volume.n2};
  const float scale = alpha * static_cast<float>(n.pitch);
  parallel_for_blocks(projections.n0, widest_view_block, [&](Range block) {
    Array sums(Space({block.size(), rows, FewRows::padded(bins)}));
    const FewRows q{sums.data(), rows, bins};
    Array columns(Space({slices, 1, both_ways}));
    for (Index t = 0; t < FewRowsTile::count(shape); ++t) {
      let_interrupt();
      const FewRowsTile tile(shape, t);
      std::fill_n(columns.data(), columns.size(), 0.0f);  // a tile at the end does not fill its lanes
      for (Index iz = 0; iz < slices; ++iz)
        for_columns(tile, [&](Index along_x, Index along_y, Index y, Index x) {
          float* to = columns.data() + iz * both_ways;
          to[along_x] = to[along_y] = volume(iz, y, x);
        });
      TANDEM_DISPATCH(ProjectFewRows)(n, block, tile, q, slices, columns.data(), sums.data());
    }
    for (Index v = block.first; v < block.last; ++v)
      for (Index row = 0; row < rows; ++row)
        for (Index bin = 0; bin < bins; ++bin)
          update(projections(v, row, bin), scale * slant(v, row, bin) * q.row(v - block.first, row)[bin],
                 beta);
  });
}

void few_rows_backward(const ConeViews& n, const Slants& slant, float alpha, Image<const float> projections,
                       float beta, Image<float> volume) {
  const Index rows = projections.n1, bins = projections.n2, slices = volume.n0;
  Array weighted(Space({projections.n0, rows, FewRows::padded(bins)}));
  const FewRows q{weighted.data(), rows, bins};
  parallel_for(projections.n0, [&](Index v) {
    for (Index row = 0; row < rows; ++row)
      for (Index bin = 0; bin < bins; ++bin)
        weighted.data()[q.place(v, row) + bin] = slant(v, row, bin) * projections(v, row, bin);
  });
  const Shape shape{volume.n0, volume.n1, volume.n2};
  const float scale = alpha * static_cast<float>(n.pitch);
  parallel_for(FewRowsTile::count(shape), [&](Index t) {
    const FewRowsTile tile(shape, t);
    Array sums(Space({slices, 1, both_ways}));
    TANDEM_DISPATCH(BackProjectFewRows)(n, tile, q, slices, sums.data());
    for (Index iz = 0; iz < slices; ++iz)
      for_columns(tile, [&](Index along_x, Index along_y, Index y, Index x) {
        const float* from = sums.data() + iz * both_ways;
        update(volume(iz, y, x), scale * (from[along_x] + from[along_y]), beta);
      });
  });
}

WorkingMemory few_rows_memory(Shape volume, Shape projections) {
  const auto bytes = [](double count) { return sizeof(float) * count; };
  const Index view = projections[1] * FewRows::padded(projections[2]);
  const double slant = bytes(projections[1] * projections[2]), threads = thread_count(),
               tile = threads * bytes(volume[0] * both_ways);
  return {slant + tile + threads * bytes(std::min(widest_view_block, projections[0]) * view),
          slant + tile + bytes(projections[0] * view)};
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
