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

/// What an operator over all ranks has for its exchanges.
struct RankLink {
  Comm ranks = {};
  Index most = 0;              ///< values that go at a time, at most
  bool through_host = false;   ///< see `RankShare`
  KeptOnDevices on_host = {};  ///< memory through which values of a device pass, pinned for a GPU
};

/// Sends values from the device of this rank to another rank, and receives others, while the device computes.
/// This is the one place that knows the way from device to device: from GPU to GPU where each rank has one of
/// its own (`GpuMessages`), and else through host memory, pinned where there is a GPU, and by messages. It
/// counts what goes (`rank_traffic`).
class RankExchange {
 public:
  /// All ranks. `stream`: on which values are made and used.
  RankExchange(const RankLink& link, Stream& stream);
  /// Sends `out` to one rank and receives `in` from another one, when the stream has done what is queued now.
  /// No values: no message.
  void begin(std::span<const float> out, int to, std::span<float> in, int from);
  /// Waits until both are done. @throws what went wrong
  void end();
  ~RankExchange();
  RankExchange(const RankExchange&) = delete;
  RankExchange& operator=(const RankExchange&) = delete;

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
