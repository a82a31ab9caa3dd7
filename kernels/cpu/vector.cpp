#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/parallel.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

/// Sum of x y over a line. Eight partial sums, so that the compiler may use SIMD; written out rather than
/// left to a library, whose order of summation follows the address in memory, and so would the bits.
double line_dot(const float* x, const float* y, Index count) {
  double partial[8] = {};
  Index i = 0;
  for (; i + 8 <= count; i += 8)
    for (int k = 0; k < 8; ++k) partial[k] += double{x[i + k]} * y[i + k];
  for (int k = 0; i < count; ++i, ++k) partial[k] += double{x[i]} * y[i];
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

void dot(ConstVectorView x, ConstVectorView y, std::span<double> sums, Stream&) {
  const Image<const float> a = image(x), b = image(y);
  const bool rows = x.space.blocks() == Blocks::rows;
  const Index per_plane = rows ? a.n1 : 1;
  std::vector<double> partial(a.n0 * per_plane, 0.0);
  parallel_for(a.n0, [&](Index i) {
    for (Index j = 0; j < a.n1; ++j)
      partial[i * per_plane + (rows ? j : 0)] += line_dot(&a(i, j, 0), &b(i, j, 0), a.n2);
  });
  std::fill(sums.begin(), sums.end(), 0.0);
  for (Index i = 0; i < a.n0; ++i)
    for (Index j = 0; j < per_plane; ++j)
      sums[rows ? j : x.space.blocks() == Blocks::slices ? i : 0] += partial[i * per_plane + j];
}

void count_not_finite(ConstVectorView x, std::span<Index> counts, Stream&) {
  const Image<const float> all = image(x);
  const bool rows = x.space.blocks() == Blocks::rows, slices = x.space.blocks() == Blocks::slices;
  std::vector<Index> lines(all.n0 * all.n1);
  parallel_for(all.n0, [&](Index i) {
    for (Index j = 0; j < all.n1; ++j) {
      const float* line = &all(i, j, 0);
      lines[i * all.n1 + j] =
          std::count_if(line, line + all.n2, [](float value) { return !std::isfinite(value); });
    }
  });
  std::fill(counts.begin(), counts.end(), 0);
  for (Index i = 0; i < all.n0; ++i)
    for (Index j = 0; j < all.n1; ++j) counts[rows ? j : slices ? i : 0] += lines[i * all.n1 + j];
}

/// body(line, block) for each line of innermost elements.
template <class Body>
void for_each_line(const Space& space, const Body& body) {
  const Shape n = space.shape();
  const Blocks blocks = space.blocks();
  parallel_for(n[0], [&](Index i) {
    for (Index j = 0; j < n[1]; ++j)
      body((i * n[1] + j) * n[2], blocks == Blocks::slices ? i : blocks == Blocks::rows ? j : 0);
  });
}

void axpby(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y, Stream&) {
  const Index count = x.space.shape()[2];
  for_each_line(x.space, [&](Index first, Index block) {
    const float s = a[a.size() == 1 ? 0 : block];
    const float t = b[b.size() == 1 ? 0 : block];
    const float* from = x.data + first;
    float* to = y.data + first;
    if (t == 0)
      for (Index i = 0; i < count; ++i) to[i] = s * from[i];
    else
      for (Index i = 0; i < count; ++i) to[i] = s * from[i] + t * to[i];
  });
}

void reciprocal_or_zero(VectorView x, std::span<const float> floor, Stream&) {
  const Index count = x.space.shape()[2];
  for_each_line(x.space, [&](Index first, Index block) {
    const float least = floor[floor.size() == 1 ? 0 : block];
    for (Index i = first; i < first + count; ++i) x.data[i] = x.data[i] > least ? 1 / x.data[i] : 0.0f;
  });
}

void divide(ConstVectorView x, std::span<const float> floor, float otherwise, VectorView y, Stream&) {
  const Index count = x.space.shape()[2];
  for_each_line(x.space, [&](Index first, Index block) {
    const float least = floor[floor.size() == 1 ? 0 : block];
    for (Index i = first; i < first + count; ++i)
      y.data[i] = x.data[i] > least ? y.data[i] / x.data[i] : otherwise;
  });
}

void shrink(ConstVectorView x, std::span<const float> by, VectorView y, Stream&) {
  const Index count = x.space.shape()[2];
  for_each_line(x.space, [&](Index first, Index block) {
    const float more = by[by.size() == 1 ? 0 : block];
    for (Index i = first; i < first + count; ++i)
      y.data[i] = x.data[i] > 0 ? y.data[i] * (x.data[i] / (x.data[i] + more)) : 0;
  });
}

template <class Change>
void change_each(VectorView x, const Change& change) {
  const Index count = x.space.shape()[2];
  for_each_line(x.space, [&](Index first, Index) {
    for (Index i = first; i < first + count; ++i) x.data[i] = change(i);
  });
}

}  // namespace

const VectorKernels vector_kernels{
    .dot = dot,
    .count_not_finite = count_not_finite,
    .axpby = axpby,
    .multiply = [](ConstVectorView x, VectorView y,
                   Stream&) { change_each(y, [&](Index i) { return x.data[i] * y.data[i]; }); },
    .attenuate = [](ConstVectorView x, VectorView y,
                    Stream&) { change_each(y, [&](Index i) { return y.data[i] * std::exp(-x.data[i]); }); },
    .fill = [](VectorView x, float value, Stream&) { change_each(x, [=](Index) { return value; }); },
    .divide = divide,
    .shrink = shrink,
    .reciprocal_or_zero = reciprocal_or_zero,
    .clamp_below = [](VectorView x, float lowest,
                      Stream&) { change_each(x, [&](Index i) { return std::max(x.data[i], lowest); }); },
    .clamp_each =
        [](ConstVectorView ends, bool above, VectorView x, Stream&) {
          change_each(x, [&](Index i) {
            return above ? std::min(x.data[i], ends.data[i]) : std::max(x.data[i], ends.data[i]);
          });
        },
};

}  // namespace tandem::kernels::cpu
