#include "view_subsets.hpp"

#include <algorithm>
#include <numbers>

#include "../core/error.hpp"

namespace tandem {

namespace {

/// Views in this order, dealt out.
std::vector<std::vector<Index>> dealt(const std::vector<Index>& order, Index count) {
  const Index views = order.size();
  require<GeometryError>(count >= 1 && count <= views, "subsets: ", count, " of ", views,
                         " views; a number from 1 to the number of views is needed");
  std::vector<double> multiples;  // multiples of the inverse golden ratio
  for (Index k = 0; k < count; ++k) multiples.push_back(k / std::numbers::phi);
  // the k-th subset that is gone through is as far along as the k-th multiple among all, modulo 1
  const std::vector<Index> turns = order_of_angles(multiples, 1);
  std::vector<std::vector<Index>> subsets(count);
  for (Index place = 0; place < count; ++place) {
    std::vector<Index>& subset = subsets[turns[place]];
    for (Index k = place; k < views; k += count) subset.push_back(order[k]);
    std::sort(subset.begin(), subset.end());
  }
  return subsets;
}

}  // namespace

std::vector<std::vector<Index>> view_subsets(const Scan& scan, Index count) {
  return dealt(order_of_views(scan), count);
}

std::vector<std::vector<Index>> view_subsets(std::span<const double> angles, double period, Index count) {
  return dealt(order_of_angles(angles, period), count);
}

Scan with_views(Scan scan, std::span<const Index> views) {
  const Index count = views_of(scan);
  require<GeometryError>(!views.empty(), "views: none is given; a scan has one at least");
  for (const Index view : views)
    require<GeometryError>(view >= 0 && view < count, "views: ", view,
                           " is not a view of the scan, which has ", count, "; count from 0");
  std::visit([&](auto& s) { keep_views(s, views); }, scan);
  return scan;
}

}  // namespace tandem
