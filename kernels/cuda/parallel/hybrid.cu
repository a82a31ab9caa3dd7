// Chilingaryan et al. 2018, section III-E: some blocks of a launch leave interpolation to the texture units,
// the others do it on the cores, so that both work at the same time. The number of a block decides what it
// does and not, as in the paper, what a multiprocessor is doing, so that bits are the same in every run.
// Kernels take four slices at a time, two a texel.

#include <vector>

#include "alu_block.cuh"
#include "parallel.hpp"
#include "texture_block.cuh"

namespace tandem::kernels::cuda {

namespace {

static_assert(threads == texture_threads, "blocks of both kinds run in one launch");

/// In every `period` blocks `by_texture` go to the texture units: best on an H200 (docs/kernels/bounds.md).
constexpr unsigned by_texture = 1, period = 5;

struct TextureSources {
  static constexpr int lanes = 4;
  TextureSource<2> low, high;
  __device__ void fetch(float position, float texel, float row, float (&value)[4]) const {
    float a[2], b[2];
    low.fetch(position, texel, row, a);
    high.fetch(position, texel, row, b);
    value[0] = a[0], value[1] = a[1], value[2] = b[0], value[3] = b[1];
  }
};

/// The tiles of block (blockIdx.x, blockIdx.y).
__device__ void texture_block(const BackwardShape& n, const TextureSources& sources,
                              const ParallelView* __restrict__ views, float4* volume) {
  constexpr int across = edge / tile;
  const auto store = [&](int lane, Index x, Index y, float sum) {
    if (x < n.nx && y < n.ny) reinterpret_cast<float*>(volume + y * n.nx + x)[lane] = sum;
  };
  for (int k = 0; k < across * across; ++k)
    texture_tile(sources, views, n.views, Index{blockIdx.x} * across + k % across,
                 Index{blockIdx.y} * across + k / across, store);
}

/// Both kinds of block see the same hats of radius one.
__global__ void __launch_bounds__(threads, 4)
    backward(BackwardShape n, const ParallelView* __restrict__ views, TextureSources sources,
             const float4* __restrict__ sinogram, float4* volume) {
  if ((blockIdx.y * gridDim.x + blockIdx.x) % period < by_texture)
    texture_block(n, sources, views, volume);
  else
    alu_block<1>(n, views, sinogram, volume);
}

void hybrid_backward(const ParallelViews& packed, const Execution&, float alpha,
                     Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  note_launch("hybrid backward");
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const BackwardShape n = backward_shape(packed, projections, volume);
  allow_all_shared_memory(backward);
  TexelRows<float2> low(n.bins, n.views, stream), high(n.bins, n.views, stream);
  backward_by_fours(alpha, projections, beta, volume, s,
                    [&](Index first, const float4* sinogram, float4* sums) {
                      low.fill(part_of(projections, 0, n.views, first, 2));
                      if (first + 2 < volume.n0) high.fill(part_of(projections, 0, n.views, first + 2, 2));
                      backward<<<n.blocks(), threads, n.shared_bytes(), s>>>(
                          n, views->data(), {{low.texture()}, {high.texture()}}, sinogram, sums);
                      after_launch();
                    });
}

}  // namespace

namespace parallel_variants {

ParallelVariant hybrid() {
  return {.name = "hybrid",
          .grades = {{Precision::float32, false, bounds::texture}},
          .forward = forward_on_cores,
          .backward = hybrid_backward,
          .working_memory = [](Precision, tandem::Shape volume, tandem::Shape projections,
                               Device) -> WorkingMemory {
            return {forward_memory(volume, projections), backward_memory(volume, projections, 2)};
          },
          .kernels = [](Device) { return with_forward_on_cores({"hybrid backward"}); },
          .coefficient = hat_coefficient,
          .misfit =
              [](const ParallelViews& views, Precision, tandem::Shape projections, Device device) {
                return projections[0] > TexelRows<float2>::most_rows(device)
                           ? "more views than a texture has rows"
                           : texture_misfit<float2>(views, projections, device);
              },
          .instead = "alu",
          .limit = [](Precision, Direction direction, Chip chip) -> std::optional<Limit> {
            if (direction == Direction::forward) return std::nullopt;
            return Limit{"texture unit and shared memory",  // both at once
                         2 * fetches(chip) + shared_bytes(chip) / 8};
          }};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cuda
