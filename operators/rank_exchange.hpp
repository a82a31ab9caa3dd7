#pragma once

// Used only within operators/.

#include <future>
#include <memory>
#include <optional>
#include <span>

#include "../core/array.hpp"
#include "../core/comm.hpp"
#include "../core/gpu_messages.hpp"

namespace tandem {

/// Sends values from the device of this rank to another rank, and receives others, while the device computes.
/// This is the one place that knows the way from device to device: from GPU to GPU where each rank has one of
/// its own (`GpuMessages`), and else through host memory, pinned where there is a GPU, and by messages.
class RankExchange {
 public:
  /// All ranks. `most`: values that go at a time, at most. `stream`: on which they are made and used.
  RankExchange(const Comm& ranks, Stream& stream, Index most);
  /// Sends `out` to one rank and receives `in` from another one, when the stream has done what is queued now.
  /// No values: no message.
  void begin(std::span<const float> out, int to, std::span<float> in, int from);
  /// What the stream does from now on finds both done. @throws what went wrong
  void end();
  ~RankExchange();
  RankExchange(const RankExchange&) = delete;
  RankExchange& operator=(const RankExchange&) = delete;

 private:
  void carry(std::span<const float> out, int to, std::span<float> in, int from);

  Comm ranks_;
  Stream& stream_;
  Stream copies_;
  Event ready_, arrived_;
  std::shared_ptr<const GpuMessages> from_gpu_to_gpu_;
  std::optional<Array> own_, others_;  ///< of a GPU: on the host
  std::future<void> done_;
};

}  // namespace tandem
