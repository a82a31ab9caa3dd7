#pragma once

// Used only within operators/.

#include <future>
#include <memory>
#include <span>

#include "../../core/comm.hpp"
#include "../../core/gpu_messages.hpp"
#include "../../core/kept_on_devices.hpp"
#include "rank_traffic.hpp"

namespace tandem {

/// The means by which an operator over all ranks exchanges values.
struct RankLink {
  Comm ranks = {};
  Index most = 0;              ///< the most values that go at a time
  bool through_host = false;   ///< see `RankShare`
  KeptOnDevices on_host = {};  ///< host memory for values of a device, pinned for a GPU
};

/// Sends values from the device of this rank to another rank, and receives others, while the device computes.
/// Only this class knows the way from device to device: directly from GPU to GPU if each rank has its own
/// (`GpuMessages`), and else by messages through host memory, which is pinned if there is a GPU. It counts
/// what goes (`rank_traffic`).
class RankExchange {
 public:
  /// Collective. `stream`: the stream on which values are made and used.
  RankExchange(const RankLink& link, Stream& stream);
  /// Sends `out` to one rank and receives `in` from another one, when the stream has done what is queued now.
  /// If there are no values, no message is sent.
  void begin(std::span<const float> out, int to, std::span<float> in, int from);
  /// Waits until both are done. @throws what went wrong
  void end();
  ~RankExchange();
  RankExchange(RankExchange&&) = delete;

 private:
  RankWay way() const;
  void carry(std::span<const float> out, int to, std::span<float> in, int from);
  void carry_through_host(std::span<const float> out, int to, std::span<float> in, int from);

  const RankLink& link_;
  Stream& stream_;
  Stream copies_;
  Event ready_;
  std::shared_ptr<const GpuMessages> from_gpu_to_gpu_;
  std::future<void> done_;
};

}  // namespace tandem
