#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"

namespace tandem::kernels {

/// What a slice has of the two spectra of a metric.
struct SliceFactors {
  float a, b;
  /// The factor of a frequency; 0 for a slice whose a is 0.
  TANDEM_HOST_DEVICE float at(float u, float v) const { return a > 0 ? 1 / (a * u + b * v) : 0.0f; }
};

/// A symmetric map of slices: the frequencies of each are divided by a u + b v with the factors of the slice.
/// Slices are periodic after `rows` x `bins`, which may be more than they have, and are zero there.
struct SliceMetric {
  Index rows = 0, bins = 0;
  std::vector<float> u{}, v{};  ///< (row frequency, bin frequency) as in `ImageFilter`, u > 0
  KeptOnDevices kept{};
};

struct SliceMetricKernels {
  /// Maps slices in place; each has its factors. What comes out of a slice depends on it alone, to the bit.
  void (*apply)(const SliceMetric& metric, std::span<const SliceFactors> factors, Image<float> slices,
                Stream& stream);
};

/// @throws DeviceError if the build lacks the backend
const SliceMetricKernels& slice_metrics(Device device);

}  // namespace tandem::kernels
