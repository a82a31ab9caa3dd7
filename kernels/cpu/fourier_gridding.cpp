// Between samples along rays and cells of the grid of frequencies. A sample and a cell are all lanes; the
// weights of a window are the same for them.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fourier_gridding.cpp"
#include <hwy/foreach_target.h>  // must come before the next

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../../core/rounding.hpp"
#include "dispatch.hpp"
#include "fourier_gridding.hpp"

HWY_BEFORE_NAMESPACE();
namespace tandem::kernels::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body with the number of taps as a constant.
template <class Body>
HWY_INLINE void with_taps(int taps, const Body& body) {
  if (taps == 5) return body(std::integral_constant<int, 5>());
  if (taps == 6) return body(std::integral_constant<int, 6>());
  body(std::integral_constant<int, widest_window>());
}

constexpr int block = 64;  // samples whose windows are computed together

/// The windows of up to `block` samples that follow each other on a ray.
struct Windows {
  int x[block], y[block];                                                    ///< the first cell
  HWY_ALIGN float across[widest_window][block], down[widest_window][block];  ///< weights of the taps

  /// Computes the windows of the samples first, first + 1, ... of a run. Conjugate samples have the mirror
  /// image of the window, tap by tap, so that projector and back-projector have the same weights to the last
  /// bit.
  template <int taps>
  void compute(const FourierPlan& plan, const Run& run, int first, int count) {
    const Ray& ray = plan.rays[run.view];
    const bool mirrored = run.sign < 0;
    HWY_ALIGN float from_x[block], from_y[block];
    place<taps>(ray.step_x, mirrored, run.shift_x, first, count, x, from_x);
    place<taps>(ray.step_y, mirrored, run.shift_y, first, count, y, from_y);
    weigh<taps>(plan.window.data(), from_x, mirrored, count, across);
    weigh<taps>(plan.window.data(), from_y, mirrored, count, down);
  }

 private:
  /// Positions are double until their cell is known. `from` is the distance to the first cell of the window
  /// that is not mirrored.
  template <int taps>
  static HWY_INLINE void place(double step, bool mirrored, int shift, int first, int count, int* cell,
                               float* from) {
    for (int s = 0; s < count; ++s) {
      const double at = step * (first + s), c = std::ceil(at - 0.5 * taps - window_shift);
      const int begin = static_cast<int>(c);
      cell[s] = shift + (mirrored ? 1 - taps - begin : begin);
      from[s] = static_cast<float>(c - at);
    }
  }
  template <int taps>
  static HWY_INLINE void weigh(const float* window, const float* from, bool mirrored, int count,
                               float (*out)[block]) {
    constexpr int degree = taps + 3;
    const hn::CappedTag<float, 16> d;
    const auto scale = hn::Set(d, 8.0f / (taps * taps)), one = hn::Set(d, 1.0f);
    for (Index s = 0; s < count; s += hn::Lanes(d)) {
      const auto begin = hn::Load(d, from + s);
      for (int tap = 0; tap < taps; ++tap) {
        const auto distance = hn::Add(begin, hn::Set(d, tap));
        const auto v = hn::MulSub(hn::Mul(distance, distance), scale, one);
        auto sum = hn::Set(d, window[degree]);
        for (int i = degree - 1; i >= 0; --i) sum = hn::MulAdd(sum, v, hn::Set(d, window[i]));
        hn::Store(sum, d, out[mirrored ? taps - 1 - tap : tap] + s);
      }
    }
  }
};

/// All lanes of one sample or cell.
using Tag = hn::CappedTag<float, floats_a_cell>;
constexpr int vectors = floats_a_cell / hn::MaxLanes(Tag());

/// The signs of a cell, vector by vector: -1 for the imaginary parts if they are conjugate.
HWY_INLINE void find_signs(bool conjugate, hn::Vec<Tag> (&sign)[vectors]) {
  const Tag d;
  HWY_ALIGN float all[floats_a_cell];
  for (Index i = 0; i < floats_a_cell; ++i) all[i] = conjugate && i >= lanes ? -1.0f : 1.0f;
  for (int k = 0; k < vectors; ++k) sign[k] = hn::Load(d, all + k * hn::Lanes(d));
}

template <int taps>
HWY_INLINE void add_run(const FourierPlan& plan, const FrequencyTile& tile, const Run& run,
                        const float* polar, float* cells) {
  const Tag d;
  const Index width = hn::Lanes(d);
  hn::Vec<Tag> sign[vectors];
  find_signs(run.sign < 0, sign);
  const float* ray = polar + run.view * plan.samples() * floats_a_cell;
  Windows windows;
  for (int first = run.first; first < run.last; first += block) {
    const int count = std::min(block, run.last - first);
    windows.compute<taps>(plan, run, first, count);
    for (int s = 0; s < count; ++s) {
      const int x = windows.x[s] - tile.x, y = windows.y[s] - tile.y;
      const int x0 = std::max(0, -x), x1 = std::min(taps, frequency_tile - x);
      const int y0 = std::max(0, -y), y1 = std::min(taps, frequency_tile - y);
      hn::Vec<Tag> sample[vectors];
      for (int k = 0; k < vectors; ++k)
        sample[k] = hn::Mul(sign[k], hn::Load(d, ray + (first + s) * floats_a_cell + k * width));
      for (int i = x0; i < x1; ++i) {
        hn::Vec<Tag> part[vectors];
        for (int k = 0; k < vectors; ++k) part[k] = hn::Mul(sample[k], hn::Set(d, windows.across[i][s]));
        float* column = cells + ((x + i) * frequency_tile + y) * floats_a_cell;
        for (int j = y0; j < y1; ++j)
          for (int k = 0; k < vectors; ++k) {
            float* cell = column + j * floats_a_cell + k * width;
            hn::Store(hn::MulAdd(part[k], hn::Set(d, windows.down[j][s]), hn::Load(d, cell)), d, cell);
          }
      }
    }
  }
}

/// Near the middle all rays meet: sums over a few of them are added, so that rounding does not grow with the
/// number of views.
constexpr std::size_t runs_a_part = 32;

void GatherTile(const FourierPlan& plan, const FrequencyTile& tile, const float* polar, float* cells) {
  constexpr Index size = frequency_tile * frequency_tile * floats_a_cell;
  HWY_ALIGN float part[size];
  std::fill_n(cells, size, 0.0f);
  for (std::size_t first = tile.first_run; first < tile.last_run; first += runs_a_part) {
    std::fill_n(part, size, 0.0f);
    for (std::size_t r = first; r < std::min(tile.last_run, first + runs_a_part); ++r)
      with_taps(plan.taps, [&](auto taps) { add_run<taps>(plan, tile, plan.runs[r], polar, part); });
    for (Index i = 0; i < size; ++i) cells[i] += part[i];
  }
}

/// The cells (x, y), (x, y + 1), ... of the full plane as they stand in the half plane x >= 0, whose other
/// half is its conjugate mirror image.
struct CellColumn {
  const float* cells;
  Index y, step, count;
  bool mirrored;

  CellColumn(const FourierPlan& plan, const float* grid, int x, int first) : count(plan.cells_y) {
    mirrored = x < 0 || x > plan.cells_x / 2;
    const Index column = x < 0 ? -x : mirrored ? plan.cells_x - x : x;
    cells = grid + column * count * floats_a_cell;
    step = mirrored ? -1 : 1;
    y = wrapped(step * first);
  }
  bool straight(int taps) const { return !mirrored && y + taps <= count; }
  const float* at(int j) const { return cells + wrapped(y + step * j) * floats_a_cell; }

 private:
  Index wrapped(Index i) const { return i < 0 ? i + count : i >= count ? i - count : i; }
};

/// The cells of one column that a window meets, times their weights.
template <int taps>
HWY_INLINE void add_column(const CellColumn& column, const float (*down)[block], int s, hn::Vec<Tag>* sum) {
  const Tag d;
  const Index width = hn::Lanes(d);
  const bool straight = column.straight(taps);
  const float* first = column.at(0);
  for (int j = 0; j < taps; ++j) {
    const float* cell = straight ? first + j * floats_a_cell : column.at(j);
    for (int k = 0; k < vectors; ++k)
      sum[k] = hn::MulAdd(hn::Set(d, down[j][s]), hn::Load(d, cell + k * width), sum[k]);
  }
}

template <int taps>
HWY_INLINE void sample(const FourierPlan& plan, Index view, const float* grid, float* samples) {
  const Tag d;
  const Index width = hn::Lanes(d);
  hn::Vec<Tag> turn[vectors];
  find_signs(true, turn);
  Windows windows;
  for (Index first = 0; first < plan.samples(); first += block) {
    const int count = at_most(block, plan.samples() - first);
    windows.compute<taps>(plan, {static_cast<int>(view), 0, 0, 1, 0, 0}, static_cast<int>(first), count);
    for (int s = 0; s < count; ++s) {
      hn::Vec<Tag> total[vectors];
      for (int k = 0; k < vectors; ++k) total[k] = hn::Zero(d);
      for (int i = 0; i < taps; ++i) {
        hn::Vec<Tag> part[vectors];
        for (int k = 0; k < vectors; ++k) part[k] = hn::Zero(d);
        const CellColumn column(plan, grid, windows.x[s] + i, windows.y[s]);
        add_column<taps>(column, windows.down, s, part);
        for (int k = 0; k < vectors; ++k) {
          const auto value = column.mirrored ? hn::Mul(part[k], turn[k]) : part[k];
          total[k] = hn::MulAdd(hn::Set(d, windows.across[i][s]), value, total[k]);
        }
      }
      for (int k = 0; k < vectors; ++k)
        hn::Store(total[k], d, samples + (first + s) * floats_a_cell + k * width);
    }
  }
}

void SampleRay(const FourierPlan& plan, Index view, const float* grid, float* samples) {
  with_taps(plan.taps, [&](auto taps) { sample<taps>(plan, view, grid, samples); });
}

}  // namespace tandem::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::kernels::cpu {

HWY_EXPORT(GatherTile);
HWY_EXPORT(SampleRay);

void gather_tile(const FourierPlan& plan, const FrequencyTile& tile, const float* polar, float* cells) {
  TANDEM_DISPATCH(GatherTile)(plan, tile, polar, cells);
}

void sample_ray(const FourierPlan& plan, Index view, const float* grid, float* samples) {
  TANDEM_DISPATCH(SampleRay)(plan, view, grid, samples);
}

}  // namespace tandem::kernels::cpu
#endif  // HWY_ONCE
