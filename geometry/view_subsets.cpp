#include "view_subsets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "../core/error.hpp"

namespace tandem {

namespace {

/// 0 .. count - 1, sorted by a number of each; equal ones keep their order.
template <class Key>
std::vector<Index> sorted_by(Index count, const Key& key) {
  std::vector<double> keys;
  for (Index k = 0; k < count; ++k) keys.push_back(key(k));
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& all, std::span<const Index> some) {
  std::vector<T> values;
  for (const Index k : some) values.push_back(all[static_cast<std::size_t>(k)]);
  return values;
}

}  // namespace

std::vector<std::vector<Index>> view_subsets(std::span<const double> angles, double period, Index count) {
  const auto views = static_cast<Index>(angles.size());
  require<GeometryError>(count >= 1 && count <= views, "subsets: ", count, " of ", views,
                         " views; a number from 1 to the number of views is needed");
  const std::vector<Index> by_angle = sorted_by(views, [&](Index view) {
    const double angle = std::fmod(angles[static_cast<std::size_t>(view)], period);
    return angle < 0 ? angle + period : angle;
  });
  // the k-th subset that is gone through is as far along as the k-th multiple of the ratio among all
  // multiples
  const std::vector<Index> multiples = sorted_by(count, [](Index k) {
    const double multiple = static_cast<double>(k) / std::numbers::phi;
    return multiple - std::floor(multiple);
  });
  std::vector<std::vector<Index>> subsets(static_cast<std::size_t>(count));
  for (Index place = 0; place < count; ++place) {
    std::vector<Index>& subset =
        subsets[static_cast<std::size_t>(multiples[static_cast<std::size_t>(place)])];
    for (Index k = place; k < views; k += count) subset.push_back(by_angle[static_cast<std::size_t>(k)]);
    std::sort(subset.begin(), subset.end());
  }
  return subsets;
}

Scan with_views(Scan scan, std::span<const Index> views) {
  std::visit(
      [&](auto& s) {
        s.angles = chosen(s.angles, views);
        if constexpr (requires { s.view_shift_bins; })
          if (!s.view_shift_bins.empty()) s.view_shift_bins = chosen(s.view_shift_bins, views);
      },
      scan);
  return scan;
}

}  // namespace tandem
