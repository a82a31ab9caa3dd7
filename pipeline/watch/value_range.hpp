#pragma once

#include <optional>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/range.hpp"
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
/// Of each slice it takes the 0.01st and the 99.99th percentile, and of all slices the lowest and the
/// highest. It widens this range by a twentieth at each end, because other slices may have more, and rounds
/// it outwards to multiples of a power of ten, which is at most a hundredth of the width.
class RangeFinder {
 public:
  explicit RangeFinder(const VolumeGrid& grid);
  /// The slices that are to be looked at, in order: at most 16.
  const std::vector<Index>& slices() const { return slices_; }
  /// Looks at those of these slices, (slice, y, x), that are among them.
  void look_at(Range slices, const float* volume);
  /// All ranks: adds what the others have seen.
  void join(const Comm& ranks);
  /// The range, when all have been looked at.
  std::optional<ValueRange> range() const;

 private:
  void look_at(const float* slice);

  Index area_;
  std::vector<Index> slices_;
  std::vector<ValueRange> seen_;
};

/// A range that holds [low, high], widened and rounded as above, with min < max. If low = high, it goes from
/// there to as much more; if both are 0, to 1.
ValueRange widened(double low, double high);

}  // namespace tandem::pipeline
