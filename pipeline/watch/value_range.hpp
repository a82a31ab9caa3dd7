#pragma once

#include <optional>
#include <vector>

#include "../../core/comm.hpp"
#include "../../geometry/volume_grid.hpp"

namespace tandem::pipeline {

/// The attenuation that the smallest and the largest integer of a volume stand for.
struct ValueRange {
  float min = 0, max = 1;
};

/// Finds the range for integer types from a few slices, spread evenly over the volume, the first and the last
/// among them. It depends on the values of these slices alone: neither on chunks, nor on the order in which
/// they come.
///
/// It takes the 0.01st and the 99.99th percentile of each slice, and then the lowest and the highest of all
/// slices. It widens this range by a twentieth at each end, because other slices may have more. It rounds it
/// outwards to multiples of a power of ten, which is at most a hundredth of the width.
class RangeFinder {
 public:
  explicit RangeFinder(const VolumeGrid& grid);
  /// The slices to be looked at, in order; at most 16.
  const std::vector<Index>& slices() const { return slices_; }
  /// Looks at those slices of a part of the volume, (slice, y, x), that are among `slices()`.
  void look_at(Range slices, const float* volume);
  /// Collective. Adds what the other ranks have seen.
  void join(const Comm& ranks);
  /// The range; empty until all slices have been looked at.
  std::optional<ValueRange> range() const;

 private:
  void look_at(const float* slice);

  Index area_;
  std::vector<Index> slices_;
  std::vector<ValueRange> seen_;
};

/// A range that holds [low, high], widened and rounded as above, with min < max. If low = high, the range
/// goes from there to as much more; if both are 0, to 1.
ValueRange widened(double low, double high);

}  // namespace tandem::pipeline
