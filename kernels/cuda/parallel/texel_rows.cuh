#pragma once

// A sinogram of one to four slices as a texture: views are rows, slices are the components of a texel.

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "../common/levels.cuh"

namespace tandem::kernels::cuda {

/// Texels of zero at each end of a row: clamped to them, every position outside reads zero.
constexpr int margin_texels = 1;

struct alignas(8) Half4 {
  __half2 low, high;
};

/// How numbers are packed into a texel.
template <class Texel>
struct Format;

template <>
struct Format<float> {
  static constexpr int lanes = 1;
  static constexpr Precision precision = Precision::float32;
  static constexpr cudaTextureReadMode read = cudaReadModeElementType;
  static cudaChannelFormatDesc channels() { return cudaCreateChannelDesc<float>(); }
  static __device__ float encode(const float (&f)[1]) { return f[0]; }
};

template <>
struct Format<float2> {
  static constexpr int lanes = 2;
  static constexpr Precision precision = Precision::float32;
  static constexpr cudaTextureReadMode read = cudaReadModeElementType;
  static cudaChannelFormatDesc channels() { return cudaCreateChannelDesc<float2>(); }
  static __device__ float2 encode(const float (&f)[2]) { return {f[0], f[1]}; }
};

template <>
struct Format<Half4> {
  static constexpr int lanes = 4;
  static constexpr Precision precision = Precision::float16;
  static constexpr cudaTextureReadMode read = cudaReadModeElementType;
  static cudaChannelFormatDesc channels() {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
  }
  static __device__ Half4 encode(const float (&f)[4]) {
    return {__floats2half2_rn(f[0], f[1]), __floats2half2_rn(f[2], f[3])};
  }
};

/// Bytes are fetched as [0, 1].
template <>
struct Format<uchar4> {
  static constexpr int lanes = 4;
  static constexpr Precision precision = Precision::uint8;
  static constexpr cudaTextureReadMode read = cudaReadModeNormalizedFloat;
  static cudaChannelFormatDesc channels() { return cudaCreateChannelDesc<uchar4>(); }
  static __device__ unsigned char byte(float f) {
    return static_cast<unsigned char>(__float2uint_rn(fminf(fmaxf(255 * f, 0.0f), 255.0f)));
  }
  static __device__ uchar4 encode(const float (&f)[4]) {
    return {byte(f[0]), byte(f[1]), byte(f[2]), byte(f[3])};
  }
};

/// Slices of `projections` after the last one are lanes of zeros.
template <class Texel>
__global__ void encode(Image<const float> projections, const Extremes* __restrict__ extremes, Texel* rows,
                       Index pitch) {
  using Packing = Format<Texel>;
  const Index column = Index{blockIdx.y} * blockDim.x + threadIdx.x, view = blockIdx.x;
  const Index bin = column - margin_texels;
  if (column >= projections.n2 + 2 * margin_texels) return;
  float number[Packing::lanes];
#pragma unroll
  for (int lane = 0; lane < Packing::lanes; ++lane) {
    const bool inside = 0 <= bin && bin < projections.n2 && lane < projections.n1;
    const Level level = level_of<Packing::precision>(extremes[lane]);
    number[lane] = (inside ? element(projections, view, lane, bin) : 0.0f) / level.unit + level.zero;
  }
  rows[view * pitch + column] = Packing::encode(number);
}

/// Memory and texture of up to `rows` views of `bins`. It is linear memory, for only that comes and goes in
/// the order of a stream; an array in the texture units' own order would be bound here and nowhere else.
template <class Texel>
class TexelRows {
 public:
  TexelRows(Index bins, Index rows, const Stream& stream, cudaTextureFilterMode filter = cudaFilterModeLinear)
      : stream_(queue(stream)),
        pitch_(pitch_of(bins, stream.device())),
        alignment_(attribute(cudaDevAttrTextureAlignment, stream.device())),
        memory_(pitch_ * rows * sizeof(Texel) + alignment_, stream_),
        extremes_(Format<Texel>::lanes, stream_) {
    cudaResourceDesc what{};
    what.resType = cudaResourceTypePitch2D;
    auto& texels = what.res.pitch2D;
    texels.devPtr = data(), texels.desc = Format<Texel>::channels();
    texels.width = bins + 2 * margin_texels, texels.height = rows,
    texels.pitchInBytes = pitch_ * sizeof(Texel);
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = filter;
    how.readMode = Format<Texel>::read;
    check(cudaCreateTextureObject(&texture_, &what, &how, nullptr));
  }
  TexelRows(const TexelRows&) = delete;
  TexelRows& operator=(const TexelRows&) = delete;
  /// Waits: a texture object may not be destroyed before the last kernel that reads it has ended.
  ~TexelRows() {
    cudaStreamSynchronize(stream_);
    cudaDestroyTextureObject(texture_);
  }

  /// Finds what the numbers of up to `lanes` slices, all of `projections`, will mean.
  void measure(Image<const float> projections) {
    if constexpr (Format<Texel>::precision != Precision::float32)
      cuda::measure(projections, extremes_.data(), Format<Texel>::lanes, stream_);
  }
  /// Fills the rows with all views of `projections`, measured before, whole or as part of more views.
  void fill(Image<const float> projections) {
    const Index columns = projections.n2 + 2 * margin_texels;
    const dim3 blocks = grid_of(projections.n0, ceil_div<Index>(columns, threads_a_block));
    encode<<<blocks, threads_a_block, 0, stream_>>>(projections, extremes_.data(), data(), pitch_);
    after_launch();
  }

  cudaTextureObject_t texture() const { return texture_; }
  const Extremes* extremes() const { return extremes_.data(); }

  static Index most_rows(Device device) { return attribute(cudaDevAttrMaxTexture2DLinearHeight, device); }
  static bool fits(Index bins, Device device) {
    return bins + 2 * margin_texels <= attribute(cudaDevAttrMaxTexture2DLinearWidth, device) &&
           pitch_of(bins, device) * Index{sizeof(Texel)} <=
               attribute(cudaDevAttrMaxTexture2DLinearPitch, device);
  }

 private:
  static constexpr int threads_a_block = 256;

  static Index attribute(cudaDeviceAttr which, Device device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device.ordinal()));
    return value;
  }
  static Index pitch_of(Index bins, Device device) {
    const Index alignment = attribute(cudaDevAttrTexturePitchAlignment, device);
    const Index bytes = (bins + 2 * margin_texels) * sizeof(Texel);
    return ceil_div(bytes, alignment) * alignment / Index{sizeof(Texel)};
  }
  Texel* data() const {
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    return reinterpret_cast<Texel*>(ceil_div<std::uintptr_t>(start, alignment_) * alignment_);
  }

  cudaStream_t stream_;
  Index pitch_;  ///< texels
  std::size_t alignment_;
  Scratch<std::byte> memory_;
  Scratch<Extremes> extremes_;
  cudaTextureObject_t texture_ = 0;
};

}  // namespace tandem::kernels::cuda
