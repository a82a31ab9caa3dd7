#pragma once

#include <cuda_runtime.h>

#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "../../../core/ceil_div.hpp"
#include "../../../core/cuda/check.hpp"
#include "../../../core/cuda/runtime.hpp"
#include "../../../core/device.hpp"
#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/space.hpp"

namespace tandem::kernels::cuda {

using tandem::cuda::check;

inline cudaStream_t queue(const Stream& stream) {
  check(cudaSetDevice(stream.device().ordinal()));
  return static_cast<cudaStream_t>(stream.native());
}

/// Comes after each launch: a launch that did not start becomes a DeviceError with the name of the caller.
inline void after_launch(const std::source_location at = std::source_location::current()) {
  check(cudaGetLastError(), at);
}

/// A grid of blocks to launch.
inline dim3 grid_of(Index x, Index y = 1, Index z = 1) {
  require<DeviceError>(x < Index{1} << 31 && y < 1 << 16 && z < 1 << 16, "CUDA: a grid of ", x, " x ", y,
                       " x ", z,
                       " blocks; there are at most 2147483647 x 65535 x 65535: use a smaller batch");
  return {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
}

/// The place of the block and of the thread in it, and how many there are, as numbers with a sign: CUDA has
/// fewer than 2^31 of each.
__device__ inline int own_block_x() { return static_cast<int>(blockIdx.x); }
__device__ inline int own_block_y() { return static_cast<int>(blockIdx.y); }
__device__ inline int own_block_z() { return static_cast<int>(blockIdx.z); }
__device__ inline int own_thread() { return static_cast<int>(threadIdx.x); }
__device__ inline int threads_in_block() { return static_cast<int>(blockDim.x); }
__device__ inline int grid_x() { return static_cast<int>(gridDim.x); }
__device__ inline int grid_y() { return static_cast<int>(gridDim.y); }

/// Whether 0 <= k < count, in one comparison.
__device__ inline bool is_below(int k, int count) {
  return static_cast<unsigned>(k) < static_cast<unsigned>(count);
}

/// The size of a type, as a number with a sign.
template <class T>
constexpr int size_of = sizeof(T);

/// Shared memory that a block may have at most, bytes.
inline int most_shared_memory(Device device) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device.ordinal()));
  return bytes;
}

/// Lets a kernel have as much as there is, whatever it takes in a launch: threads that launch it with less at
/// the same time do not take it away again. The driver is asked once.
template <class Kernel>
void allow_all_shared_memory(Kernel* kernel) {
  static std::mutex mutex;
  static std::set<std::pair<Kernel*, int>> done;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  if (done.contains({kernel, device})) return;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel));
  check(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
      most_shared_memory(Device::cuda(device)) - static_cast<int>(attributes.sharedSizeBytes)));
  done.emplace(kernel, device);
}

/// Scratch in stream order, from the device's pool.
template <class T>
class Scratch {
 public:
  Scratch(std::size_t count, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&data_, count * sizeof(T), stream));
  }
  Scratch(std::span<const T> values, cudaStream_t stream) : Scratch(values.size(), stream) {
    check(cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream));
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { cudaFreeAsync(data_, stream_); }
  T* data() const { return data_; }

 private:
  cudaStream_t stream_;
  T* data_ = nullptr;
};

/// Brings a few results to the host, and waits.
template <class T, class U>
void bring(std::span<T> host, const Scratch<U>& results, const Stream& stream) {
  static_assert(sizeof(T) == sizeof(U) && sizeof(T) % 4 == 0);
  tandem::cuda::bring(stream.device().ordinal(), host.data(), results.data(), host.size_bytes(),
                      stream.native());
}

}  // namespace tandem::kernels::cuda
