#include "array.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ceil_div.hpp"
#include "cuda/runtime.hpp"
#include "error.hpp"
#include "host_memory.hpp"
#include "parallel.hpp"
#include "spelled.hpp"

namespace tandem {

namespace {

/// Fills page by page on all cores: the first to touch a page waits for it.
void fill_zeros(float* data, std::size_t count) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  if (count < 2 * piece) return static_cast<void>(std::fill_n(data, count, 0.0f));
  parallel_for(ceil_div(count, piece), [&](Index k) {
    const std::size_t first = k * piece;
    std::fill_n(data + first, std::min(piece, count - first), 0.0f);
  });
}

/// Part i of a vector on a team, share by share.
std::vector<float*> parts_of_shares(std::vector<float*> shares, const Space& space, int i) {
  for (int k = 0; k < std::ssize(shares); ++k) shares[k] += space.share(k).offset(i);
  return shares;
}

template <class View>
View part_of(const View& v, int i) {
  View part = v;
  part.space = v.space.part(i);
  if (v.data) part.data += v.space.offset(i);
  part.of_members = parts_of_shares(v.of_members, v.space, i);
  return part;
}

template <class View>
View share_of(const View& v, int k) {
  return v.of_members.empty() ? v : View{v.of_members[k], v.space.share(k)};
}

}  // namespace

VectorView VectorView::part(int i) const { return part_of(*this, i); }
VectorView VectorView::share(int k) const { return share_of(*this, k); }
ConstVectorView ConstVectorView::part(int i) const { return part_of(*this, i); }
ConstVectorView ConstVectorView::share(int k) const { return share_of(*this, k); }

void Array::Free::operator()(float* p) {
  if (device.is_cuda()) return cuda::release(device.ordinal(), p, keeper.get());
  give_host_memory(p, count * sizeof(float));
}

std::unique_ptr<float[], Array::Free> Array::allocate(const Space& space, const Stream& stream,
                                                      Values values) {
  const std::size_t count = space.size(), bytes = count * sizeof(float);
  const Device device = space.device();
  require<SpaceError>(stream.device() == device, "Array: the stream is on ", stream.device(),
                      ", the space on ", device, "; give a stream of the space's device");
  if (space.shares() > 1 || count == 0) return {nullptr, Free{}};
  if (!device.is_cuda()) {
    const HostMemory taken = take_host_memory(bytes);
    require<DeviceError>(taken.data != nullptr, "Array: ", bytes,
                         " bytes of host memory are not available; give a smaller " + spelled("memory"));
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
    : space_(std::move(space)), data_(allocate(space_, stream, values)) {
  for (int k = 0; space_.shares() > 1 && k < space_.shares(); ++k)
    shares_.push_back(Array(space_.share(k), stream.member(k), values));
}

Array::Array(Space space, std::vector<Array> shares)
    : space_(std::move(space)), data_(nullptr, Free{}), shares_(std::move(shares)) {
  bool fit = std::ssize(shares_) == space_.shares() && space_.shares() > 1;
  for (int k = 0; fit && k < space_.shares(); ++k) fit = shares_[k].space().fits(space_.share(k));
  require<SpaceError>(fit, "Array: ", shares_.size(), " shares do not make up a vector on ",
                      space_.device().name());
}

VectorView Array::view() const {
  VectorView all{data_.get(), space_};
  for (const Array& share : shares_) all.of_members.push_back(share.data_.get());
  return all;
}

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

namespace {

void copy_alone(ConstVectorView from, VectorView to, const Stream& stream) {
  const Device a = from.space.device(), b = to.space.device();
  if (!a.is_cuda() && !b.is_cuda()) {
    std::copy_n(from.data, from.space.size(), to.data);
    return;
  }
  require<SpaceError>(stream.device() == a || stream.device() == b, "copy: the stream is on ",
                      stream.device(), ", the vectors on ", a, " and ", b);
  const std::size_t bytes = from.space.size() * sizeof(float);
  if (a.is_cuda() && b.is_cuda() && a != b)
    cuda::copy_between(b.ordinal(), to.data, a.ordinal(), from.data, bytes, stream.native());
  else
    cuda::copy(a.is_cuda() ? a.ordinal() : b.ordinal(), to.data, from.data, bytes, stream.native());
}

/// The part of `alone`, a vector on a single device, that corresponds to share k of a vector in `there`,
/// which lies on a team.
template <class View>
View as_share(const View& alone, const Space& there, int k) {
  if (there.spread() == Spread::copied) return alone;
  const auto [planes, lines, count] = there.shape();
  return {alone.data + there.first_plane(k) * lines * count, there.share(k).on(alone.space.device())};
}

void copy_shares(ConstVectorView from, VectorView to, Stream& stream) {
  const bool gathers = to.space.shares() == 1, scatters = from.space.shares() == 1;
  require<SpaceError>(gathers || scatters || from.space.fits(to.space), "copy: from ",
                      from.space.device().name(), " to ", to.space.device().name(),
                      " in different shares; take the way over one device");
  const bool one = gathers && from.space.spread() == Spread::copied;
  for (int k = 0; k < (one ? 1 : std::max(from.space.shares(), to.space.shares())); ++k)
    copy_alone(scatters ? as_share(from, to.space, k) : from.share(k),
               gathers ? as_share(to, from.space, k) : to.share(k), stream.member(k));
}

}  // namespace

void copy(ConstVectorView from, VectorView to, Stream& stream) {
  require<SpaceError>(from.space.size() == to.space.size(), "copy: ", from.space.size(), " elements to ",
                      to.space.size(), "; they must be equal");
  if (from.space.shares() == 1 && to.space.shares() == 1) return copy_alone(from, to, stream);
  require<SpaceError>(from.space.parts() == to.space.parts(), "copy: ", from.space.parts(), " parts to ",
                      to.space.parts(), "; they must be equal");
  if (from.space.parts() == 1) return copy_shares(from, to, stream);
  for (int i = 0; i < from.space.parts(); ++i) copy(from.part(i), to.part(i), stream);
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
  const auto bytes = [](Index count) { return count * sizeof(T); };
  if (!device.is_cuda())
    for (Index i = 0; i < from.n0; ++i) std::copy_n(from.data + i * from.s0, plane, to.data + i * to.s0);
  else if (whole)
    cuda::copy(device.ordinal(), to.data, from.data, bytes(from.n0 * plane), stream.native());
  else
    cuda::copy_pieces(device.ordinal(), to.data, bytes(to.s0), from.data, bytes(from.s0), bytes(plane),
                      from.n0, stream.native());
}

}  // namespace

void copy(Image<const float> from, Image<float> to, Stream& stream) { copy_lines(from, to, stream); }

void copy(Image<const std::byte> from, Image<std::byte> to, Stream& stream) { copy_lines(from, to, stream); }

void carry(Image<const float> from, Image<float> to, Stream& stream) {
  if (!stream.device().is_cuda() || !is_pinned(to.data)) return copy(from, to, stream);
  require_lines(from, to);
  const auto bytes = [](Index count) { return count * sizeof(float); };
  cuda::carry(stream.device().ordinal(), to.data, bytes(to.s0), from.data, bytes(from.s0),
              bytes(from.n1 * from.n2), from.n0, stream.native());
}

Pinned::Pinned(ConstVectorView host) {
  constexpr std::uintptr_t page = 4096;
  if (!host.space.device().is_cuda() && reinterpret_cast<std::uintptr_t>(host.data) % page == 0)
    memory_ = cuda::pin(0, host.data, host.space.size() * sizeof(float));
}

}  // namespace tandem
