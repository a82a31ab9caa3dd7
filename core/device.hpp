#pragma once

#include <compare>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// The place where numbers lie and kernels run. A plain value.
class Device {
 public:
  static Device cpu() { return Device(-1); }
  static Device cuda(int ordinal) { return Device(ordinal); }
  /// "cpu", "cuda" (the first GPU) or "cuda:N". @throws DeviceError for any other name
  static Device named(const std::string& name);
  /// Devices that hold vectors together (`Spread`), and work on them at the same time. One may be named
  /// twice. A team of one is this device. @throws DeviceError unless all are GPUs, or all are the CPU
  static Device team(const std::vector<Device>& members);
  int members() const { return team_ ? static_cast<int>(team_->size()) : 1; }  ///< 1 unless a team
  Device member(int k) const { return team_ ? (*team_)[k] : *this; }
  bool is_cuda() const { return ordinal_ >= 0; }
  int ordinal() const { return ordinal_; }  ///< number of the GPU, or of the first of a team
  std::string name() const;                 ///< "cpu", "cuda:0", "cuda:0 + cuda:1"
  auto operator<=>(const Device&) const = default;

 private:
  explicit Device(int ordinal) : ordinal_(ordinal) {}
  int ordinal_;
  const std::vector<Device>* team_ = nullptr;  ///< the same for equal teams, and never destroyed
};

/// Its name, which a message makes only if it is written.
std::ostream& operator<<(std::ostream& to, Device device);

/// The devices that this machine has and this build can use: first the CPU, then each CUDA device that has at
/// least `least_capability`.
std::vector<Device> devices();

/// The vendor's name of a device; for the CPU with `instruction_set`. @throws DeviceError if it is not here
std::string description(Device device);

/// The clocks of all multiprocessors of a GPU together, at their highest rate, in 10^9 per second; 0 for the
/// CPU. @throws DeviceError
double gigaclocks(Device device);

/// What a CUDA device can do, by the vendor's numbers: {9, 0} for 9.0.
struct ComputeCapability {
  int major = 0, minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
};
constexpr ComputeCapability least_capability{8, 0};  ///< kernels are built for this and up

ComputeCapability compute_capability(Device device);  ///< what a GPU can do; {0, 0} for the CPU
/// @throws DeviceError if a card is below `least_capability`; it names the `card`, what it has and what is
/// needed.
void require_capability(Device gpu, const std::string& card, ComputeCapability has);
/// @throws DeviceError unless the GPU is here and kernels can run on it
void require_usable(Device gpu);

/// How many bytes of its own memory a GPU can still give this process. @throws DeviceError if the GPU is not
/// here
std::size_t free_memory(Device gpu);

/// The version of the CUDA runtime that this build uses, for example "13.0"; empty in a build without CUDA.
std::string cuda_version();

class Event;

/// Which kernels a GPU starts first if several could start: small ones that others wait for are `urgent`.
enum class Priority { usual, urgent };

/// A queue of work on one device: a CUDA stream of its own. On the CPU, work is done when a call returns. A
/// team has one for each member. Copies of the object share the stream. Arrays that were made for it keep it
/// alive.
class Stream {
 public:
  /// @throws DeviceError if the device is not here, or too old
  explicit Stream(Device device, Priority priority = Priority::usual);
  /// The stream of another library on a GPU, such as the current one of PyTorch. `native` is its
  /// cudaStream_t, null for the legacy default stream, and keeps it alive. @throws DeviceError as above
  static Stream foreign(Device gpu, std::shared_ptr<void> native);
  Device device() const { return device_; }
  /// The queue of a member of a team; of any other device this one is the only one.
  Stream& member(int k) { return members_ ? (*members_)[k] : *this; }
  const Stream& member(int k) const { return members_ ? (*members_)[k] : *this; }
  void synchronize() const;                       ///< @throws DeviceError if any earlier work failed
  void wait(const Event& event) const;            ///< what is queued from now on begins after `event`
  void* native() const { return native_.get(); }  ///< the cudaStream_t; nullptr on the CPU and for a team
  const std::shared_ptr<void>& shared() const { return native_; }

 private:
  Stream(Device device, std::shared_ptr<void> native) : device_(device), native_(std::move(native)) {}
  Device device_;
  std::shared_ptr<void> native_;
  std::shared_ptr<std::vector<Stream>> members_;  ///< null unless the device is a team
};

/// A place in the work of a stream. Other streams and the host can wait for it: on a team, for all members.
/// An event that was never recorded has already passed.
class Event {
 public:
  explicit Event(Device device);      ///< @throws DeviceError if the device is not here
  void record(const Stream& stream);  ///< behind all that is queued there now; earlier waits keep their place
  void synchronize() const;           ///< the host waits. @throws DeviceError
  bool has_passed() const;            ///< does not wait; false also where work failed

 private:
  friend class Stream;
  std::vector<std::shared_ptr<void>> of_members_;  ///< none on the CPU
};

/// The default stream of the calling thread on a device.
Stream& default_stream(Device device);

/// As long as it lives, a stream is the default stream of the calling thread on its device.
class UseStream {
 public:
  explicit UseStream(const Stream& stream);
  ~UseStream();
  UseStream(const UseStream&) = delete;
  UseStream& operator=(const UseStream&) = delete;

 private:
  Stream before_;
};

/// The library changes which GPU is the current one of the calling thread. This puts it back at its end, for
/// callers that use CUDA themselves.
class KeepCurrentGpu {
 public:
  KeepCurrentGpu();
  /// For work on this GPU alone: if it is the current one, nothing is to be put back.
  explicit KeepCurrentGpu(Device only);
  ~KeepCurrentGpu();
  KeepCurrentGpu(const KeepCurrentGpu&) = delete;
  KeepCurrentGpu& operator=(const KeepCurrentGpu&) = delete;

 private:
  int before_;
};

}  // namespace tandem
