#pragma once

#include <array>
#include <functional>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/comm.hpp"
#include "../../operators/projector.hpp"
#include "job.hpp"

// How volumes are gathered from vectors that are split over ranks (the route `ranks`), and scattered to them.
// No rank ever has a whole volume.

namespace tandem::pipeline {

/// An exchange in which each rank gets a block of values from each other rank. `block_for` fills the block
/// that goes to another rank. `take` puts a block of `size_from` values from another rank into its place.
struct Exchange {
  std::function<void(int rank, std::vector<float>& block)> block_for;
  std::function<std::size_t(int rank)> size_from;
  std::function<void(int rank, const std::vector<float>& block)> take;
};

void exchange_all(const Comm& ranks, const Exchange& how);

/// A volume that ranks solve as strips of lines, and write as slabs of whole slices.
class RankSlabs {
 public:
  RankSlabs(const Comm& ranks, const Job& job)
      : ranks_(ranks),
        size_(job.solved.size),
        together_(lines_together(job.scan)),
        written_(job.grid.size[2]),
        first_(job.inside[2]) {}

  Range own() const { return slices(ranks_.rank()); }  ///< the slices that this rank writes, perhaps none
  /// Collective. The slices of this rank with all lines that are solved, (slice, y, x) on the host, from the
  /// strips of all ranks. A rank without slices gets one slice, which is not used.
  Array slab_of(const Array& strip) const;
  /// Collective. Does the reverse: fills the strip of this rank from the slabs of all. Both vectors lie on
  /// the host.
  void strip_of(const Array& slab, Array& strip) const;

 private:
  Range slices(int rank) const;
  Range lines(int rank) const;
  std::size_t size_of_block(Range slices, Range lines) const;
  Index place_in_strip(Range slices, Range lines) const;
  template <class Copy>
  void for_each_slice(Range lines, const Copy& copy) const;

  Comm ranks_;
  std::array<Index, 3> size_;  ///< voxels of the solved grid, x, y, z
  Index together_;             ///< lines at whose multiples strips begin
  Index written_, first_;      ///< number of slices that are written, and the first one
};

}  // namespace tandem::pipeline
