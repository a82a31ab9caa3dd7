#pragma once

// What tests on a GPU share. They are skipped where no GPU is.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../support/operators.hpp"

namespace tandem::test {

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (devices().size() < 2) GTEST_SKIP() << "no GPU here";
  }
  const Device gpu = Device::cuda(0), cpu = Device::cpu();
};

inline Array random_array(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return static_cast<float>(random.uniform()) - 0.3f; });
}

inline double relative_error(const Array& a, const Array& truth) {
  const Array here = on_device(a, Device::cpu()), there = on_device(truth, Device::cpu());
  double difference = 0, size = 0;
  for (Index i = 0; i < here.size(); ++i) {
    difference += std::pow(static_cast<double>(here.data()[i]) - there.data()[i], 2);
    size += std::pow(static_cast<double>(there.data()[i]), 2);
  }
  return std::sqrt(difference / size);
}

inline bool same_bits(const Array& a, const Array& b) {
  const Array x = on_device(a, Device::cpu()), y = on_device(b, Device::cpu());
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * 4) == 0;
}

/// 53 odd angles, an axis off the middle, rows with axes of their own.
inline ParallelBeam odd_scan(Index bins, Index rows) {
  ParallelBeam scan = scan_of(53, rows, bins);
  if (bins < 7) scan.detector.axis_bin = 0.3;
  return scan;
}

}  // namespace tandem::test
