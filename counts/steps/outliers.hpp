#pragma once

#include <span>

#include "../../kernels/outliers.hpp"

namespace tandem::pipeline {

using kernels::bin_within;
using kernels::Border;
using kernels::OutlierRule;

/// Replaces values of `row` that are far from the median of their window by that median. The `lines` are rows
/// as they came, as long as this one, and one of them is the row itself. The window of a bin has `size` bins
/// of each line. If `size` is even, it has one bin more before the bin than behind it. If two values are in
/// the middle, the median is the larger one of an even window, and the lower one of an odd window. Values
/// that are not finite stay and do not count. @returns how many it replaced. Cost: one comparison for each
/// value of the window, and a selection for each value that is replaced.
Index replace_outliers(std::span<float> row, std::span<const float* const> lines, const OutlierRule& rule);

}  // namespace tandem::pipeline
