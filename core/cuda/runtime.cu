#include "../spelled.hpp"
#include "runtime.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "check.hpp"

namespace tandem::cuda {

namespace {

cudaStream_t queue(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t event_of(void* event) { return static_cast<cudaEvent_t>(event); }

/// A place so many bytes behind another one.
char* after(void* place, std::size_t bytes) { return static_cast<char*>(place) + bytes; }
const char* after(const void* place, std::size_t bytes) { return static_cast<const char*>(place) + bytes; }

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

int current_device() {
  int ordinal = -1;
  if (cudaGetDevice(&ordinal) == cudaSuccess) return ordinal;
  cudaGetLastError();  // so that the next call does not see it again
  return -1;
}

void make_current(int ordinal) noexcept { cudaSetDevice(ordinal); }

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

std::shared_ptr<void> make_stream(int ordinal, Priority priority) {
  require<DeviceError>(ordinal < device_count(), "device cuda:", ordinal, ": not found; ", device_count(),
                       " CUDA devices are here");
  check(cudaSetDevice(ordinal));
  keep_pool(ordinal);
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                     priority == Priority::urgent ? greatest : least));
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
  return {event, [](void* e) { cudaEventDestroy(event_of(e)); }};
}

// The legacy default stream, which is null, is that of the current device.

void record(int ordinal, void* event, void* stream) {
  check(cudaSetDevice(ordinal));
  check(cudaEventRecord(event_of(event), queue(stream)));
}

void wait(int ordinal, void* stream, void* event) {
  check(cudaSetDevice(ordinal));
  check(cudaStreamWaitEvent(queue(stream), event_of(event), 0));
}

void synchronize_event(void* event) { check(cudaEventSynchronize(event_of(event))); }

bool has_passed(void* event) {
  const bool passed = cudaEventQuery(event_of(event)) == cudaSuccess;
  if (!passed) cudaGetLastError();  // so that the next call does not see it again
  return passed;
}

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
                         free_memory(ordinal),
                         " are free; use a smaller " + spelled("device-memory") + ", batch or volume");
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

namespace {

bool on_host(const void* memory) {
  cudaPointerAttributes found{};
  check(cudaPointerGetAttributes(&found, memory));
  return found.type != cudaMemoryTypeDevice;
}

/// The most bytes that go over the bus at once: small copies of other streams wait no longer than for these.
std::size_t most_at_once(const void* to, const void* from) {
  return on_host(to) || on_host(from) ? std::size_t{16} << 20 : std::numeric_limits<std::size_t>::max();
}

}  // namespace

void copy(int ordinal, void* to, const void* from, std::size_t bytes, void* stream) {
  check(cudaSetDevice(ordinal));
  const std::size_t most = most_at_once(to, from);
  for (std::size_t done = 0; done < bytes; done += std::min(most, bytes - done))
    check(cudaMemcpyAsync(after(to, done), after(from, done), std::min(most, bytes - done), cudaMemcpyDefault,
                          queue(stream)));
}

void copy_between(int to_ordinal, void* to, int from_ordinal, const void* from, std::size_t bytes,
                  void* stream) {
  check(cudaSetDevice(to_ordinal));
  check(cudaMemcpyPeerAsync(to, to_ordinal, from, from_ordinal, bytes, queue(stream)));
}

/// Nothing depends on it but speed: without a link, copies go through the host.
void let_reach(int ordinal, int other) {
  int can = 0;
  if (ordinal == other) return;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = ordinal;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  if (cudaDeviceCanAccessPeer(&can, ordinal, other) != cudaSuccess ||
      (can && cudaMemPoolSetAccess(pool_of(other), &access, 1) != cudaSuccess))
    cudaGetLastError();  // so that the next call does not see it again
}

void copy_pieces(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
                 std::size_t bytes, std::size_t count, void* stream) {
  constexpr std::size_t widest_step = 0x7fffffff;  // cudaDeviceProp::memPitch
  check(cudaSetDevice(ordinal));
  const std::size_t together =
      std::max<std::size_t>(1, most_at_once(to, from) / std::max<std::size_t>(1, bytes));
  const bool narrow = std::max(to_step, from_step) <= widest_step;
  for (std::size_t i = 0, some; i < count; i += some) {
    some = narrow ? std::min(together, count - i) : 1;
    char* there = after(to, i * to_step);
    const char* here = after(from, i * from_step);
    if (narrow)
      check(
          cudaMemcpy2DAsync(there, to_step, here, from_step, bytes, some, cudaMemcpyDefault, queue(stream)));
    else
      copy(ordinal, there, here, bytes, stream);
  }
}

namespace {

/// Carries words, and the bytes that are left at the end of a piece.
__global__ void carry_pieces(char* to, std::size_t to_step, const char* from, std::size_t from_step,
                             std::size_t bytes) {
  char* there = to + blockIdx.y * to_step;
  const char* here = from + blockIdx.y * from_step;
  const std::size_t words = bytes / 4, thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::size_t i = thread; i < words; i += gridDim.x * blockDim.x)
    reinterpret_cast<unsigned*>(there)[i] = reinterpret_cast<const unsigned*>(here)[i];
  if (thread < bytes % 4) there[4 * words + thread] = here[4 * words + thread];
}

/// Pinned memory for a few numbers on their way from or to one device.
struct Landing {
  void* memory = nullptr;
  cudaEvent_t passed = nullptr;  ///< behind the work that uses it

  static constexpr std::size_t bytes = 1 << 20;
};

/// Takes one that no work uses any more.
class Landings {
 public:
  std::shared_ptr<Landing> take() {
    return {new Landing(one()), [this](Landing* used) {
              const std::lock_guard lock(mutex_);
              all_.push_back(*used);
              delete used;
            }};
  }

 private:
  Landing one() {
    const std::lock_guard lock(mutex_);
    auto found =
        std::find_if(all_.begin(), all_.end(), [](const Landing& l) { return has_passed(l.passed); });
    if (found == all_.end()) found = add_some();
    const Landing landing = *found;
    all_.erase(found);
    return landing;
  }

  /// Adds as many as an operator sends at once: pinning memory waits for all streams of the device.
  std::vector<Landing>::iterator add_some() {
    constexpr std::size_t some = 16;
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, some * Landing::bytes, cudaHostAllocPortable));
    for (std::size_t i = 0; i < some; ++i) {
      all_.push_back({after(memory, i * Landing::bytes), nullptr});
      check(cudaEventCreateWithFlags(&all_.back().passed, cudaEventDisableTiming));
    }
    return std::prev(all_.end());
  }

  std::mutex mutex_;
  std::vector<Landing> all_;
};

Landings& landings(int ordinal) {
  static std::mutex mutex;
  static auto& all = *new std::map<int, Landings>;  // never destroyed: the driver may end before it
  const std::lock_guard lock(mutex);
  return all[ordinal];
}

}  // namespace

void carry(int ordinal, void* to, std::size_t to_step, const void* from, std::size_t from_step,
           std::size_t bytes, std::size_t count, void* stream) {
  constexpr unsigned threads = 256, most_blocks = 64;  // few: they wait for the bus
  if (bytes == 0 || count == 0) return;
  check(cudaSetDevice(ordinal));
  const std::size_t blocks = (bytes + 4 * threads - 1) / (4 * threads);
  const std::size_t a_piece = std::max<std::size_t>(1, most_blocks / count);
  const dim3 grid(static_cast<unsigned>(std::min(blocks, a_piece)), static_cast<unsigned>(count));
  carry_pieces<<<grid, threads, 0, queue(stream)>>>(static_cast<char*>(to), to_step,
                                                    static_cast<const char*>(from), from_step, bytes);
  check(cudaGetLastError());
}

void bring(int ordinal, void* host, const void* device, std::size_t bytes, void* stream) {
  check(cudaSetDevice(ordinal));
  const std::shared_ptr<Landing> landing = landings(ordinal).take();
  for (std::size_t done = 0, some; done < bytes; done += some) {
    some = std::min(Landing::bytes, bytes - done);
    carry(ordinal, landing->memory, some, after(device, done), some, some, 1, stream);
    check(cudaEventRecord(landing->passed, queue(stream)));
    synchronize(ordinal, stream);
    std::memcpy(after(host, done), landing->memory, some);
  }
}

void send(int ordinal, void* device, const void* host, std::size_t bytes, void* stream) {
  if (bytes > Landing::bytes) return copy(ordinal, device, host, bytes, stream);
  check(cudaSetDevice(ordinal));
  const std::shared_ptr<Landing> landing = landings(ordinal).take();
  std::memcpy(landing->memory, host, bytes);
  carry(ordinal, device, bytes, landing->memory, bytes, bytes, 1, stream);
  check(cudaEventRecord(landing->passed, queue(stream)));
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
