#include "array.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "ceil_div.hpp"
#include "cuda/runtime.hpp"
#include "error.hpp"
#include "parallel.hpp"

namespace tandem {

namespace {

constexpr std::size_t line = 64, page = 4096,  // bytes: a cache line is an AVX-512 vector
    huge_page = std::size_t{1} << 21;

constexpr std::size_t large = std::size_t{1} << 18;  // floats: what is worth pinning and keeping

thread_local Device pinned_by = Device::cpu();

/// Page by page on all cores: the first to touch a page waits for it.
void fill_zeros(float* data, std::size_t count) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  if (count < 2 * piece) return static_cast<void>(std::fill_n(data, count, 0.0f));
  parallel_for(static_cast<Index>(ceil_div(count, piece)), [&](Index k) {
    const std::size_t first = static_cast<std::size_t>(k) * piece;
    std::fill_n(data + first, std::min(piece, count - first), 0.0f);
  });
}

/// Large arrays have pages of their own, so that pinning one pins nothing of others. Of the largest ones
/// pages should be huge, where the system has such: fewer to be touched first, and fewer to be looked up.
float* allocate_host(std::size_t count) {
  const std::size_t alignment = count * sizeof(float) < 4 * page ? line : page;
  const std::size_t bytes = ceil_div(count * sizeof(float), alignment) * alignment;
  auto* data = static_cast<float*>(std::aligned_alloc(alignment, bytes));
#ifdef MADV_HUGEPAGE
  if (data && bytes >= 4 * huge_page) madvise(data, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
  require<DeviceError>(data != nullptr, "Array: ", bytes,
                       " bytes of host memory are not available; give a smaller --memory");
  return data;
}

/// Null where it is not to be, or cannot.
std::shared_ptr<void> pinned(const float* data, std::size_t count, int ordinal) {
  if (reinterpret_cast<std::uintptr_t>(data) % page != 0) return {};
  return cuda::pin(ordinal, data, count * sizeof(float));
}

/// Memory of the host, and what keeps it pinned.
struct Block {
  float* data = nullptr;
  std::shared_ptr<void> pin = {};

  void free() {
    pin.reset();      // first
    std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): whoever has a block gives it back
  }
};

/// Blocks that wait for arrays of their size, while a KeepArrays lives.
class KeptBlocks {
 public:
  static KeptBlocks& all() {
    static KeptBlocks one;
    return one;
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    ++keepers_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--keepers_ > 0) return;
    for (auto& [key, block] : waiting_) block.free();
    waiting_.clear();
  }
  Block take(std::size_t count, bool pinned) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find({count, pinned});
    return found == waiting_.end() ? Block{} : std::move(waiting_.extract(found).mapped());
  }
  /// Keeps a block or frees it.
  void give(Block block, std::size_t count) {
    if (const std::lock_guard lock(mutex_); keepers_ > 0 && count >= large)
      waiting_.emplace(std::pair{count, block.pin != nullptr}, std::move(block));
    else
      block.free();
  }

 private:
  std::mutex mutex_;
  int keepers_ = 0;
  std::multimap<std::pair<std::size_t, bool>, Block> waiting_;  ///< by floats, and whether they are pinned
};

}  // namespace

void Array::Free::operator()(float* p) {
  if (device.is_cuda()) return cuda::release(device.ordinal(), p, keeper.get());
  KeptBlocks::all().give({p, std::move(keeper)}, count);
}

std::unique_ptr<float[], Array::Free> Array::allocate(const Space& space, const Stream& stream,
                                                      Values values) {
  const std::size_t count = static_cast<std::size_t>(space.size()), bytes = count * sizeof(float);
  const Device device = space.device();
  require<SpaceError>(stream.device() == device, "Array: the stream is on ", stream.device().name(),
                      ", the space on ", device.name(), "; give a stream of the space's device");
  if (!device.is_cuda()) {
    const bool pins = pinned_by.is_cuda() && count >= large;
    Block kept = KeptBlocks::all().take(count, pins);
    const bool fresh = kept.data == nullptr;
    std::unique_ptr<float[], Free> memory(fresh ? allocate_host(count) : kept.data,
                                          Free{.count = count, .keeper = std::move(kept.pin)});
    // touched on all cores before it is pinned: the driver would touch its pages one by one
    if (values == Values::zeros || (pins && fresh)) fill_zeros(memory.get(), count);
    if (pins && fresh) memory.get_deleter().keeper = pinned(memory.get(), count, pinned_by.ordinal());
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
  Array there = device.is_cuda() ? Array(space, its) : zeros(space, its);
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

void copy(Image<const float> from, Image<float> to, Stream& stream) {
  const Index plane = from.n1 * from.n2;
  require<SpaceError>(
      from.n0 == to.n0 && from.n1 == to.n1 && from.n2 == to.n2 && from.s1 == from.n2 && to.s1 == to.n2,
      "copy: images of ", from.n0, " x ", from.n1, " x ", from.n2, " and ", to.n0, " x ", to.n1, " x ", to.n2,
      "; extents must be equal, lines contiguous");
  const Device device = stream.device();
  const bool whole = from.n0 == 1 || (from.s0 == plane && to.s0 == plane);
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(float); };
  if (!device.is_cuda())
    for (Index i = 0; i < from.n0; ++i) std::copy_n(from.data + i * from.s0, plane, to.data + i * to.s0);
  else if (whole)
    cuda::copy(device.ordinal(), to.data, from.data, bytes(from.n0 * plane), stream.native());
  else
    cuda::copy_pieces(device.ordinal(), to.data, bytes(to.s0), from.data, bytes(from.s0), bytes(plane),
                      static_cast<std::size_t>(from.n0), stream.native());
}

Pinned::Pinned(ConstVectorView host) {
  if (!host.space.device().is_cuda())
    memory_ = pinned(host.data, static_cast<std::size_t>(host.space.size()), 0);
}

PinArrays::PinArrays(Device by) : before_(std::exchange(pinned_by, by)) {}
PinArrays::~PinArrays() { pinned_by = before_; }

KeepArrays::KeepArrays() { KeptBlocks::all().begin(); }
KeepArrays::~KeepArrays() { KeptBlocks::all().end(); }

}  // namespace tandem
