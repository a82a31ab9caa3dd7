#pragma once

#include "launch.cuh"

namespace tandem::kernels::cuda {

/// Scratch with a few values of the host. They do not wait behind the large copies of other streams.
template <class T>
struct Sent : Scratch<T> {
  Sent(std::span<const T> values, const Stream& stream) : Scratch<T>(values.size(), queue(stream)) {
    tandem::cuda::send(stream.device().ordinal(), this->data(), values.data(), values.size_bytes(),
                       stream.native());
  }
};

/// A number on the device that begins at 0.
struct Count : Sent<unsigned long long> {
  explicit Count(Stream& stream) : Sent(std::span<const unsigned long long>(&zero, 1), stream) {}
  /// Waits.
  Index brought(Stream& stream) const {
    unsigned long long value = 0;
    bring(std::span(&value, 1), *this, stream);
    return value;
  }
  static constexpr unsigned long long zero = 0;
};

}  // namespace tandem::kernels::cuda
