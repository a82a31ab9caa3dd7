#pragma once

#include <functional>
#include <vector>

#include "../../core/array.hpp"
#include "plan.hpp"

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

/// The slices that a rank writes, perhaps none.
Range slab_of_rank(const Plan& plan);

/// All ranks: these slices with all lines that ranks solve, (slice, y, x) on the host, from the strips that
/// ranks have. Of no slices one that nobody uses.
Array slab_of(const Plan& plan, const Array& strip);

/// All ranks: the other way round. Both vectors lie on the host.
void strip_of(const Plan& plan, const Array& slab, Array& strip);

}  // namespace tandem::pipeline
