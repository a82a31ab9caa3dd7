#include "planes.cuh"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "../../../core/error.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr Index most_numbers = (Index{1} << 32) - 2 * numbers_beside;  // the most that `ChildPlane` counts

ParentPlane as_parent(const DisparityPlane& p) {
  return {p.t,
          p.u,
          p.column_0() - p.rows.first,
          int_of(p.columns.first),
          int_of(p.columns.size()),
          int_of(p.rows.first),
          int_of(p.rows.size())};
}

ChildPlane as_child(const DisparityPlane& p) {
  return {static_cast<unsigned>(p.column_0() - p.rows.first + numbers_beside), int_of(p.rows.size()),
          int_of(p.rows.first), int_of(p.rows.last)};
}

Steps steps_of(const HierarchicalViews& n, const ViewGroup& parent) {
  Steps steps;
  for (const std::size_t k : parent.children) {
    const FrameTurn turn = n.turn(n.groups[k], parent);
    for (const DisparityPlane& p : parent.planes) {
      if (p.columns.size() <= 0) continue;
      for (const Index end : {p.columns.first, p.columns.last - 1}) {
        const double u = p.u.at(end), by_u = turn.c + turn.u_of_child(u, p.t) * turn.s / turn.sod;
        const double step = std::abs(p.u.step * by_u / (turn.q(u, p.t) * n.step_u));
        steps.least = std::min(steps.least, step), steps.most = std::max(steps.most, step);
      }
    }
  }
  return steps;
}

template <class T>
DeviceTable<T> there(const std::vector<T>& values, const KeptOnDevices::Streams& streams) {
  return DeviceTable<T>(std::span<const T>(values), streams);
}

ThinningOnDevice there(const std::optional<Thinning>& thin, const KeptOnDevices::Streams& streams) {
  if (!thin) return {};
  return {there(thin->cells, streams), there(thin->weights, streams)};
}

}  // namespace

PlanesOnDevice planes_of(const HierarchicalViews& n, const KeptOnDevices::Streams& streams) {
  std::vector<ParentPlane> planes;
  std::vector<ChildPlane> turned;
  std::vector<PlaneColumns> columns;
  std::vector<std::size_t> first;
  std::vector<Steps> steps;
  for (const ViewGroup& group : n.groups) {
    first.push_back(planes.size());
    steps.push_back(steps_of(n, group));
    require<GeometryError>(numbers_of(group.turned) < most_numbers,
                           "hierarchical model: ", numbers_of(group.turned),
                           " numbers of a group are too many for a GPU; take fewer slices");
    for (const auto* all : {&group.planes, &group.turned})
      for (const DisparityPlane& p : *all) {
        planes.push_back(as_parent(p)), turned.push_back(as_child(p));
        columns.push_back({int_of(p.columns.first), int_of(p.columns.last)});
      }
  }
  return {there(planes, streams), there(turned, streams),  there(columns, streams), std::move(first),
          std::move(steps),       there(n.wider, streams), there(n.taller, streams)};
}

}  // namespace tandem::kernels::cuda
