#include "runtime.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>

#include "check.hpp"

namespace tandem::cuda {

namespace {

cudaStream_t queue(void* stream) { return static_cast<cudaStream_t>(stream); }

cudaMemPool_t pool_of(int ordinal) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, ordinal));
  return pool;
}

/// The pool keeps memory that is freed, because solvers and composites ask for the same sizes again and
/// again.
void keep_pool(int ordinal) {
  std::uint64_t all = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool_of(ordinal), cudaMemPoolAttrReleaseThreshold, &all));
}

}  // namespace

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

ComputeCapability compute_capability(int ordinal) {
  ComputeCapability has;
  const bool known =
      cudaDeviceGetAttribute(&has.major, cudaDevAttrComputeCapabilityMajor, ordinal) == cudaSuccess &&
      cudaDeviceGetAttribute(&has.minor, cudaDevAttrComputeCapabilityMinor, ordinal) == cudaSuccess;
  return known ? has : ComputeCapability{};
}

void begin_range(const char* name) { nvtxRangePushA(name); }
void end_range() { nvtxRangePop(); }

std::string device_name(int ordinal) {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, ordinal) == cudaSuccess ? properties.name : "unknown";
}

double gigaclocks(int ordinal) {
  int multiprocessors = 0, kilohertz = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, ordinal));
  check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, ordinal));
  return 1e-6 * multiprocessors * kilohertz;
}

std::string runtime_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

std::shared_ptr<void> make_stream(int ordinal) {
  require<DeviceError>(ordinal < device_count(), "device cuda:", ordinal, ": not found; ", device_count(),
                       " CUDA devices are here");
  check(cudaSetDevice(ordinal));
  keep_pool(ordinal);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return {stream, [](void* s) { cudaStreamDestroy(queue(s)); }};
}

void synchronize(int ordinal, void* stream) {
  check(cudaSetDevice(ordinal));
  check(cudaStreamSynchronize(queue(stream)));
}

std::shared_ptr<void> make_event(int ordinal) {
  check(cudaSetDevice(ordinal));
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync));
  return {event, [](void* e) { cudaEventDestroy(static_cast<cudaEvent_t>(e)); }};
}

void record(void* event, void* stream) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(event), queue(stream)));
}

void wait(void* stream, void* event) {
  check(cudaStreamWaitEvent(queue(stream), static_cast<cudaEvent_t>(event), 0));
}

void synchronize_event(void* event) { check(cudaEventSynchronize(static_cast<cudaEvent_t>(event))); }

std::size_t free_memory(int ordinal) {
  check(cudaSetDevice(ordinal));
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool_of(ordinal), cudaMemPoolAttrReservedMemCurrent, &reserved));
  check(cudaMemPoolGetAttribute(pool_of(ordinal), cudaMemPoolAttrUsedMemCurrent, &used));
  return free + (reserved - used);
}

void* allocate(int ordinal, std::size_t bytes, void* stream) {
  check(cudaSetDevice(ordinal));
  void* memory = nullptr;
  const cudaError_t status = cudaMallocAsync(&memory, bytes, queue(stream));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    require<DeviceError>(false, "device cuda:", ordinal, ": ", bytes, " bytes are wanted, ",
                         free_memory(ordinal), " are free; use a smaller --device-memory, batch or volume");
  }
  check(status);
  return memory;
}

void fill_zeros(int ordinal, void* memory, std::size_t bytes, void* stream) {
  check(cudaSetDevice(ordinal));
  check(cudaMemsetAsync(memory, 0, bytes, queue(stream)));
}

void release(int ordinal, void* memory, void* stream) noexcept {
  cudaSetDevice(ordinal);
  cudaFreeAsync(memory, queue(stream));
}

void copy(int ordinal, void* to, const void* from, std::size_t bytes, void* stream) {
  check(cudaSetDevice(ordinal));
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, queue(stream)));
}

void copy_pieces(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
                 std::size_t bytes, std::size_t count, void* stream) {
  constexpr std::size_t widest_step = 0x7fffffff;  // cudaDeviceProp::memPitch
  check(cudaSetDevice(ordinal));
  if (std::max(to_step, from_step) <= widest_step) {
    check(cudaMemcpy2DAsync(to, to_step, from, from_step, bytes, count, cudaMemcpyDefault, queue(stream)));
    return;
  }
  for (std::size_t i = 0; i < count; ++i)
    copy(ordinal, static_cast<char*>(to) + i * to_step, static_cast<const char*>(from) + i * from_step, bytes,
         stream);
}

std::shared_ptr<void> pin(int ordinal, const void* memory, std::size_t bytes) {
  auto* all = const_cast<void*>(memory);
  if (cudaSetDevice(ordinal) == cudaSuccess &&
      cudaHostRegister(all, bytes, cudaHostRegisterPortable) == cudaSuccess)
    return {all, [](void* m) { cudaHostUnregister(m); }};
  cudaGetLastError();  // so that the next call does not see it again
  return {};
}

}  // namespace tandem::cuda
