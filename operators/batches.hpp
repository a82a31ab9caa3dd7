#pragma once

// The vectors of a batch, one by one or as the slices of one volume. Used only within operators/.

#include "linear_operator.hpp"

namespace tandem {

/// Vector k of a batch.
template <class View>
View nth(const View& first, Index k, Index step) {
  return {first.data + k * step, first.space};
}

/// The number of vectors for one call of a kernel, if blocks are slices or rows of a parallel beam. A kernel
/// takes up to 64 slices side by side. If a vector has more than eight, there is little to gain.
inline Index slices_together(const Space& space) {
  const Index blocks = space.block_count();
  return blocks <= 8 ? 64 / blocks : 1;
}

/// Slice or row `block` of each of `count` vectors, as the slices of one volume or the rows of one set of
/// projections.
template <class View>
auto across(const View& first, Index block, Index count, Index step) {
  auto all = image(first);
  const bool slices = first.space.blocks() == Blocks::slices;
  auto& extent = slices ? all.n0 : all.n1;
  auto& stride = slices ? all.s0 : all.s1;
  all.data += block * stride;
  extent = count, stride = step;
  return all;
}

/// Calls run(in, out) for images that hold all slices of a batch, as few times as there are slices in a
/// vector, or vectors.
template <class Run>
void with_slices_together(const ConstVectorView& x, const VectorView& y, const Batch& n, const Run& run) {
  const Index blocks = x.space.block_count();
  if (n.count <= blocks)
    for (Index k = 0; k < n.count; ++k) run(image(nth(x, k, n.step_in)), image(nth(y, k, n.step_out)));
  else
    for (Index b = 0; b < blocks; ++b)
      run(across(x, b, n.count, n.step_in), across(y, b, n.count, n.step_out));
}

}  // namespace tandem
