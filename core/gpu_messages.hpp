#pragma once

#include <memory>
#include <span>

#include "comm.hpp"
#include "device.hpp"

namespace tandem {

/// Values on their way from the GPU of one rank to that of another, without a way through the host (NCCL).
class GpuMessages {
 public:
  virtual ~GpuMessages() = default;
  /// The messages that all ranks share from now on; each rank has one device. All ranks call it. Null for all
  /// if the build has no NCCL, or if not each of them has a GPU of its own. @throws DeviceError if NCCL fails
  static std::shared_ptr<const GpuMessages> between(const Comm& ranks, Device own);
  /// Queues on a stream that values go to one rank while others come from another one. If there are no
  /// values, no message is sent. @throws DeviceError
  virtual void exchange(std::span<const float> out, int to, std::span<float> in, int from,
                        const Stream& stream) const = 0;
  /// Waits until the stream has done what was queued. If NCCL fails meanwhile, or a rank failed and so may
  /// never send, what is on its way is given up, and nothing can be sent any more. @throws DeviceError
  virtual void wait(const Stream& stream) const = 0;
};

}  // namespace tandem
