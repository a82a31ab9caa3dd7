#include "scratch.hpp"

#include <array>
#include <new>
#include <utility>

namespace tandem::kernels::cpu {

namespace {

constexpr std::size_t alignment = 64;

/// The head that stands before the memory.
struct alignas(alignment) Head {
  std::size_t bytes;  ///< size of the memory
};

void release(Head* block) { ::operator delete (block, std::align_val_t{alignment}); }

/// Memory that one thread has given back, the latest first. There is room for the lines of a transform, and
/// for what the transform takes itself.
struct Waiting {
  std::array<Head*, 3> blocks{};
  Waiting() = default;
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    for (Head* block : blocks) release(block);
  }
};

thread_local Waiting waiting;

}  // namespace

void* take_scratch(std::size_t bytes) {
  for (Head*& block : waiting.blocks)
    if (block && block->bytes >= bytes && block->bytes / 2 <= bytes) return std::exchange(block, nullptr) + 1;
  const std::size_t whole = sizeof(Head) + (bytes + alignment - 1) / alignment * alignment;
  void* data = ::operator new (whole, std::align_val_t{alignment});
  return new (data) Head{whole - sizeof(Head)} + 1;
}

void give_scratch(void* data) noexcept {
  if (!data) return;
  Head* block = static_cast<Head*>(data) - 1;
  for (Head*& place : waiting.blocks) std::swap(block, place);
  release(block);
}

}  // namespace tandem::kernels::cpu
