#include "hierarchical_merge.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../cone_hats.hpp"

namespace tandem::kernels::cpu {

namespace {

constexpr Index rows_a_block = 32, planes_a_task = 8;

Crossing crossing_of(const HierarchicalViews& n, const ViewGroup& parent, const ViewGroup& child,
                     Index which) {
  const DisparityPlane& plane = parent.planes[which];
  const FrameTurn turn = n.turn(child, parent);
  Crossing at{columns_read(n, turn, n.along_u(child), plane), {}, {}};
  find_across(n, turn, child.is_view(), plane, at.columns.first, at.across);
  if (child.turned.size() > 1) find_along(n, turn, child, plane.t, at.columns, at.along);
  return at;
}

template <class C, class Data>
C columns_from(const DisparityPlane& p, Index column, Range rows, Data data) {
  return {data + p.column_0() + column * p.rows.size() + rows.first - p.rows.first, p.rows.size()};
}

}  // namespace

Merge::Merge(const HierarchicalViews& n, const ViewGroup& parent, Range planes)
    : n_(n), parent_(parent), planes_(planes), crossings_(parent.children.size() * planes.size()) {
  parallel_for(crossings_.size(), [&](Index i) {
    crossings_[i] = crossing_of(n_, parent_, child(i / planes_.size()), planes_.first + i % planes_.size());
  });
  for (Index j = planes.first; j < planes.last; ++j) widen(rows_, plane(j).rows);
}

void Merge::gather(const std::vector<Array>& turned, float* sums) const {
  const Index parts = ceil_div(planes_.size(), planes_a_task);
  parallel_for(blocks() * parts, [&](Index task) {
    const Index first = planes_.first + task % parts * planes_a_task;
    std::vector<float> line;
    std::vector<ConstColumns> from;
    for (Index j = first; j < std::min(first + planes_a_task, planes_.last); ++j)
      for (std::size_t k = 0; k < turned.size(); ++k) {
        const Range rows = rows_of_block(task / parts, j);
        if (rows.size() > 0) gather(k, j, rows, turned[k].data(), column_of(j, rows, sums), line, from);
      }
  });
}

void Merge::scatter(float* values, std::vector<Array>& turned) const {
  const Index children = turned.size();
  parallel_for(blocks() * children, [&](Index task) {
    const std::size_t k = task % children;
    std::vector<float> line;
    std::vector<Columns> to;
    for (Index j = planes_.first; j < planes_.last; ++j) {
      const Range rows = rows_of_block(task / children, j);
      if (rows.size() > 0) scatter(k, j, rows, column_of(j, rows, values), turned[k].data(), line, to);
    }
  });
}

Index Merge::blocks() const { return ceil_div(rows_.size(), rows_a_block); }

Range Merge::rows_of_block(Index block, Index j) const {
  const Index first = rows_.first + block * rows_a_block;
  return both({first, first + rows_a_block}, plane(j).rows);
}

/// The first column of a plane, from these rows on; `data` begins with the first of these planes.
Columns Merge::column_of(Index j, Range rows, float* data) const {
  const DisparityPlane& p = plane(j);
  return {data + p.offset - plane(planes_.first).offset + rows.first - p.rows.first, p.rows.size()};
}

void Merge::gather(std::size_t k, Index j, Range rows, const float* from, Columns to,
                   std::vector<float>& line, std::vector<ConstColumns>& planes) const {
  const Crossing& at = crossing(k, j);
  const ViewGroup& c = child(k);
  planes.clear();
  for (const DisparityPlane& p : c.turned)
    planes.push_back(columns_from<ConstColumns>(p, at.columns.first, rows, from));
  if (c.turned.size() == 1) return mix_columns(at.across, n_.along_u(c).count, rows.size(), planes[0], to);
  line.resize(at.columns.size() * rows.size());
  const Columns between{line.data(), rows.size()};
  mix_planes(at.along, n_.along_t(c).count, rows.size(), planes, between);
  mix_columns(at.across, n_.along_u(c).count, rows.size(), between, to);
}

void Merge::scatter(std::size_t k, Index j, Range rows, ConstColumns from, float* to,
                    std::vector<float>& line, std::vector<Columns>& planes) const {
  const Crossing& at = crossing(k, j);
  const ViewGroup& c = child(k);
  planes.clear();
  for (const DisparityPlane& p : c.turned)
    planes.push_back(columns_from<Columns>(p, at.columns.first, rows, to));
  if (c.turned.size() == 1)
    return spread_columns(at.across, n_.along_u(c).count, rows.size(), from, planes[0]);
  line.assign(at.columns.size() * rows.size(), 0.0f);
  const Columns between{line.data(), rows.size()};
  spread_columns(at.across, n_.along_u(c).count, rows.size(), from, between);
  spread_planes(at.along, n_.along_t(c).count, rows.size(), between, planes);
}

double merge_bytes(const HierarchicalViews& n, const ViewGroup& group) {
  Index most = 0, widest = 0;
  for_some_planes(group, [&](Range planes) {
    Index weights = 0;
    for (const std::size_t child : group.children)
      for (Index j = planes.first; j < planes.last; ++j) {
        const DisparityPlane& plane = group.planes[j];
        const Index columns =
            columns_read(n, n.turn(n.groups[child], group), n.along_u(n.groups[child]), plane).size();
        weights +=
            plane.columns.size() * (n.along_u(n.groups[child]).count + 1) + columns * (n.depth.count + 1);
        widest = std::max(widest, columns);
      }
    most = std::max(most, weights);
  });
  return sizeof(float) * most +
         thread_count() * sizeof(float) * static_cast<double>(widest * (n.flat() ? 1 : rows_a_block));
}

}  // namespace tandem::kernels::cpu
