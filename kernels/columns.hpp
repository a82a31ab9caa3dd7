#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"

namespace tandem::kernels {

/// The one of n elements that stands for an element beyond the ends: d c b a | a b c d | d c b a
TANDEM_HOST_DEVICE inline Index reflected(Index k, Index n) {
  if (0 <= k && k < n) return k;
  k = ((k % (2 * n)) + 2 * n) % (2 * n);
  return k < n ? k : 2 * n - 1 - k;
}

/// The same for d c b | a b c d | c b a
TANDEM_HOST_DEVICE inline Index mirrored(Index k, Index n) {
  if (0 <= k && k < n) return k;
  if (n == 1) return 0;
  const Index period = 2 * (n - 1);
  k = ((k % period) + period) % period;
  return k < n ? k : period - k;
}

/// The window of views around each view, whose mean it is compared with, to tell how much a column goes up
/// and down.
struct FluctuationBox {
  static constexpr Index before = 5, behind = 4, size = before + 1 + behind;
};

/// The columns of some sinograms in the memory of a GPU: (row, bin, view), dense.
struct ColumnShape {
  Index rows, bins, views;
  Index size() const { return rows * bins * views; }
};

/// What the removal of large stripes does to each column.
struct ColumnFactors {
  std::span<const double> factors;  ///< factor of each column
  std::span<const char> marks;      ///< whether it gets the medians
  bool divide;                      ///< whether the others are divided by their factors
};

/// Work on sinograms on a GPU that compares columns. All results are those of the CPU, to the bit, where all
/// values are finite.
struct ColumnKernels {
  /// The most views of a column that `sort` takes.
  Index most_views;
  /// How much each column goes up and down over the views, (row, bin) of y: the sum of distances to the mean
  /// of the views around each. Waits.
  std::vector<float> (*fluctuations)(Image<const float> y, Stream& stream);
  /// The mean of each column over the views, (row, bin). Waits.
  std::vector<double> (*means)(Image<const float> y, Stream& stream);
  /// Adds a constant (row, bin) to each column.
  void (*add)(std::span<const double> constants, Image<float> y, Stream& stream);
  /// Rows of y (view, row, bin) from `first_row` on, as columns, and back.
  void (*gather)(Image<const float> y, Index first_row, ColumnShape shape, float* columns, Stream& stream);
  void (*scatter)(const float* columns, Index first_row, ColumnShape shape, Image<float> y, Stream& stream);
  /// The values of each column in ascending order, (row, bin, rank), and the view of each rank. Equal values
  /// keep their order. @pre shape.views <= most_views
  void (*sort)(const float* columns, ColumnShape shape, float* sorted, std::uint16_t* order, Stream& stream);
  /// The median of `bins` columns, and of `ranks` ranks, around each value of (row, bin, rank), reflected at
  /// the ends. Even windows have one more before than behind, and their median is the larger one of two.
  void (*medians)(const float* sorted, ColumnShape shape, Index bins, Index ranks, float* medians,
                  Stream& stream);
  /// The mean of each column over some ranks, as a multiple of the same mean of its medians; 1 if that is 0.
  /// Waits.
  std::vector<double> (*factors)(const float* sorted, const float* medians, ColumnShape shape, Range ranks,
                                 Stream& stream);
  /// columns(order(rank)) <- medians(rank)
  void (*unsort)(const float* medians, const std::uint16_t* order, ColumnShape shape, float* columns,
                 Stream& stream);
  /// Columns that are marked get the medians, in their order, which turns round if a negative factor divides.
  /// The others are divided by their factors, if these are not 0.
  void (*replace)(const ColumnFactors& how, const float* medians, const std::uint16_t* order,
                  ColumnShape shape, float* columns, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const ColumnKernels* columns(Device device);

}  // namespace tandem::kernels
