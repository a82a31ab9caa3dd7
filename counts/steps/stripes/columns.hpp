#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../../kernels/waves.hpp"
#include "plane.hpp"
#include "spreads.hpp"

// What Vo's methods share (N. T. Vo, R. C. Atwood, M. Drakopoulos, Optics Express 26, 28396, 2018).

namespace tandem::pipeline::stripes {

/// The columns of a sinogram in ascending order.
struct SortedColumns {
  Plane values;  ///< (rank, bin)
  std::vector<std::uint32_t>
      order;  ///< (bin, rank): the view that has this rank; equal values keep their order
};
SortedColumns sorted(const Plane& sinogram);

/// Puts values (rank, bin) to the views that have these ranks, in one column.
void unsort(const Plane& values, const SortedColumns& sorted, Index bin, Plane& sinogram);

/// The median of `size` elements around each, of a line that is reflected at its ends. An even window has one
/// element more before than behind, and its median is the larger of the two in the middle.
std::vector<float> medians(std::span<const float> line, Index size);

/// The same along each row of a plane, or for size x size elements.
Plane medians_of_rows(const Plane& plane, Index size);
Plane medians_of_squares(const Plane& plane, Index size);

/// Sorting (Vo 3): sorts each column over the views, takes the median of `size` bins (or of size x size), and
/// puts the values back.
struct Sorting {
  Index size = 21;
  bool squares = false;
};
void smooth_sorted_columns(Plane& sinogram, const Sorting& how);

/// The waves that change slowly over the views, by a Gaussian of `sigma` frequencies (Vo 2).
kernels::Waves slow_waves(Index views, double sigma);

/// Marks the elements that stand out (Vo 4). A line goes through the middle half of the values in descending
/// order; its drop is the noise. If the largest value is `snr` times the noise above the line's end, all
/// elements that are more than half of that above are marked. The smallest is treated in the same way. With
/// fewer than 8 elements none is marked.
std::vector<bool> outstanding(std::span<const double> values, double snr);

/// Marks the neighbours too.
std::vector<bool> dilated(const std::vector<bool>& marks);

std::vector<double> means_of_columns(const Plane& sinogram, Range views);

void add_to_columns(Plane& sinogram, Range views, std::span<const double> constants);

/// Large stripes (Vo 5), see large.cpp.
struct LargeStripes {
  double snr = 3;
  Index size = 51;
  double drop_ratio = 0.1;
  bool norm = true;
};
/// The ranks whose values count in the means of columns.
Range heeded_ranks(const LargeStripes& how, Index views);
/// @returns how many columns were marked
Index remove_large_stripes(Plane& sinogram, const LargeStripes& how);

/// Unresponsive and fluctuating columns (Vo 6), see dead.cpp.
struct DeadStripes {
  double snr = 3;
  Index size = 51;
  bool norm = true;
};
/// Large stripes that `norm` removes.
LargeStripes large_after(const DeadStripes& how);
/// The columns to be interpolated, by how much each goes up and down.
std::vector<bool> dead_columns(std::span<const float> fluctuations, const DeadStripes& how);
Index remove_dead_stripes(Plane& sinogram, const DeadStripes& how);

/// Marks the columns that `auto` interpolates, beyond doubt. A column is marked if it changes three times as
/// much as others or a third as much, unless more than three of these lie beside each other. Columns that
/// fail are marked, too. `deviations`: distances of `beside_others`.
std::vector<bool> useless_columns(std::span<const float> fluctuations, std::span<const float> deviations);
Index remove_useless_columns(Plane& sinogram);

/// The distance of a column from the mean of two others beside it; and the rank among the distances to the
/// median over all views that counts.
ColumnSum beside_others();
Index deviation_rank(Index views);
/// Marks columns that in some views go away from those beside them, 2.5 times as far as others do and by 0.02
/// at least: their cells fail at some brightness.
std::vector<bool> failing_columns(std::span<const float> deviations, Index bins);

}  // namespace tandem::pipeline::stripes
