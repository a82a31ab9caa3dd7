#pragma once

#include <span>

#include "../../core/range.hpp"

namespace tandem::pipeline {

/// Where a window reaches over the ends of a row.
enum class Border {
  mirror,   ///< the row goes on as in a mirror at the middle of its last bin
  reflect,  ///< the row goes on as in a mirror at the end of its last bin
  own       ///< the bin in the middle of the window stands for bins that are not there
};

/// The bin that stands for bin `b` of `count`, in the window around bin `centre`.
Index bin_within(Index b, Index count, Index centre, Border border);

struct OutlierRule {
  Index size;         ///< of the window along each of its axes
  float threshold;    ///< how far from the median an outlier is, or more
  bool dark = false;  ///< whether values below the median are outliers too
  Border border = Border::mirror;
};

/// Values of `row` that are far from the median of their window become that median. The window of a bin has
/// `size` bins of each of the `lines`, which are rows as they came, as long as this one; one of them is the
/// row itself. If `size` is even, it has one bin more before the bin than behind it. If two values are in the
/// middle, the median is the larger one of an even window, and the lower one of an odd window. Values that
/// are not finite stay and do not count. @returns how many it replaced. Cost: one comparison for each value
/// of the window, and a selection where something is replaced.
Index replace_outliers(std::span<float> row, std::span<const float* const> lines, const OutlierRule& rule);

}  // namespace tandem::pipeline
