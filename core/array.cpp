#include "tandem/core/array.hpp"

#include <algorithm>
#include <cstdlib>

#include "tandem/core/error.hpp"

namespace tandem {

namespace {

constexpr std::size_t alignment = 64;  // bytes: one cache line, one AVX-512 vector

float* allocate_zeros(const Space& space) {
  require<DeviceError>(!space.device().is_cuda(), "Array: device ", space.device().name(),
                       ": this version has no CUDA kernels yet; use the cpu");
  const std::size_t count = static_cast<std::size_t>(space.size());
  const std::size_t bytes = (count * sizeof(float) + alignment - 1) / alignment * alignment;
  auto* data = static_cast<float*>(std::aligned_alloc(alignment, bytes));
  require<DeviceError>(data != nullptr, "Array: ", bytes,
                       " bytes of host memory cannot be had; use a smaller --memory");
  std::fill_n(data, count, 0.0f);
  return data;
}

}  // namespace

void Array::Free::operator()(float* p) const { std::free(p); }

Array::Array(Space space) : space_(std::move(space)), data_(allocate_zeros(space_)) {}

Array Array::clone() const {
  Array copy(space_);
  std::copy_n(data(), size(), copy.data());
  return copy;
}

Image<float> image(View v) {
  const Shape n = v.space.shape();
  return {v.data, n[0], n[1], n[2], n[1] * n[2], n[2]};
}

Image<const float> image(ConstView v) {
  const Shape n = v.space.shape();
  return {v.data, n[0], n[1], n[2], n[1] * n[2], n[2]};
}

}  // namespace tandem
