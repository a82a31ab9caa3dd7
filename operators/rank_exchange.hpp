#pragma once

// Used only within operators/.

#include <future>
#include <optional>
#include <span>

#include "../core/array.hpp"
#include "../core/comm.hpp"

namespace tandem {

/// Sends values from the device of this rank to another rank, and receives others, while the device computes.
/// This is the one place that knows the way from device to device: through host memory, pinned where there is
/// a GPU, and by messages. A library that sends from GPU to GPU (NCCL) would be called here.
class RankExchange {
 public:
  /// `most`: values that go at a time, at most. `stream`: on which they are made and used.
  RankExchange(const Comm& ranks, Stream& stream, Index most);
  /// Sends `out` to one rank and receives `in` from another one, when the stream has done what is queued now.
  /// No values: no message.
  void begin(std::span<const float> out, int to, std::span<float> in, int from);
  void end();  ///< waits until both are done. @throws what went wrong

 private:
  void carry(std::span<const float> out, int to, std::span<float> in, int from);

  Comm ranks_;
  Stream& stream_;
  Stream copies_;
  Event ready_;
  std::optional<Array> own_, others_;  ///< of a GPU: on the host
  std::future<void> done_;
};

}  // namespace tandem
