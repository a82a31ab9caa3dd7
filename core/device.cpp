#include "tandem/core/device.hpp"

#include <map>

#include "tandem/core/cuda/runtime.hpp"
#include "tandem/core/error.hpp"

namespace tandem {

std::string Device::name() const { return is_cuda() ? "cuda:" + std::to_string(ordinal_) : "cpu"; }

std::vector<Device> devices() {
  std::vector<Device> all{Device::cpu()};
  for (int i = 0; i < cuda::device_count(); ++i) all.push_back(Device::cuda(i));
  return all;
}

std::string description(Device device) {
  if (!device.is_cuda()) return "cpu";
  require<DeviceError>(device.ordinal() < cuda::device_count(), "device ", device.name(), ": not found; ",
                       cuda::device_count(), " CUDA devices are here");
  return cuda::device_name(device.ordinal());
}

std::string cuda_version() { return cuda::runtime_version(); }

Stream::Stream(Device device) : device_(device) {
  require<DeviceError>(!device.is_cuda(), "device ", device.name(),
                       ": this version has no CUDA kernels yet; use the cpu");
}

Stream& default_stream(Device device) {
  thread_local std::map<Device, Stream> streams;
  return streams.try_emplace(device, device).first->second;
}

}  // namespace tandem
