#pragma once

#include "../columns.hpp"
#include "../stripe_method.hpp"

namespace tandem::pipeline::stripes {

/// Work of some of Vo's methods, in this order.
struct GpuColumns {
  std::optional<DeadStripes> dead{};  ///< its `norm` adds `large`
  std::optional<LargeStripes> large{};
  std::optional<double> slow_sigma{};  ///< sorting is of the slow part alone (Vo 2)
  std::optional<Sorting> sorting{};
};

/// The same on a GPU, with the results of the CPU. The columns of some rows at a time are turned into lines;
/// what stands out is decided on the CPU, by a few numbers of each column.
GpuWork on_gpu(const GpuColumns& how);

/// The bytes that this holds on a GPU beside data (view, row, bin).
double gpu_bytes(const GpuColumns& how, Shape shape);

/// Interpolates the columns that `marks_of(row)` marks, of data (view, row, bin) on a GPU. @returns how many
/// of each row
std::vector<Index> interpolate_columns(const Image<float>& y,
                                       const std::function<std::vector<bool>(Index)>& marks_of,
                                       Stream& stream);

/// The number that is added to each column of a sinogram, from the means of all columns.
using ColumnChanges = std::function<std::vector<double>(std::span<const double> means)>;
GpuWork on_gpu(const ColumnChanges& changes);

}  // namespace tandem::pipeline::stripes
