#pragma once

#include <array>
#include <functional>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/comm.hpp"
#include "../../operators/projector.hpp"
#include "job.hpp"

// How volumes leave vectors that are split over ranks (the route `ranks`), and come into them. No rank ever
// has all of one.

namespace tandem::pipeline {

/// Each rank gets a block of values of each other one. `block_for`: what this rank has for another one;
/// `take`: puts what another one sent, of `size_from` values, into its place.
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
  /// All ranks: these slices with all lines that ranks solve, (slice, y, x) on the host, from the strips that
  /// ranks have. Of no slices one that nobody uses.
  Array slab_of(const Array& strip) const;
  /// All ranks: the other way round. Both vectors lie on the host.
  void strip_of(const Array& slab, Array& strip) const;

 private:
  Range slices(int rank) const;
  Range lines(int rank) const;
  std::size_t size_of_block(Range slices, Range lines) const;
  Index place_in_strip(Range slices, Range lines) const;
  template <class Copy>
  void for_each_slice(Range lines, const Copy& copy) const;

  Comm ranks_;
  std::array<Index, 3> size_;  ///< of all that is solved, x, y, z
  Index together_;             ///< lines at whose multiples strips begin
  Index written_, first_;      ///< slices that are written: how many, and which is the first
};

}  // namespace tandem::pipeline
