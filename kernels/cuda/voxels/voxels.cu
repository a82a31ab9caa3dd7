// Voxels become the numbers of a file.

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "../../launches.hpp"
#include "../common/sent.cuh"
#include "../tables.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;
constexpr Index most_blocks = 1 << 16;

struct Beyond {
  unsigned long long below, above;
};

struct Halves {
  using Number = __half;
  __device__ Number operator()(float voxel, Beyond& met) const {
    const __half half = __float2half_rn(voxel);
    met.above += __hisinf(half) != 0;
    return half;
  }
};

/// Rounds as the writer of a volume does on the CPU (io/volumes/volume_file.cpp): to the nearest whole
/// number, and farther from zero if two are as near.
template <class T>
struct Integers {
  using Number = T;
  float min, max;
  double scale, top;
  __device__ Number operator()(float voxel, Beyond& met) const {
    met.below += voxel<min, met.above += voxel> max;
    double level = (double{voxel} - min) * scale;
    level = level > 0 ? level : 0;
    level = level < top ? level : top;
    const int whole = static_cast<int>(level);
    return static_cast<T>(whole + (level - whole >= 0.5 ? 1 : 0));
  }
};

template <class Coding>
__global__ void __launch_bounds__(threads)
    encode_all(Coding coding, const float* __restrict__ voxels, Index count, typename Coding::Number* numbers,
               Beyond* beyond) {
  Beyond met{0, 0};
  for (Index i = Index{blockIdx.x} * threads + threadIdx.x; i < count; i += Index{gridDim.x} * threads)
    numbers[i] = coding(voxels[i], met);
  if (met.below > 0) atomicAdd(&beyond->below, met.below);
  if (met.above > 0) atomicAdd(&beyond->above, met.above);
}

template <class F>
void with_coding(const VoxelCoding& how, F f) {
  using enum VoxelCoding::Number;
  const double top = how.top(), scale = top / (double{how.max} - how.min);
  if (how.number == float16) return f(Halves{});
  if (how.number == uint16) return f(Integers<std::uint16_t>{how.min, how.max, scale, top});
  f(Integers<std::uint8_t>{how.min, how.max, scale, top});
}

VoxelsBeyond encode(const VoxelCoding& how, const float* voxels, Index count, std::byte* numbers,
                    Stream& stream) {
  note_launch("voxels to numbers");
  const cudaStream_t s = queue(stream);
  Beyond met{0, 0};
  const Sent<Beyond> beyond(std::span<const Beyond>(&met, 1), stream);
  const dim3 blocks = grid_of(std::min(ceil_div<Index>(count, threads), most_blocks));
  with_coding(how, [&](auto coding) {
    using Number = typename decltype(coding)::Number;
    encode_all<<<blocks, threads, 0, s>>>(coding, voxels, count, reinterpret_cast<Number*>(numbers),
                                          beyond.data());
  });
  after_launch();
  bring(std::span(&met, 1), beyond, stream);
  return {static_cast<Index>(met.below), static_cast<Index>(met.above)};
}

}  // namespace

const VoxelKernels voxel_kernels{encode};

}  // namespace tandem::kernels::cuda
