// The only file that sees NCCL.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "../error.hpp"
#include "../gpu_messages.hpp"
#include "../patience.hpp"

namespace tandem {

namespace {

void require_success(ncclResult_t result) {
  require<DeviceError>(result == ncclSuccess, "NCCL: ", ncclGetErrorString(result));
}

/// The machine and the GPU, in words that no other GPU has; empty for the CPU.
std::string place_of(Device device) {
  if (!device.is_cuda()) return {};
  std::array<char, 64> bus{}, host{};
  ::gethostname(host.data(), host.size() - 1);
  require<DeviceError>(cudaDeviceGetPCIBusId(bus.data(), bus.size(), device.ordinal()) == cudaSuccess,
                       device.name(), ": has no address on the bus");
  return std::string(host.data()) + ' ' + bus.data();
}

bool has_each_its_own(std::vector<std::string> places) {
  std::ranges::sort(places);
  return !places.front().empty() && std::ranges::adjacent_find(places) == places.end();
}

class Nccl final : public GpuMessages {
 public:
  Nccl(const Comm& ranks, Device own) : ranks_(ranks) {
    ncclUniqueId id{};
    if (ranks.is_first()) require_success(ncclGetUniqueId(&id));
    const std::string text = ranks.broadcast({id.internal, sizeof id.internal});
    std::memcpy(id.internal, text.data(), sizeof id.internal);
    const KeepCurrentGpu before;
    cudaSetDevice(own.ordinal());
    require_success(ncclCommInitRank(&group_, ranks.size(), id, ranks.rank()));
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  ~Nccl() override {
    if (group_) ncclCommDestroy(group_);
  }
  void exchange(std::span<const float> out, int to, std::span<float> in, int from,
                const Stream& stream) const override {
    const auto queue = static_cast<cudaStream_t>(stream.native());
    require<DeviceError>(group_, "NCCL: the ranks gave up");
    require_success(ncclGroupStart());
    if (!out.empty()) require_success(ncclSend(out.data(), out.size(), ncclFloat, to, group_, queue));
    if (!in.empty()) require_success(ncclRecv(in.data(), in.size(), ncclFloat, from, group_, queue));
    require_success(ncclGroupEnd());
  }
  /// A kernel of NCCL ends when both sides came, or when it is aborted. The host must not wait for it with
  /// its hands tied.
  void wait(const Stream& stream) const override {
    const auto queue = static_cast<cudaStream_t>(stream.native());
    for (Patience patience(Patience::Microseconds{50});; patience.pause()) {
      const cudaError_t state = cudaStreamQuery(queue);
      if (state == cudaSuccess) return;
      require<DeviceError>(state == cudaErrorNotReady, "NCCL: ", cudaGetErrorString(state));
      require_well();
    }
  }

 private:
  void require_well() const {
    require<DeviceError>(group_, "NCCL: the ranks gave up");
    ncclResult_t fault = ncclSuccess;
    require_success(ncclCommGetAsyncError(group_, &fault));
    if (fault == ncclSuccess && !ranks_.ending()) return;
    ncclCommAbort(std::exchange(group_, nullptr));
    require_success(fault);
    throw DeviceError("NCCL: another rank failed");
  }

  Comm ranks_;
  mutable ncclComm_t group_ = nullptr;  ///< null when it was given up
};

}  // namespace

std::shared_ptr<const GpuMessages> GpuMessages::between(const Comm& ranks, Device own) {
  static std::mutex one_at_a_time;
  // Never destroyed: where ranks failed, others may be gone, and NCCL would wait for them.
  static auto& made = *new std::map<Device, std::shared_ptr<const GpuMessages>>;
  const std::lock_guard lock(one_at_a_time);
  if (const auto known = made.find(own); known != made.end()) return known->second;
  std::shared_ptr<const GpuMessages> messages;
  if (!ranks.is_alone() && has_each_its_own(ranks.all_gather(place_of(own)))) {
    messages = std::make_shared<Nccl>(ranks, own);
    ranks.before_leaving([] { made.clear(); });
  }
  return made.emplace(own, std::move(messages)).first->second;
}

}  // namespace tandem
