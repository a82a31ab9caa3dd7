#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "../common/device_table.cuh"
#include "passes.cuh"

namespace tandem::kernels::cuda {

/// How the columns of a parent lie on those of its children: the least and the greatest step.
struct Steps {
  double least = 1e9, most = 0;
};

struct ThinningOnDevice {
  DeviceTable<std::int32_t> first;
  DeviceTable<float> weights;
};

/// The planes of all groups, one after another: a group's own, then its turned ones.
struct PlanesOnDevice {
  DeviceTable<ParentPlane> planes;
  DeviceTable<ChildPlane> turned;     ///< turned planes, at the same places
  DeviceTable<PlaneColumns> columns;  ///< their columns, at the same places
  std::vector<std::size_t> first;     ///< first plane of each group
  std::vector<Steps> steps;           ///< steps of each group's children
  ThinningOnDevice wider, taller;
};

PlanesOnDevice planes_of(const HierarchicalViews& n, const KeptOnDevices::Streams& streams);

/// The columns and rows that some planes take together.
struct Hull {
  Range columns{}, rows{};
  explicit Hull(std::span<const DisparityPlane> planes) {
    for (const DisparityPlane& p : planes)
      if (p.columns.size() > 0 && p.rows.size() > 0) widen(columns, p.columns), widen(rows, p.rows);
  }
};

inline Index first_number(const ViewGroup& group, Range planes) { return group.planes[planes.first].offset; }
inline Index numbers_within(const ViewGroup& group, Range planes) {
  return group.planes[planes.last - 1].end() - first_number(group, planes);
}

/// Lines of voxels that are gathered at a time.
constexpr Index lines_at_once = 128;

/// Calls body(lines) for all lines of a quarter, some at a time.
template <class Body>
void for_some_lines(const ViewGroup& quarter, const Body& body) {
  const Index all = quarter.planes.size();
  for (Index first = 0; first < all; first += lines_at_once)
    body(Range{first, std::min(first + lines_at_once, all)});
}

/// Calls body(some views, whether they are the first) for all views of a group: as many at a time as take 2
/// GB behind their pass along v.
template <class Body>
void for_some_views(const HierarchicalViews& n, const ViewGroup& group, const Body& body) {
  constexpr double most = 2e9 / sizeof(float);
  const std::span<const std::size_t> all = group.children;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    double numbers = 0;
    for (last = first; last < all.size(); ++last) {
      numbers += numbers_of(n.groups[all[last]].turned);
      if (last > first && numbers > most) break;
    }
    body(all.subspan(first, last - first), first == 0);
  }
}

}  // namespace tandem::kernels::cuda
