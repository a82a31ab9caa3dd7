#pragma once

// Sums over the members of a team, and over the ranks, that share one vector. Used only within operators/.

#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/comm.hpp"
#include "../core/parallel.hpp"

namespace tandem {

/// Calls `sum(share, of_share)` for each share of a vector, and adds up the results in the order of the
/// members, which work at the same time. If all members have a copy of the vector, only the first one is
/// asked.
template <class Number, class Sum>
void sum_over_shares(const Space& space, std::span<Number> sums, const Sum& sum) {
  const Index shares = space.spread() == Spread::split ? space.shares() : 1;
  std::vector<std::vector<Number>> found(shares, std::vector<Number>(sums.size(), Number{0}));
  on_threads(shares, [&](Index k) { sum(static_cast<int>(k), std::span<Number>(found[k])); });
  for (std::size_t b = 0; b < sums.size(); ++b) {
    sums[b] = found.front()[b];
    for (std::size_t k = 1; k < found.size(); ++k) sums[b] += found[k][b];
  }
}

/// Adds up the sums of all ranks in their order, if the space is a portion; then it is collective. Else the
/// sums stay.
template <class Number>
void sum_over_ranks(const Space& space, std::span<Number> sums) {
  if (!space.is_portion()) return;
  std::vector<double> all(sums.begin(), sums.end());
  Comm::world().all_reduce(all);
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b] = static_cast<Number>(all[b]);
}

}  // namespace tandem
