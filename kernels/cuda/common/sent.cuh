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

}  // namespace tandem::kernels::cuda
