#include <algorithm>

#include "../hierarchical.hpp"
#include "planes.cuh"

namespace tandem::kernels::cuda {

namespace {

double bytes(Index numbers) { return double{sizeof(float)} * (numbers + 2 * numbers_beside); }

/// A view, twice where its cells become samples.
double view_bytes(const HierarchicalViews& n) {
  const double cells = bytes(n.bins * n.rows),
               samples = bytes(n.view_columns().size() * n.view_rows().size());
  return n.wider || n.taller ? cells + samples + bytes(n.view_columns().size() * n.rows) : cells;
}

/// A group with as many of its views as are there at a time.
double group_bytes(const HierarchicalViews& n, const ViewGroup& group) {
  double most = 0;
  for_some_views(n, group, [&](std::span<const std::size_t> views, bool) {
    double sum = views.size() * sizeof(Joint);
    for (const std::size_t view : views) sum += bytes(numbers_of(n.groups[view].turned));
    most = std::max(most, sum);
  });
  return bytes(numbers_of(group.planes)) + most + view_bytes(n);
}

}  // namespace

WorkingMemory hierarchical_memory(const HierarchicalViews& n) {
  double planes = 0;
  for (const ViewGroup& group : n.groups) planes += group.planes.size() + group.turned.size();
  WorkingMemory most{0, 0};
  for (const VoxelLines& quarter : n.quarters) {
    const ViewGroup& group = n.groups[quarter.group];
    double turned = group.children.size() * sizeof(Joint), of_one = 0, lines = 0;
    for (const std::size_t child : group.children) {
      turned += bytes(numbers_of(n.groups[child].turned));
      of_one = std::max(of_one, group_bytes(n, n.groups[child]));
    }
    for_some_lines(group, [&](Range some) { lines = std::max(lines, bytes(numbers_within(group, some))); });
    most.backward = std::max(most.backward, turned + std::max(of_one, lines));
    most.forward = std::max(most.forward, turned + std::max(of_one, bytes(numbers_of(group.planes))));
  }
  const double kept = planes * (sizeof(ParentPlane) + sizeof(ChildPlane) + sizeof(PlaneColumns));
  return {most.forward + kept, most.backward + kept};
}

}  // namespace tandem::kernels::cuda
