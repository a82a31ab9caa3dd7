#pragma once

#include <algorithm>
#include <cstddef>

#include "../../core/space.hpp"

namespace tandem::kernels::cpu {

/// Memory for a short time, aligned to 64 bytes. A thread keeps the last blocks that it gave back, for a
/// caller that takes about as much again: pages that nobody has touched yet cost more than a transform.
/// @throws std::bad_alloc
void* take_scratch(std::size_t bytes);
/// Gives it back; null does nothing.
void give_scratch(void* data) noexcept;

/// Zeros, in such memory.
class Lines {
 public:
  explicit Lines(Index numbers) : data_(static_cast<float*>(take_scratch(sizeof(float) * numbers))) {
    std::fill_n(data_, numbers, 0.0f);
  }
  ~Lines() { give_scratch(data_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  float* data() { return data_; }

 private:
  float* data_;
};

}  // namespace tandem::kernels::cpu
