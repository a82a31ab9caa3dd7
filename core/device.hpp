#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Where numbers live and kernels run. A plain value.
class Device {
 public:
  static Device cpu() { return Device(-1); }
  static Device cuda(int ordinal) { return Device(ordinal); }
  /// "cpu", "cuda" (the first GPU) or "cuda:N". @throws DeviceError for any other name
  static Device named(const std::string& name);
  bool is_cuda() const { return ordinal_ >= 0; }
  int ordinal() const { return ordinal_; }
  std::string name() const;  ///< "cpu", "cuda:0"
  auto operator<=>(const Device&) const = default;

 private:
  explicit Device(int ordinal) : ordinal_(ordinal) {}
  int ordinal_;
};

/// What this machine has and this build can use: the CPU first, then each CUDA device of the least compute
/// capability and up.
std::vector<Device> devices();

/// The vendor's name of a device, for reports. @throws DeviceError if it is not in `devices()`.
std::string description(Device device);

/// Clocks of all multiprocessors of a GPU together at their highest rate, 10^9 a second; 0 for the CPU.
/// @throws DeviceError
double gigaclocks(Device device);

/// What a CUDA device can do, by the vendor's numbers: {9, 0} for 9.0.
struct ComputeCapability {
  int major = 0, minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
};
constexpr ComputeCapability least_capability{8, 0};  ///< that kernels are built for

ComputeCapability compute_capability(Device device);  ///< of a GPU; {0, 0} for the CPU
/// @throws DeviceError naming the `card`, what it has and what is needed, for one that is below the least.
void require_capability(Device gpu, const std::string& card, ComputeCapability has);
/// @throws DeviceError unless the GPU is here and kernels can run on it
void require_usable(Device gpu);

/// Bytes of its own memory that a GPU can still give this process. @throws DeviceError if it is not here
std::size_t free_memory(Device gpu);

/// The CUDA runtime that this build uses, "13.0"; empty for a build without CUDA.
std::string cuda_version();

class Event;

/// Ordered work on one device: a CUDA stream of its own. On the CPU, work is done when a call returns.
/// Copies share the stream; what lies on it keeps it alive.
class Stream {
 public:
  explicit Stream(Device device);  ///< @throws DeviceError if the device is not here, or too old
  Device device() const { return device_; }
  void synchronize() const;             ///< @throws DeviceError carrying the fault of any earlier work
  void wait(const Event& event) const;  ///< what is queued from now on begins after `event`
  void* native() const { return native_.get(); }  ///< the cudaStream_t; nullptr on the CPU
  const std::shared_ptr<void>& shared() const { return native_; }

 private:
  Device device_;
  std::shared_ptr<void> native_;
};

/// A place in a stream's work, for other streams and the host to wait for. One never recorded has passed.
class Event {
 public:
  explicit Event(Device device);      ///< @throws DeviceError if the device is not here
  void record(const Stream& stream);  ///< behind what is queued there by now; earlier waits keep their place
  void synchronize() const;           ///< the host waits. @throws DeviceError
  void* native() const { return native_.get(); }

 private:
  std::shared_ptr<void> native_;
};

/// One for each thread and device.
Stream& default_stream(Device device);

}  // namespace tandem
