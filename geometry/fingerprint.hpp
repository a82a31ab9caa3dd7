#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "detector.hpp"

namespace tandem {

/// A hash of numbers by FNV-1a with 64 bits.
class Fingerprint {
 public:
  void add(double value) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (unsigned char b : bytes) hash_ = (hash_ ^ b) * 1099511628211ull;
  }
  void add(const Detector& d) {
    for (double v : {1.0 * d.bins, 1.0 * d.rows, d.bin_pitch, d.row_pitch, d.axis_bin}) add(v);
  }
  void add(const std::vector<double>& values) {
    for (double v : values) add(v);
  }
  std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

}  // namespace tandem
