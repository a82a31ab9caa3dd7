#include "array.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ceil_div.hpp"
#include "cuda/runtime.hpp"
#include "error.hpp"
#include "host_memory.hpp"
#include "parallel.hpp"

namespace tandem {

namespace {

/// Page by page on all cores: the first to touch a page waits for it.
void fill_zeros(float* data, std::size_t count) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  if (count < 2 * piece) return static_cast<void>(std::fill_n(data, count, 0.0f));
  parallel_for(static_cast<Index>(ceil_div(count, piece)), [&](Index k) {
    const std::size_t first = static_cast<std::size_t>(k) * piece;
    std::fill_n(data + first, std::min(piece, count - first), 0.0f);
  });
}

}  // namespace

void Array::Free::operator()(float* p) {
  if (device.is_cuda()) return cuda::release(device.ordinal(), p, keeper.get());
  give_host_memory(p, count * sizeof(float));
}

std::unique_ptr<float[], Array::Free> Array::allocate(const Space& space, const Stream& stream,
                                                      Values values) {
  const std::size_t count = static_cast<std::size_t>(space.size()), bytes = count * sizeof(float);
  const Device device = space.device();
  require<SpaceError>(stream.device() == device, "Array: the stream is on ", stream.device().name(),
                      ", the space on ", device.name(), "; give a stream of the space's device");
  if (!device.is_cuda()) {
    const HostMemory taken = take_host_memory(bytes);
    require<DeviceError>(taken.data != nullptr, "Array: ", bytes,
                         " bytes of host memory are not available; give a smaller --memory");
    std::unique_ptr<float[], Free> memory(static_cast<float*>(taken.data), Free{.count = count});
    if (values == Values::zeros || (values == Values::touched && taken.fresh))
      fill_zeros(memory.get(), count);
    return memory;
  }
  std::unique_ptr<float[], Free> memory(
      static_cast<float*>(cuda::allocate(device.ordinal(), bytes, stream.native())),
      Free{device, count, stream.shared()});
  if (values == Values::zeros) cuda::fill_zeros(device.ordinal(), memory.get(), bytes, stream.native());
  return memory;
}

Array::Array(Space space, const Stream& stream, Values values)
    : space_(std::move(space)), data_(allocate(space_, stream, values)) {}

Array::Array(Space space, const Stream& stream) : Array(std::move(space), stream, Values::unset) {}

Array::Array(Space space) : Array(space, default_stream(space.device()), Values::zeros) {
  default_stream(space.device()).synchronize();
}

bool Array::is_pinned() const { return !space_.device().is_cuda() && tandem::is_pinned(data_.get()); }

Array Array::clone(Stream& stream) const {
  Array other(space_, stream);
  copy(*this, other, stream);
  return other;
}

Array Array::clone() const {
  Stream& stream = default_stream(space_.device());
  Array other = clone(stream);
  stream.synchronize();
  return other;
}

Array zeros(Space space, const Stream& stream) {
  return Array(std::move(space), stream, Array::Values::zeros);
}

void copy(ConstVectorView from, VectorView to, Stream& stream) {
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
  const Space space = array.space().on(device);
  Stream& its = default_stream(device);
  // the pages of host memory are touched on all cores, not one by one by the copy
  Array there(space, its, Array::Values::touched);
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

Image<float> image(VectorView v) {
  const Shape n = v.space.shape();
  return {v.data, n[0], n[1], n[2], n[1] * n[2], n[2]};
}

Image<const float> image(ConstVectorView v) {
  const Shape n = v.space.shape();
  return {v.data, n[0], n[1], n[2], n[1] * n[2], n[2]};
}

namespace {

template <class T>
void require_lines(const Image<const T>& from, const Image<T>& to) {
  require<SpaceError>(
      from.n0 == to.n0 && from.n1 == to.n1 && from.n2 == to.n2 && from.s1 == from.n2 && to.s1 == to.n2,
      "copy: images of ", from.n0, " x ", from.n1, " x ", from.n2, " and ", to.n0, " x ", to.n1, " x ", to.n2,
      "; extents must be equal, lines contiguous");
}

template <class T>
void copy_lines(Image<const T> from, Image<T> to, Stream& stream) {
  require_lines(from, to);
  const Index plane = from.n1 * from.n2;
  const Device device = stream.device();
  const bool whole = from.n0 == 1 || (from.s0 == plane && to.s0 == plane);
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  if (!device.is_cuda())
    for (Index i = 0; i < from.n0; ++i) std::copy_n(from.data + i * from.s0, plane, to.data + i * to.s0);
  else if (whole)
    cuda::copy(device.ordinal(), to.data, from.data, bytes(from.n0 * plane), stream.native());
  else
    cuda::copy_pieces(device.ordinal(), to.data, bytes(to.s0), from.data, bytes(from.s0), bytes(plane),
                      static_cast<std::size_t>(from.n0), stream.native());
}

}  // namespace

void copy(Image<const float> from, Image<float> to, Stream& stream) { copy_lines(from, to, stream); }

void copy(Image<const std::byte> from, Image<std::byte> to, Stream& stream) { copy_lines(from, to, stream); }

void carry(Image<const float> from, Image<float> to, Stream& stream) {
  if (!stream.device().is_cuda() || !is_pinned(to.data)) return copy(from, to, stream);
  require_lines(from, to);
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(float); };
  cuda::carry(stream.device().ordinal(), to.data, bytes(to.s0), from.data, bytes(from.s0),
              bytes(from.n1 * from.n2), static_cast<std::size_t>(from.n0), stream.native());
}

Pinned::Pinned(ConstVectorView host) {
  constexpr std::uintptr_t page = 4096;
  if (!host.space.device().is_cuda() && reinterpret_cast<std::uintptr_t>(host.data) % page == 0)
    memory_ = cuda::pin(0, host.data, static_cast<std::size_t>(host.space.size()) * sizeof(float));
}

}  // namespace tandem
