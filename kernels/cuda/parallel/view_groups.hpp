#pragma once

// The groups of views that walk together through a volume (hopper/forward.cu), and where their windows begin.
// Plain C++, so that tests need no device.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../../core/ceil_div.hpp"
#include "../../../core/host_device.hpp"
#include "../../../core/rounding.hpp"
#include "parallel.hpp"

namespace tandem::kernels::cuda {

constexpr int strips = 3, strip = 8, width = strips * strip;  // pixels of a line that a block has at once
constexpr int window = 16;                                    // bins of a view that a strip can meet
constexpr int views_a_group = 8;
constexpr int tile_lines = 16;   // segments are of whole tiles
constexpr double margin = 5e-3;  // bins, more than rounding moves a strip or a position

/// Views that walk together: strips move by `drift` pixels a line.
struct Group {
  int views[views_a_group];  ///< -1: none
  float drift;
  int left;  ///< pixel where the first strip begins in the first line of a segment; even
};

/// How far strips have moved, in whole pairs of pixels so that a pair never lies in two tiles.
TANDEM_HOST_DEVICE inline int moved(float drift, int line) { return 2 * floor_int(0.5f * drift * line); }

/// The lowest bin that the strip from pixel `left` on can meet within the segment from `line0` on.
template <class View>
TANDEM_HOST_DEVICE int first_bin(const View& view, bool turned, double drift, int segment, int left,
                                 int line0) {
  const double along = turned ? view.step_y : view.step_x, across = turned ? view.step_x : view.step_y;
  const double bend = (along * drift + across) * (segment - 2);  // off the ray
  const double lowest = view.origin + along * left + across * line0 + fmin(bend, 0.0) +
                        fmin(-2 * along, 0.0) + fmin((strip - 1) * along, 0.0) + fmin(across, 0.0) -
                        view.height / view.slope;
  return floor_int(fmin(fmax(lowest - margin, -1e8), 1e8)) + 1;
}

/// The plan for the views whose rays cross the same kind of line most steeply.
struct Plan {
  int segment = 0;  ///< lines
  std::vector<Group> groups;
};

inline double along(const ParallelView& v, bool turned) { return turned ? v.step_y : v.step_x; }
inline double slope(const ParallelView& v, bool turned) {
  return -(turned ? v.step_x : v.step_y) / along(v, turned);
}

/// Width in bins that a strip covers when it moves straight along the rays: no more bins than that, rounded
/// up, lie within. The rest of the window is for views that bend away from the path of their group.
inline double straight(const ParallelView& v) {
  const double a = std::abs(v.step_x), b = std::abs(v.step_y);
  return (strip + 1) * std::max(a, b) + std::min(a, b) + 2.0 * v.height / v.slope + 2 * margin;
}

/// The views that cross that kind of line, sorted by their slopes.
inline std::vector<int> order_of(const ParallelViews& packed, bool turned) {
  std::vector<int> order;
  const auto view = [&](int v) -> const ParallelView& { return packed.views[v]; };
  for (int v = 0; v < std::ssize(packed.views); ++v)
    if ((std::abs(view(v).step_y) > std::abs(view(v).step_x)) == turned) order.push_back(v);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return slope(view(a), turned) < slope(view(b), turned); });
  return order;
}

/// Groups that are each as large as the window allows for that segment.
inline std::vector<Group> groups_of(const ParallelViews& packed, const std::vector<int>& order, bool turned,
                                    int segment) {
  std::vector<Group> groups;
  for (std::size_t first = 0; first < order.size();) {
    Group g{};
    std::fill_n(g.views, views_a_group, -1);
    const auto view = [&](std::size_t k) -> const ParallelView& { return packed.views[order[k]]; };
    double room = INFINITY;  // pixels
    std::size_t end = first;
    for (; end < order.size() && end < first + views_a_group; ++end) {
      const ParallelView& v = view(end);
      const double left = (window - straight(v)) / std::abs(along(v, turned));
      const double bend = (slope(v, turned) - slope(view(first), turned)) / 2 * segment;
      if (end > first && bend > std::min(room, left)) break;
      room = std::min(room, left);
      g.views[end - first] = order[end];
    }
    g.drift = static_cast<float>((slope(view(first), turned) + slope(view(end - 1), turned)) / 2);
    g.left = -2 * ceil_int(std::max(0.0f, g.drift) * segment / 2);
    groups.push_back(g);
    first = end;
  }
  return groups;
}

/// How many parts of a size make all; the last one may be smaller.
inline int parts_of(Index all, int size) { return int_of(ceil_div<Index>(all, size)); }

/// Columns of three strips, which move by a pixel a line at most.
inline int columns_of(Index pixels, int segment) { return parts_of(pixels + segment + 2, width); }

/// Bytes of the sums of one group.
inline Index bytes_of_group(Index segments, int columns, int slices) {
  return segments * columns * strips * views_a_group * window * slices * sizeof(float);
}

/// The plan with the segment for which blocks have least to do: long segments leave fewer sums behind, short
/// ones let more views walk together. Whatever the batch, it is the segment for 128 slices, so that the bits
/// are the same.
inline Plan plan(const ParallelViews& packed, bool turned, Index pixels, Index lines) {
  constexpr int lines_of_start_and_end = 48;
  const std::vector<int> order = order_of(packed, turned);
  Plan best;
  double least = INFINITY;
  for (int wanted = 1, last = 0;; ++wanted) {
    const int segment = parts_of(lines, wanted * tile_lines) * tile_lines,
              segments = parts_of(lines, segment);
    if (segment == last) continue;
    last = segment;
    if (wanted > 1 && bytes_of_group(segments, columns_of(pixels, segment), 128) > tensor_forward_sums)
      return best;
    std::vector<Group> groups = groups_of(packed, order, turned, segment);
    const double cost = 1.0 * groups.size() * segments * (segment + lines_of_start_and_end);
    if (cost < least) least = cost, best = {segment, std::move(groups)};
    if (segment == tile_lines) return best;
  }
}

}  // namespace tandem::kernels::cuda
