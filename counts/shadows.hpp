#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// The mean of the counts, less the dark, that a row has behind a beam stop: scatter alone.
struct Shadow {
  double middle, mean;  ///< its middle in bins; counts
};

/// The shadows of a row in these ranges of bins. `net`: counts less the dark; cells that are not finite do
/// not count, and a range without another one has no shadow.
std::vector<Shadow> shadows_in(std::span<const float> net, std::span<const Range> bins);

/// The scatter in a bin: on the line between the middles of two shadows, and beyond them as in the nearest
/// one. @pre there is one
float scatter_at(std::span<const Shadow> shadows, Index bin);

/// What is taken from a cell with these counts: the scatter, but no more than nine tenths.
inline float taken_of(float scatter, float net) { return std::min(scatter, 0.9f * std::max(net, 0.0f)); }

/// Takes its scatter from a row of flats, less the dark, if the stop stands in their beam, too: then its
/// shadows have less than half the mean of the other cells. `variance`: that of the logarithm of each cell.
/// `covered`: bins that a stop covers in part or as a whole.
void take_scatter(std::span<float> span, std::span<float> variance, std::span<const Range> shadows,
                  std::span<const Range> covered);

/// The mean of the finite cells above 0 that no stop covers; 0 if there are none.
double mean_beside(std::span<const float> net, std::span<const Range> covered);

/// Whether one of the ranges has the bin.
inline bool is_in(std::span<const Range> ranges, Index bin) {
  return std::ranges::any_of(ranges, [bin](Range r) { return r.first <= bin && bin < r.last; });
}

}  // namespace tandem::pipeline
