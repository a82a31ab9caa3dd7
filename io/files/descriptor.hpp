#pragma once

// Used only within io/.

#include <unistd.h>

#include <utility>

namespace tandem::io {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  int release() { return std::exchange(number_, -1); }  ///< gives the number away and no longer closes it
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace tandem::io
