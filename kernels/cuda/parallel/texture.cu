// Interpolation by texture units (parallel.hpp has the loop). `standard` is the back-projection of textbooks:
// one slice a launch and one thread a pixel. `texture` has several slices a texel. A texture unit rounds the
// weights of its two bins to 1/256. Their bins are those of the other kernels.

#include "parallel.hpp"
#include "texture_slices.cuh"

namespace tandem::kernels::cuda {

namespace {

__global__ void __launch_bounds__(texture_threads)
    standard(TextureSource<1> source, Band band, const Extremes*, Target out) {
  __shared__ StagedViews staged;
  const float x = threadIdx.x % tile, y = threadIdx.x / tile;
  float sum = 0;
  for (Index first = 0; first < band.count; first += texture_threads) {
    const int here = at_most(texture_threads, band.count - first);
    __syncthreads();
    stage(band.views + first, here, blockIdx.x, blockIdx.y, staged);
    __syncthreads();
    float row = first + 0.5f;
#pragma unroll 4
    for (int v = 0; v < here; ++v, ++row) {
      const float4 view = staged.terms[v];
      const float position = fmaf(view.y, x, fmaf(view.z, y, view.x));
      float value[1];
      source.fetch(position, staged.texel[v], row, value);
      sum = fmaf(view.w, value[0], sum);
    }
  }
  out.update(0, Index{blockIdx.x} * tile + threadIdx.x % tile, Index{blockIdx.y} * tile + threadIdx.x / tile,
             sum);
}

/// Back-projection of several slices a texel.
template <class Texel>
constexpr auto several = texels_backward<Texel, TextureSource<Format<Texel>::lanes>>;

void standard_backward(const ParallelViews& views, const Execution&, float alpha,
                       Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  note_launch("standard backward");
  backward_by<float>(standard, views, alpha, projections, beta, volume, stream);
}

void texture_backward(const ParallelViews& views, const Execution& how, float alpha,
                      Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  note_launch("texture backward " + std::string(name_of(how.precision)));
  switch (how.precision) {
    case Precision::float32:
      return backward_by<float2>(several<float2>, views, alpha, projections, beta, volume, stream);
    case Precision::float16:
      return backward_by<Half4>(several<Half4>, views, alpha, projections, beta, volume, stream);
    case Precision::uint8:
      return backward_by<uchar4>(several<uchar4>, views, alpha, projections, beta, volume, stream);
  }
}

const char* misfit(const ParallelViews& views, Precision precision, tandem::Shape projections,
                   Device device) {
  switch (precision) {
    case Precision::float32:
      return texture_misfit<float2>(views, projections, device);
    case Precision::float16:
      return texture_misfit<Half4>(views, projections, device);
    default:
      return texture_misfit<uchar4>(views, projections, device);
  }
}

WorkingMemory working_memory(Precision, tandem::Shape volume, tandem::Shape projections, Device) {
  return {forward_memory(volume, projections), backward_memory(volume, projections, 1)};
}

/// Slices a fetch.
template <int slices>
std::optional<Limit> limit_of(Direction direction, Chip chip) {
  if (direction == Direction::forward) return std::nullopt;
  return Limit{"texture unit", slices * fetches(chip)};
}

}  // namespace

namespace parallel_variants {

ParallelVariant standard() {
  return {.name = "standard",
          .grades = {{Precision::float32, false, bounds::texture}},
          .forward = forward_on_cores,
          .backward = standard_backward,
          .working_memory = working_memory,
          .kernels = [](Device) { return with_forward_on_cores({"standard backward"}); },
          .coefficient = hat_coefficient,
          .misfit = [](const ParallelViews& views, Precision, tandem::Shape projections,
                       Device device) { return texture_misfit<float>(views, projections, device); },
          .instead = "alu",
          .limit = [](Precision, Direction direction, Chip chip) { return limit_of<1>(direction, chip); }};
}

ParallelVariant texture() {
  return {.name = "texture",
          .grades = {{Precision::float32, false, bounds::texture},
                     {Precision::float16, false, bounds::texture},
                     {Precision::uint8, false, bounds::bytes}},
          .forward = forward_on_cores,
          .backward = texture_backward,
          .working_memory = working_memory,
          .kernels =
              [](Device) {
                return with_forward_on_cores(
                    {"texture backward float32", "texture backward float16", "texture backward uint8"});
              },
          .coefficient = hat_coefficient,
          .misfit = misfit,
          .instead = "alu",
          .fastest_from = [](Precision precision, const ParallelViews&) -> Index {
            return precision == Precision::float32 ? 0 : 1;
          },
          .limit =
              [](Precision precision, Direction direction, Chip chip) {
                return precision == Precision::float32 ? limit_of<2>(direction, chip)
                                                       : limit_of<4>(direction, chip);
              }};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cuda
