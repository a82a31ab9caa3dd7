#pragma once

#include <span>
#include <vector>

#include "columns.hpp"
#include "unfused.hpp"

namespace tandem::kernels {

/// A sum of columns that lie `step` bins apart: weights[k] times column b + k step, over k.
struct ColumnSum {
  static constexpr int most = 5;
  int count;
  Index step;
  float weights[most];

  /// How many bins have no such sum, because the row ends.
  Index reach() const { return (count - 1) * step; }
  /// The sum in one view; `column(k)` is the value of its k-th column.
  template <class Column>
  TANDEM_HOST_DEVICE float operator()(const Column& column) const {
    float sum = 0;
    for (int k = 0; k < count; ++k) sum = plus_product(sum, weights[k], column(k));
    return sum;
  }
};

/// Statistics of column sums, (row, bin). A row is shorter than the data by the reach of the sum.
struct ColumnSpreads {
  std::vector<float> medians;    ///< medians over the views; of two in the middle the larger one
  std::vector<float> distances;  ///< distance to the median that has `rank` smaller ones before it
};

/// Kernels for the search for stripes on a GPU. Their results are those of the CPU, but for the last places
/// of logarithms.
struct SpreadKernels {
  /// The statistics of columns (row, bin, view). Waits. @pre shape.views <= ColumnKernels::most_views
  ColumnSpreads (*spreads)(const float* columns, ColumnShape shape, const ColumnSum& sum, Index rank,
                           Stream& stream);
  /// The medians alone, over some of the views. Waits. @pre views.size() <= ColumnKernels::most_views
  std::vector<float> (*medians)(const float* columns, ColumnShape shape, const ColumnSum& sum, Range views,
                                Stream& stream);
  /// columns <- -log(max(columns, least))
  void (*logarithms)(float least, ColumnShape shape, float* columns, Stream& stream);
  /// Subtracts a constant (row, bin) from each column.
  void (*subtract)(std::span<const double> constants, ColumnShape shape, float* columns, Stream& stream);
  /// Multiplies each column of y (view, row, bin) by its factor (row, bin).
  void (*multiply)(std::span<const float> factors, Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const SpreadKernels* column_spreads(Device device);

}  // namespace tandem::kernels
