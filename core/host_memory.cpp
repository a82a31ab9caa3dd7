#include "host_memory.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "ceil_div.hpp"
#include "cuda/runtime.hpp"
#include "parallel.hpp"

namespace tandem {

namespace {

constexpr std::size_t line = 64, page = 4096,  // bytes: a cache line is an AVX-512 vector
    huge_page = std::size_t{1} << 21;
constexpr std::size_t large = std::size_t{1} << 20;  // bytes that are worth pinning and keeping

thread_local Device pinned_by = Device::cpu();

/// Touches memory page by page on all cores: the first to touch a page waits for it.
void touch(void* data, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{1} << 22;
  auto* all = static_cast<std::byte*>(data);
  parallel_for(ceil_div(bytes, piece), [&](Index k) {
    const std::size_t first = k * piece, last = std::min(bytes, first + piece);
    for (std::size_t at = first; at < last; at += page) all[at] = std::byte{0};
  });
}

/// Allocates memory. Large allocations have their own pages, so that pinning one does not pin its neighbours.
/// The largest ones ask for huge pages, if the system has them: then there are fewer pages to touch first and
/// to look up.
void* allocate(std::size_t wanted) {
  const std::size_t alignment = wanted < 4 * page ? line : page;
  const std::size_t bytes = ceil_div(wanted, alignment) * alignment;
  void* data = std::aligned_alloc(alignment, bytes);
#ifdef MADV_HUGEPAGE
  if (data && bytes >= 4 * huge_page) madvise(data, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
  return data;
}

/// A large piece of memory, and what keeps it pinned.
struct Allocation {
  void* data = nullptr;
  std::shared_ptr<void> pin = {};

  void free() {
    pin.reset();      // first
    std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): whoever has an allocation gives it back
  }
};

/// The large allocations: the ones in use that are pinned, and the ones that wait.
class LargeAllocations {
 public:
  static LargeAllocations& all() {
    static LargeAllocations one;
    return one;
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    ++keepers_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--keepers_ > 0) return;
    for (auto& [key, allocation] : waiting_) allocation.free();
    waiting_.clear();
  }
  /// An allocation that waits, or null if none does.
  void* take(std::size_t bytes, bool pinned) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find({bytes, pinned});
    if (found == waiting_.end()) return nullptr;
    Allocation allocation = std::move(waiting_.extract(found).mapped());
    if (pinned) pins_.emplace(allocation.data, std::move(allocation.pin));
    return allocation.data;
  }
  /// `pin` is null if the driver refused.
  void add_pin(const void* data, std::shared_ptr<void> pin) {
    const std::lock_guard lock(mutex_);
    pins_.emplace(data, std::move(pin));
  }
  void give(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    Allocation allocation{data};
    auto found = pins_.extract(data);
    if (found) allocation.pin = std::move(found.mapped());
    if (keepers_ > 0)
      waiting_.emplace(std::pair{bytes, !found.empty()}, std::move(allocation));
    else
      allocation.free();
  }
  bool is_pinned(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto found = pins_.find(data);
    return found != pins_.end() && found->second;
  }

 private:
  LargeAllocations() {  // a child process begins with the mutex free
    pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); }, [] { all().mutex_.unlock(); });
  }

  std::mutex mutex_;
  int keepers_ = 0;
  std::unordered_map<const void*, std::shared_ptr<void>> pins_;
  /// Allocations that wait, sorted by bytes, and by whether they should be pinned.
  std::multimap<std::pair<std::size_t, bool>, Allocation> waiting_;
};

}  // namespace

HostMemory take_host_memory(std::size_t bytes) {
  if (bytes < large) return {allocate(bytes), true};
  const bool pins = pinned_by.is_cuda();
  if (void* kept = LargeAllocations::all().take(bytes, pins)) return {kept, false};
  void* data = allocate(bytes);
  if (!pins || !data) return {data, true};
  touch(data, bytes);  // on all cores: the driver would touch page after page
  LargeAllocations::all().add_pin(data, cuda::pin(pinned_by.ordinal(), data, bytes));
  return {data, false};
}

void give_host_memory(void* data, std::size_t bytes) noexcept {
  if (bytes >= large) return LargeAllocations::all().give(data, bytes);
  std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): as above
}

bool is_pinned(const void* data) { return LargeAllocations::all().is_pinned(data); }

PinHostMemory::PinHostMemory(Device by) : before_(std::exchange(pinned_by, by)) {}
PinHostMemory::~PinHostMemory() { pinned_by = before_; }

KeepHostMemory::KeepHostMemory() { LargeAllocations::all().begin(); }
KeepHostMemory::~KeepHostMemory() { LargeAllocations::all().end(); }

}  // namespace tandem
