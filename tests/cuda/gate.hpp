#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>

#include "../../core/device.hpp"

namespace tandem::test {

/// Half a minute at the most, so that a test which waits for the stream fails and does not hang. A sanitizer
/// waits for the whole device behind each kernel: give it TANDEM_GATE_MS=1, else each kernel takes that long.
inline std::chrono::milliseconds longest_wait() {
  const char* given = std::getenv("TANDEM_GATE_MS");
  return std::chrono::milliseconds(given ? std::atoi(given) : 30'000);
}

/// Holds up all that is queued on a stream from now on, until it is opened or has waited for longest.
class Gate {
 public:
  explicit Gate(const Stream& stream) : stream_(stream) {
    stream.synchronize();  // memory freed there before is free now
    const auto wait = [](void* gate) { static_cast<Gate*>(gate)->opened_.wait_for(longest_wait()); };
    EXPECT_EQ(cudaLaunchHostFunc(static_cast<cudaStream_t>(stream.native()), wait, this), cudaSuccess);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }
  /// Returns when all that was held up is done.
  void open() {
    if (is_open_) return;
    is_open_ = true;
    opening_.set_value();
    stream_.synchronize();
  }

 private:
  Stream stream_;
  bool is_open_ = false;
  std::promise<void> opening_;
  std::future<void> opened_ = opening_.get_future();
};

}  // namespace tandem::test
