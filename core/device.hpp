#pragma once

#include <compare>
#include <string>
#include <vector>

namespace tandem {

/// Where numbers live and kernels run. A plain value.
class Device {
 public:
  static Device cpu() { return Device(-1); }
  static Device cuda(int ordinal) { return Device(ordinal); }
  bool is_cuda() const { return ordinal_ >= 0; }
  int ordinal() const { return ordinal_; }
  std::string name() const;  ///< "cpu", "cuda:0"
  auto operator<=>(const Device&) const = default;

 private:
  explicit Device(int ordinal) : ordinal_(ordinal) {}
  int ordinal_;
};

/// What this machine has and this build can see: the CPU first, then each CUDA device.
std::vector<Device> devices();

/// The vendor's name of a device, for reports. @throws DeviceError if it is not in `devices()`.
std::string description(Device device);

/// The CUDA runtime that this build uses, "13.0"; empty for a build without CUDA.
std::string cuda_version();

/// Ordered work on one device. On the CPU, work is done when a call returns.
class Stream {
 public:
  explicit Stream(Device device);  ///< @throws DeviceError if no kernels of this build run on `device`
  Device device() const { return device_; }

 private:
  Device device_;
};

/// One for each thread and device.
Stream& default_stream(Device device);

}  // namespace tandem
