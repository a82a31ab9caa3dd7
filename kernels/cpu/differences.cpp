#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/parallel.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

constexpr Index most_parts = 3;

/// Lines along the last axis: where line (k, j) begins, and in which block it lies.
struct Lines {
  Shape n;
  Blocks blocks;

  explicit Lines(const Space& space) : n(space.shape()), blocks(space.blocks()) {}
  Index first(Index k, Index j) const { return (k * n[1] + j) * n[2]; }
  std::size_t block(Index k, Index j) const {
    return blocks == Blocks::slices ? k : blocks == Blocks::rows ? j : 0;
  }
};

/// work(k, j) for each line. Lines of one plane belong to one thread.
template <class Work>
void for_each_line(const Lines& lines, const Work& work) {
  parallel_for(lines.n[0], [&](Index k) {
    for (Index j = 0; j < lines.n[1]; ++j) work(k, j);
  });
}

/// The scalar of a block.
float of_block(std::span<const float> scalars, std::size_t block) {
  return scalars[scalars.size() == 1 ? 0 : block];
}

/// How far the next voxel along an axis lies.
Index step_along(const Shape& n, int axis) { return axis == 0 ? n[1] * n[2] : axis == 1 ? n[2] : 1; }

/// How many voxels of a line have a next one along an axis.
Index with_next(const Shape& n, int axis, Index k, Index j) {
  if (axis == 2) return n[2] - 1;
  return axis == 1 ? (j + 1 < n[1] ? n[2] : 0) : (k + 1 < n[0] ? n[2] : 0);
}

/// to <- value + beta to, which is not read if beta = 0.
inline void add_to(float& to, float beta, float value) { to = beta == 0 ? value : value + beta * to; }

void forward(float alpha, ConstVectorView x, float beta, VectorView field, std::span<const float> scales,
             Stream&) {
  const Lines lines(x.space);
  const int parts = field.space.parts();
  for_each_line(lines, [&](Index k, Index j) {
    const float* from = x.data + lines.first(k, j);
    for (int part = 0; part < parts; ++part) {
      const int axis = 3 - parts + part;
      const Index step = step_along(lines.n, axis), count = with_next(lines.n, axis, k, j);
      const float scale = alpha * scales[part];
      float* to = field.data + field.space.offset(part) + lines.first(k, j);
      for (Index i = 0; i < count; ++i) add_to(to[i], beta, scale * (from[i + step] - from[i]));
      for (Index i = count; i < lines.n[2]; ++i) add_to(to[i], beta, 0);
    }
  });
}

/// Adds scale Dt of one part to a line of x.
void add_transpose(const Lines& lines, int axis, float scale, const float* part, Index k, Index j,
                   float* to) {
  const Index step = step_along(lines.n, axis), next = with_next(lines.n, axis, k, j), count = lines.n[2];
  const float* here = part + lines.first(k, j);
  for (Index i = 0; i < next; ++i) to[i] -= scale * here[i];
  const bool has_previous = axis == 2 || (axis == 1 ? j > 0 : k > 0);
  if (!has_previous) return;
  for (Index i = axis == 2 ? 1 : 0; i < count; ++i) to[i] += scale * here[i - step];
}

void backward(float alpha, ConstVectorView field, float beta, VectorView x, std::span<const float> scales,
              Stream&) {
  const Lines lines(x.space);
  const int parts = field.space.parts();
  for_each_line(lines, [&](Index k, Index j) {
    float* to = x.data + lines.first(k, j);
    for (Index i = 0; i < lines.n[2]; ++i) add_to(to[i], beta, 0);
    for (int part = 0; part < parts; ++part)
      add_transpose(lines, 3 - parts + part, alpha * scales[part], field.data + field.space.offset(part), k,
                    j, to);
  });
}

/// The parts of a field on one line.
template <class T>
struct Vectors {
  T* part[most_parts];
  int parts;

  Vectors(T* data, const Space& field, Index first) : part{}, parts(field.parts()) {
    for (int p = 0; p < parts; ++p) part[p] = data + field.offset(p) + first;
  }
  float length(Index i) const {
    float square = 0;
    for (int p = 0; p < parts; ++p) square += part[p][i] * part[p][i];
    return std::sqrt(square);
  }
};

void clamp_lengths(VectorView field, std::span<const float> longest, Stream&) {
  const Lines lines(field.space.part(0));
  for_each_line(lines, [&](Index k, Index j) {
    const float most = of_block(longest, lines.block(k, j));
    const Vectors<float> vectors(field.data, field.space, lines.first(k, j));
    for (Index i = 0; i < lines.n[2]; ++i) {
      const float length = vectors.length(i);
      const float keep = length > most ? most / length : 1.0f;
      for (int p = 0; p < vectors.parts; ++p) vectors.part[p][i] *= keep;
    }
  });
}

void sum_lengths(ConstVectorView field, std::span<double> sums, Stream&) {
  const Lines lines(field.space.part(0));
  std::vector<double> of_lines(lines.n[0] * lines.n[1]);
  for_each_line(lines, [&](Index k, Index j) {
    const Vectors<const float> vectors(field.data, field.space, lines.first(k, j));
    double sum = 0;
    for (Index i = 0; i < lines.n[2]; ++i) sum += vectors.length(i);
    of_lines[k * lines.n[1] + j] = sum;
  });
  std::fill(sums.begin(), sums.end(), 0.0);
  for (Index k = 0; k < lines.n[0]; ++k)
    for (Index j = 0; j < lines.n[1]; ++j) sums[lines.block(k, j)] += of_lines[k * lines.n[1] + j];
}

}  // namespace

const DifferenceKernels difference_kernels{
    .forward = forward, .backward = backward, .clamp_lengths = clamp_lengths, .sum_lengths = sum_lengths};

}  // namespace tandem::kernels::cpu
