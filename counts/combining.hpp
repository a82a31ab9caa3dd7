#pragma once

#include <span>
#include <string_view>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// How several frames become one: by their mean, or by the mean of what is left without the lowest and the
/// highest values of each pixel.
enum class Combining {
  mean,     ///< mean of all values
  trimmed,  ///< mean without a tenth at each end, at least one of three frames or more
  median    ///< mean of the one or the two in the middle
};

/// "mean", "median" or "trimmed"; an empty name is the mean. @throws GeometryError for any other
Combining combining_named(std::string_view name);
std::string_view name_of(Combining how);

/// One value of several, whose order is lost. NaN if there are none. @pre all are finite
double combined(std::span<double> values, Combining how);

/// The variance of `combined` for `count` normal values of variance 1: that of a trimmed mean of many values
/// (Huber, Robust Statistics, 1981, section 3.3). It is exact for the mean, and at most 4 % too low for
/// others.
double variance_of(Combining how, Index count);

}  // namespace tandem::pipeline
