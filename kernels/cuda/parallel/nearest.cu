// The nearest bin by texture units (Chilingaryan et al. 2018, section III-B and table II): one, two or four
// slices a texel, read at points; and the exact transpose as a gather on the cores. The coefficient is a box:
// the height of the view for the bin whose middle is the nearest to the pixel's position, else zero. Whole
// bins are found here, and texels fetched at their middle, so that a texture unit has nothing to round.

#include "gather.cuh"
#include "parallel.hpp"
#include "texture_slices.cuh"

namespace tandem::kernels::cuda {

template <>
struct Format<float4> {
  static constexpr int lanes = 4;
  static constexpr Precision precision = Precision::float32;
  static constexpr cudaTextureReadMode read = cudaReadModeElementType;
  static cudaChannelFormatDesc channels() { return cudaCreateChannelDesc<float4>(); }
  static __device__ float4 encode(const float (&f)[4]) { return {f[0], f[1], f[2], f[3]}; }
};

namespace {

/// The whole number nearest to a position within a tile, to even where there are two: as in `split`.
TANDEM_HOST_DEVICE float whole(float position) {
  constexpr float shift = 12582912.0f;
  return (position + shift) - shift;
}

template <int count>
struct NearestSource {
  static constexpr int lanes = count;
  TextureSource<count> source;
  __device__ void fetch(float position, float texel, float row, float (&value)[count]) const {
    source.fetch(whole(position), texel, row, value);
  }
};

struct Box {
  float height;
  __device__ explicit Box(const ParallelView& view) : height(view.height) {}
  static TANDEM_HOST_DEVICE double radius(const ParallelView&, double bins_a_pixel) {
    return 0.5 / bins_a_pixel;
  }
  __device__ float operator()(const Anchor& anchor, float step_x, float step_y, int dx, int dy,
                              int bin) const {
    const float position = position_by_quarters(anchor.offset, step_x, step_y, dx, dy);
    return bin - anchor.bin == whole(position) ? height : 0.0f;
  }
};

/// The kernels decide which bin is the nearest, bit by bit. Beside the middle between two bins, double would
/// take the other one.
double coefficient(const ParallelViews& packed, Index view, Index x, Index y, Index bin) {
  const ParallelView& v = packed.views[view];
  const Anchor anchor = anchor_at(v, x / tile, y / tile);
  const float position =
      position_by_quarters(anchor.offset, static_cast<float>(v.step_x), static_cast<float>(v.step_y),
                           static_cast<int>(x % tile), static_cast<int>(y % tile));
  const Index nearest = anchor.bin + floor_index(whole(position));
  return nearest == bin ? double{packed.scale} * v.height : 0;
}

void forward(const ParallelViews& views, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  forward_by<Box>("nearest forward", views, alpha, volume, beta, projections, stream);
}

std::string backward_name(Precision precision, int slices) {
  return "nearest backward " + std::string(name_of(precision)) + ", " + std::to_string(slices);
}

/// `count` slices from `first` on, if there are any.
template <class Texel>
void some_backward(Index first, Index count, const ParallelViews& views, float alpha,
                   Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  constexpr int lanes = Format<Texel>::lanes;
  if (count <= 0) return;
  note_launch(backward_name(Format<Texel>::precision, lanes));
  backward_by<Texel, cudaFilterModePoint>(texels_backward<Texel, NearestSource<lanes>>, views, alpha,
                                          part_of(projections, 0, projections.n0, first, count), beta,
                                          part_of(volume, first, count, 0, volume.n1), stream);
}

/// Float32 goes by four slices at a time. One slice or two that are left over go by themselves; three go as
/// four, one of them empty.
void backward(const ParallelViews& views, const Execution& how, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  const Index all = volume.n0, left = all % 4 == 3 ? 0 : all % 4, fours = all - left;
  if (how.precision == Precision::float16)
    return some_backward<Half4>(0, all, views, alpha, projections, beta, volume, stream);
  some_backward<float4>(0, fours, views, alpha, projections, beta, volume, stream);
  const auto rest = left == 2 ? some_backward<float2> : some_backward<float>;
  rest(fours, left, views, alpha, projections, beta, volume, stream);
}

std::vector<std::string> names(Device) {
  std::vector<std::string> list{backward_name(Precision::float16, 4)};
  for (const int slices : {1, 2, 4}) list.push_back(backward_name(Precision::float32, slices));
  for (const char* slices : {"4", "8", "16"}) list.push_back(std::string("nearest forward, ") + slices);
  return list;
}

}  // namespace

namespace parallel_variants {

ParallelVariant nearest() {
  return {
      .name = "nearest",
      .grades = {{Precision::float32, true, bounds::rounding}, {Precision::float16, true, bounds::rounding}},
      .forward = forward,
      .backward = backward,
      .working_memory = [](Precision, tandem::Shape volume, tandem::Shape projections,
                           Device) -> WorkingMemory {
        return {forward_memory(volume, projections), backward_memory(volume, projections, 1)};
      },
      .kernels = names,
      .coefficient = coefficient,
      .nearest = true,
      .misfit = [](const ParallelViews& views, Precision, tandem::Shape projections,
                   Device device) { return texture_misfit<float4>(views, projections, device); },
      .instead = "alu",
      // texels of up to 64 bits come at twice the rate of linear ones (7.5 a clock measured on an H200): two
      // slices of float32, four of float16
      .limit = [](Precision precision, Direction direction, Chip chip) -> std::optional<Limit> {
        if (direction == Direction::forward) return std::nullopt;
        return Limit{"texture unit", (precision == Precision::float16 ? 4 : 2) * 2 * fetches(chip)};
      }};
}

}  // namespace parallel_variants

}  // namespace tandem::kernels::cuda
