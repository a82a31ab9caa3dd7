#pragma once

#include <span>
#include <vector>

#include "../core/array.hpp"

namespace tandem::kernels {

/// Products of data (view, row, bin) on a GPU, with the results of the CPU.
struct ProductKernels {
  /// The sum of each view of each row over the bins, (view, row). Waits.
  std::vector<double> (*sums_of_views)(Image<const float> y, Stream& stream);
  /// y <- y other. Waits. @returns the smallest product of each row
  std::vector<float> (*multiply)(Image<const float> other, Image<float> y, Stream& stream);
  /// y <- sqrt(max(0, y + the lift of its row)), in double.
  void (*roots)(std::span<const double> lifts, Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const ProductKernels* products(Device device);

}  // namespace tandem::kernels
