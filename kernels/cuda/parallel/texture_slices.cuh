#pragma once

// Slices back-projected from textures, as many at a time as a texel holds.

#include <numeric>

#include "../common/device_table.cuh"
#include "texture_block.cuh"

namespace tandem::kernels::cuda {

/// out <- alpha sums + beta out, in some slices of a volume.
struct Target {
  Image<float> volume;
  float alpha, beta;
  __device__ void update(int slice, Index x, Index y, float sum) const {
    if (slice >= volume.n0 || x >= volume.n2 || y >= volume.n1) return;
    Update{alpha, beta}(element(volume, slice, y, x), sum);
  }
  dim3 tiles() const { return grid_of(ceil_div<Index>(volume.n2, tile), ceil_div<Index>(volume.n1, tile)); }
};

/// The views whose rows are in the texture.
struct Band {
  const ParallelView* views;
  Index count;
  float weights;  ///< the sum of their heights: what a zero level adds up to, inside and outside
};

/// Texels mean numbers of their slice (levels.cuh).
template <class Texel, class Source>
static __global__ void __launch_bounds__(texture_threads, 4)
    texels_backward(Source source, Band band, const Extremes* extremes, Target out) {
  texture_tile(source, band.views, band.count, blockIdx.x, blockIdx.y,
               [&](int lane, Index x, Index y, float sum) {
                 const Level level = level_of<Format<Texel>::precision>(extremes[lane]);
                 out.update(lane, x, y, level.unit * (sum - level.zero * band.weights));
               });
}

/// `Variant::backward` by a kernel, as many slices at a time as a texel holds. Views beyond the rows of one
/// texture are added band by band.
template <class Texel, cudaTextureFilterMode filter = cudaFilterModeLinear, class Kernel>
void backward_by(Kernel kernel, const ParallelViews& packed, float alpha, Image<const float> projections,
                 float beta, Image<float> volume, Stream& stream) {
  constexpr int lanes = Format<Texel>::lanes;
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const Index most = std::min(projections.n0, TexelRows<Texel>::most_rows(stream.device()));
  TexelRows<Texel> rows(projections.n2, most, stream, filter);
  for (Index slice = 0; slice < volume.n0; slice += lanes) {
    Target out{volume, alpha, beta};
    out.volume.data = &volume(slice, 0, 0);
    out.volume.n0 = std::min<Index>(lanes, volume.n0 - slice);
    rows.measure(part_of(projections, 0, projections.n0, slice, lanes));
    for (Index first = 0; first < projections.n0; first += most, out.beta = 1) {
      const Index count = std::min(most, projections.n0 - first);
      const double weights =
          std::accumulate(packed.views.begin() + first, packed.views.begin() + first + count, 0.0,
                          [](double sum, const ParallelView& view) { return sum + view.height; });
      rows.fill(part_of(projections, first, count, slice, lanes));
      kernel<<<out.tiles(), texture_threads, 0, s>>>(
          {rows.texture()}, {views->data() + first, count, static_cast<float>(weights)}, rows.extremes(),
          out);
      after_launch();
    }
  }
}

}  // namespace tandem::kernels::cuda
