#include "tandem/core/array.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tandem/core/cuda/runtime.hpp"
#include "tandem/core/error.hpp"

namespace tandem {

namespace {

constexpr std::size_t alignment = 64;  // bytes: one cache line, one AVX-512 vector

float* allocate_zeros(std::size_t count) {
  const std::size_t bytes = (count * sizeof(float) + alignment - 1) / alignment * alignment;
  auto* data = static_cast<float*>(std::aligned_alloc(alignment, bytes));
  require<DeviceError>(data != nullptr, "Array: ", bytes,
                       " bytes of host memory cannot be had; use a smaller --memory");
  std::fill_n(data, count, 0.0f);
  return data;
}

}  // namespace

void Array::Free::operator()(float* p) const {
  if (device.is_cuda())
    cuda::release(device.ordinal(), p, stream.get());
  else
    std::free(p);
}

std::unique_ptr<float[], Array::Free> Array::allocate(const Space& space) {
  const std::size_t count = static_cast<std::size_t>(space.size());
  const Device device = space.device();
  if (!device.is_cuda()) return {allocate_zeros(count), Free{}};
  const Stream& stream = default_stream(device);
  void* memory = cuda::allocate(device.ordinal(), count * sizeof(float), stream.native());
  return {static_cast<float*>(memory), Free{device, stream.shared()}};
}

Array::Array(Space space) : space_(std::move(space)), data_(allocate(space_)) {}

Array Array::clone() const {
  Array other(space_);
  copy(*this, other, default_stream(space_.device()));
  return other;
}

void copy(ConstView from, View to, Stream& stream) {
  require<SpaceError>(from.space.size() == to.space.size(), "copy: ", from.space.size(), " elements to ",
                      to.space.size(), "; they must be equal");
  const Device a = from.space.device(), b = to.space.device();
  if (!a.is_cuda() && !b.is_cuda()) {
    std::copy_n(from.data, from.space.size(), to.data);
    return;
  }
  require<SpaceError>(stream.device() == a || stream.device() == b, "copy: the stream is on ",
                      stream.device().name(), ", the vectors on ", a.name(), " and ", b.name());
  const std::size_t bytes = static_cast<std::size_t>(from.space.size()) * sizeof(float);
  cuda::copy(a.is_cuda() ? a.ordinal() : b.ordinal(), to.data, from.data, bytes, stream.native());
}

Array on_device(const Array& array, Device device) {
  Array there(array.space().on(device));
  const Device busy = device.is_cuda() ? device : array.space().device();
  Stream& stream = default_stream(busy);
  copy(array, there, stream);
  stream.synchronize();
  return there;
}

Array on_device(Array&& array, Device device) {
  if (array.space().device() == device) return std::move(array);
  return on_device(std::as_const(array), device);
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
