#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "device.hpp"

namespace tandem {

/// Host memory of arrays and of frames. Its values are not set.
struct HostMemory {
  void* data;  ///< null if memory does not suffice
  bool fresh;  ///< no page of it was touched yet
};

/// Takes memory that is aligned to a cache line, and to a page from 16 KiB on.
HostMemory take_host_memory(std::size_t bytes);
/// Gives back what was taken, with the same number of bytes.
void give_host_memory(void* data, std::size_t bytes) noexcept;

/// An allocator that takes host memory and does not set it, so that the threads that fill it touch it first.
template <class T>
struct UnsetAllocator {
  using value_type = T;
  UnsetAllocator() = default;
  template <class U>
  UnsetAllocator(const UnsetAllocator<U>&) {}
  T* allocate(std::size_t count) {
    void* data = take_host_memory(count * sizeof(T)).data;
    if (!data) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t count) noexcept { give_host_memory(data, count * sizeof(T)); }
  bool operator==(const UnsetAllocator&) const = default;
  void construct(T*) {}
  template <class... Values>
  void construct(T* at, Values&&... values) {
    std::construct_at(at, std::forward<Values>(values)...);
  }
};

/// A vector whose new elements are not set, unless their value is given.
template <class T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

/// Whether the memory was pinned when it was taken.
bool is_pinned(const void* data);

/// As long as it lives, memory of 1 MiB and more that this thread takes is pinned for all GPUs, through the
/// GPU `by`. If `by` is the CPU, none is. Copies from and to pinned memory run at the full rate of the bus,
/// while other work goes on. Nothing is pinned if there is no GPU or if the driver refuses.
class TANDEM_PUBLIC PinHostMemory {
 public:
  explicit PinHostMemory(Device by);
  ~PinHostMemory();
  PinHostMemory(const PinHostMemory&) = delete;
  PinHostMemory& operator=(const PinHostMemory&) = delete;

 private:
  Device before_;
};

/// As long as such an object lives, large memory that is given back waits for a caller that takes as much
/// again, pinned or not as it is. So work in chunks touches and pins its memory once. Memory that waits is
/// freed with the last such object.
class TANDEM_PUBLIC KeepHostMemory {
 public:
  KeepHostMemory();
  ~KeepHostMemory();
  KeepHostMemory(const KeepHostMemory&) = delete;
  KeepHostMemory& operator=(const KeepHostMemory&) = delete;
};

}  // namespace tandem
