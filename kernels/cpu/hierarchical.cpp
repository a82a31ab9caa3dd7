// The hierarchical pair (docs/kernels/hierarchical.md; the idea is that of Xiao, Bresler and Munson 2003, and
// George and Bresler 2007). A group of views is a stack of planes t = const of (column u, row v). Its
// children, views or groups, are read at (u', t', v'), by taps w along each axis (formulas in
// kernels/hierarchical.hpp):
//
//   group(t, u, v) = sum over children of sum over i, j, k of w_i(u') w_j(t') w_k(v') child(t_j, u_i, v_k)
//
// where t' is that of column u_i, and v' that of u_i and t_j. The back-projection goes depth first:
//
//   gathered(group):
//     a view:  its cells as (column, row), times their slant                       columns_of_view
//     for each child:
//       turned[child](t, u, v) = sum over k of w_k(v') gathered(child)(t, u, v_k)            turned_from
//     for 32 planes t of the group at a time (Merge::gather):
//       for each block of 32 rows, for each 8 of the planes, in parallel:
//         for each plane t, for each child in its order:
//           for each column i that the plane reads:
//             line[i] = sum over j of w_j(t') turned[child](t_j, i)                           mix_planes
//           for each column u:  sums[t][u] += sum over i of w_i(u') line[i]                  mix_columns
//   for each quarter of the circle:  the same, where planes are lines of voxels along x or y
//     columns of the volume += sums along v                                                    add_lines
//
// A line[i] and a sums[t][u] are some rows, which are SIMD lanes and have one weight; only the passes along v
// mix rows. What a block of rows reads stays in the cache. Weights of a view along u have its factor
// (`ViewWeight`). The projection is the transpose: the same passes with the same weights, in reverse order.

#include <algorithm>
#include <utility>
#include <vector>

#include "../../core/parallel.hpp"
#include "../cone_hats.hpp"
#include "../launches.hpp"
#include "hierarchical_columns.hpp"
#include "tables.hpp"
#include "update.hpp"

namespace tandem::kernels::cpu {

namespace {

std::vector<Array> children_turned(const HierarchicalViews& n, const ViewGroup& group,
                                   Image<const float> projections);

/// The back-projection of the views of a group.
Array gathered(const HierarchicalViews& n, const ViewGroup& group, Image<const float> projections) {
  if (group.is_view()) return columns_of_view(n, group.view, projections);
  const std::vector<Array> turned = children_turned(n, group, projections);
  Array sums = numbers(kernels::numbers_of(group.planes));
  for_some_planes(group, [&](Range planes) {
    Merge(n, group, planes).gather(turned, sums.data() + first_number(group, planes));
  });
  return sums;
}

std::vector<Array> children_turned(const HierarchicalViews& n, const ViewGroup& group,
                                   Image<const float> projections) {
  std::vector<Array> turned;
  for (const std::size_t child : group.children)
    turned.push_back(turned_from(n, n.groups[child], group, gathered(n, n.groups[child], projections)));
  return turned;
}

void backward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream&) {
  note_launch("hierarchical backward");
  Array columns = numbers(n.nx * n.ny * n.nz);
  for (const VoxelLines& quarter : n.quarters) {
    const ViewGroup& group = n.groups[quarter.group];
    const std::vector<Array> turned = children_turned(n, group, projections);
    for_some_planes(group, [&](Range lines) {
      Array sums = numbers(numbers_of(group, lines));
      Merge(n, group, lines).gather(turned, sums.data());
      add_lines(n, quarter, lines, sums, columns);
    });
  }
  parallel_for(n.ny, [&](Index iy) {
    for (Index iz = 0; iz < n.nz; ++iz)
      for (Index ix = 0; ix < n.nx; ++ix)
        update(volume(iz, iy, ix), alpha * columns.data()[(iy * n.nx + ix) * n.nz + iz], beta);
  });
}

/// The projections that views are added to.
struct Projections {
  Image<float> image;
  float alpha, beta;
};

/// Zeros for what the children of a group get.
std::vector<Array> children_of_zeros(const HierarchicalViews& n, const ViewGroup& group) {
  std::vector<Array> turned;
  for (const std::size_t child : group.children)
    turned.push_back(numbers(kernels::numbers_of(n.groups[child].turned)));
  return turned;
}

void scatter_to_children(const HierarchicalViews& n, const ViewGroup& group, std::vector<Array> turned,
                         const Projections& to);

/// Hands the numbers of a group of views on to its views.
void scatter(const HierarchicalViews& n, const ViewGroup& group, Array data, const Projections& to) {
  if (group.is_view()) {
    data = bins_from_columns(n, std::move(data));
    parallel_for(n.rows, [&](Index row) {
      for (Index bin = 0; bin < n.bins; ++bin)
        update(
            to.image(group.view, row, bin),
            to.alpha * static_cast<float>(ray_length(n, row, bin) / n.sdd) * data.data()[bin * n.rows + row],
            to.beta);
    });
    return;
  }
  std::vector<Array> turned = children_of_zeros(n, group);
  for_some_planes(group, [&](Range planes) {
    Merge(n, group, planes).scatter(data.data() + first_number(group, planes), turned);
  });
  data = numbers(1);
  scatter_to_children(n, group, std::move(turned), to);
}

void scatter_to_children(const HierarchicalViews& n, const ViewGroup& group, std::vector<Array> turned,
                         const Projections& to) {
  for (std::size_t k = 0; k < turned.size(); ++k) {
    const ViewGroup& child = n.groups[group.children[k]];
    Array data = turned_back(n, child, group, turned[k]);
    turned[k] = numbers(1);
    scatter(n, child, std::move(data), to);
  }
}

void forward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream&) {
  note_launch("hierarchical forward");
  Array columns = numbers(n.nx * n.ny * n.nz);
  parallel_for(n.ny, [&](Index iy) {
    for (Index iz = 0; iz < n.nz; ++iz)
      for (Index ix = 0; ix < n.nx; ++ix) columns.data()[(iy * n.nx + ix) * n.nz + iz] = volume(iz, iy, ix);
  });
  for (const VoxelLines& quarter : n.quarters) {
    const ViewGroup& group = n.groups[quarter.group];
    std::vector<Array> turned = children_of_zeros(n, group);
    for_some_planes(group, [&](Range lines) {
      Array values = numbers(numbers_of(group, lines));
      spread_lines(n, quarter, lines, values, columns);
      Merge(n, group, lines).scatter(values.data(), turned);
    });
    scatter_to_children(n, group, std::move(turned), {projections, alpha, beta});
  }
}

// ---- memory

double bytes(double floats) { return sizeof(float) * floats; }

/// The most that is held at once while a group is gathered, or scattered: its own numbers, those of its
/// children behind the pass along v, and what one child at a time takes.
double group_bytes(const HierarchicalViews& n, const ViewGroup& group, Index own) {
  if (group.is_view()) return bytes(own);
  double turned = 0, most = 0;
  for (const std::size_t k : group.children) {
    const ViewGroup& child = n.groups[k];
    turned += bytes(kernels::numbers_of(child.turned));
    most = std::max(most, group_bytes(n, child, kernels::numbers_of(child.planes)));
  }
  return turned + std::max(most, bytes(own) + merge_bytes(n, group));
}

}  // namespace

WorkingMemory hierarchical_memory(const HierarchicalViews& n) {
  double most = 0;
  for (const VoxelLines& quarter : n.quarters) {
    const ViewGroup& group = n.groups[quarter.group];
    Index lines = 0;
    for_some_planes(group, [&](Range planes) { lines = std::max(lines, numbers_of(group, planes)); });
    most = std::max(most, group_bytes(n, group, lines));
  }
  const double all = most + bytes(n.nx * n.ny * n.nz);
  return {all, all};
}

namespace hierarchical_variants {

HierarchicalVariant hierarchical() {
  return {.name = "hierarchical",
          .grades = {{Precision::float32, true, bounds::passes}},
          .forward = forward,
          .backward = backward,
          .working_memory = nullptr,
          .kernels = [](Device) {
            return std::vector<std::string>{"hierarchical forward", "hierarchical backward"};
          }};
}

}  // namespace hierarchical_variants

}  // namespace tandem::kernels::cpu
