// Columns of the hierarchical pair (docs/kernels/hierarchical.md): from the cells of a view, along v from
// planes of a child to turned ones, and from lines of voxels to the volume; each pass with its transpose.

#include "hierarchical_columns.hpp"

#include <algorithm>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../cone_hats.hpp"

namespace tandem::kernels::cpu {

namespace {

constexpr Index columns_a_task = 64;

/// A view as (bin, row), each ray multiplied by its length over the distance of source and detector.
Array bins_of_view(const HierarchicalViews& n, int view, Image<const float> projections) {
  Array data = numbers(n.bins * n.rows);
  parallel_for(ceil_div(n.bins, columns_a_task), [&](Index task) {
    for (Index row = 0; row < n.rows; ++row)
      for (Index bin = task * columns_a_task; bin < std::min((task + 1) * columns_a_task, n.bins); ++bin)
        data.data()[bin * n.rows + row] =
            static_cast<float>(ray_length(n, row, bin) / n.sdd) * projections(view, row, bin);
  });
  return data;
}

/// use(sample, cell, weight) for all weights that make samples of the cells of a line, in the order of
/// samples and cells.
template <class Use>
void for_thinned(const Thinning& thin, const Use& use) {
  for (Index i = 0; i < thin.samples.size(); ++i)
    for (int k = 0; k < thin.count; ++k)
      if (const float weight = thin.weights[i * thin.count + k]; weight != 0)
        use(i, thin.cells[i] + k, weight);
}

/// body(columns) for all columns of a child's planes, in parallel.
template <class Body>
void for_column_tasks(const ViewGroup& child, const Body& body) {
  Range all = child.turned[0].columns;
  for (const DisparityPlane& p : child.turned) widen(all, p.columns);
  parallel_for(ceil_div(all.size(), columns_a_task), [&](Index task) {
    const Index first = all.first + task * columns_a_task;
    body(Range{first, std::min(first + columns_a_task, all.last)});
  });
}

/// A column of a child's plane, and the same column behind the pass along v.
struct ColumnTurn {
  Index plane_offset, turned_offset;  ///< where their first numbers lie
  Index count, turned_count;          ///< how many numbers they have
  Line rows;                          ///< places of the turned numbers among those of the plane
};

/// use(ColumnTurn) for all columns that a plane of a child and its turned plane have, in parallel.
template <class Use>
void for_all_columns(const HierarchicalViews& n, const ViewGroup& child, const ViewGroup& parent,
                     const Use& use) {
  const FrameTurn turn = n.turn(child, parent);
  for_column_tasks(child, [&](Range some) {
    for (std::size_t k = 0; k < child.turned.size(); ++k) {
      const DisparityPlane &to = child.turned[k], &from = child.plane_of(k);
      const Range columns = both(both(some, to.columns), from.columns);
      for (Index i = columns.first; i < columns.last; ++i) {
        const Line rows = n.rows_of(turn, to.u.at(i), to.t);
        use(ColumnTurn{from.column_0() + i * from.rows.size(),
                       to.column_0() + i * to.rows.size(),
                       from.rows.size(),
                       to.rows.size(),
                       {rows.at(to.rows.first) - from.rows.first, rows.step}});
      }
    }
  });
}

/// use(offset of a column of the lines, its first voxel, its rows, places of slices among them) for the
/// columns of voxels of some lines, in parallel.
template <class Use>
void for_voxel_columns(const HierarchicalViews& n, const VoxelLines& quarter, Range lines, const Use& use) {
  const ViewGroup& group = n.groups[quarter.group];
  const Index begin = first_number(group, lines);
  parallel_for(lines.size(), [&](Index k) {
    const Index l = lines.first + k;
    const DisparityPlane& line = group.planes[l];
    const Line rows = n.rows_of(line);
    for (Index i = line.columns.first; i < line.columns.last; ++i) {
      const Index voxel = quarter.along_x ? l * n.nx + i : i * n.nx + l;
      use(line.column_0() + i * line.rows.size() - begin, voxel * n.nz, line.rows.size(),
          Line{rows.first - line.rows.first, rows.step});
    }
  });
}

}  // namespace

Array columns_of_view(const HierarchicalViews& n, int view, Image<const float> projections) {
  Array data = bins_of_view(n, view, projections);
  const Index columns = n.view_columns().size(), rows = n.view_rows().size();
  if (n.wider) {
    Array wider = numbers(columns * n.rows);
    for_thinned(*n.wider, [&](Index sample, Index cell, float weight) {
      for (Index row = 0; row < n.rows; ++row)
        wider.data()[sample * n.rows + row] += weight * data.data()[cell * n.rows + row];
    });
    data = std::move(wider);
  }
  if (n.taller) {
    Array taller = numbers(columns * rows);
    parallel_for(columns, [&](Index column) {
      for_thinned(*n.taller, [&](Index sample, Index cell, float weight) {
        taller.data()[column * rows + sample] += weight * data.data()[column * n.rows + cell];
      });
    });
    data = std::move(taller);
  }
  return data;
}

Array bins_from_columns(const HierarchicalViews& n, Array data) {
  const Index columns = n.view_columns().size(), rows = n.view_rows().size();
  if (n.taller) {
    Array cells = numbers(columns * n.rows);
    parallel_for(columns, [&](Index column) {
      for_thinned(*n.taller, [&](Index sample, Index cell, float weight) {
        cells.data()[column * n.rows + cell] += weight * data.data()[column * rows + sample];
      });
    });
    data = std::move(cells);
  }
  if (n.wider) {
    Array cells = numbers(n.bins * n.rows);
    for_thinned(*n.wider, [&](Index sample, Index cell, float weight) {
      for (Index row = 0; row < n.rows; ++row)
        cells.data()[cell * n.rows + row] += weight * data.data()[sample * n.rows + row];
    });
    data = std::move(cells);
  }
  return data;
}

Array turned_from(const HierarchicalViews& n, const ViewGroup& child, const ViewGroup& parent,
                  const Array& data) {
  Array turned = numbers(kernels::numbers_of(child.turned));
  for_all_columns(n, child, parent, [&](const ColumnTurn& at) {
    const float* own = data.data() + at.plane_offset;
    float* made = turned.data() + at.turned_offset;
    if (n.flat())
      *made = *own;
    else
      resample(n.along_v(child), at.rows, own, at.count, made, at.turned_count);
  });
  return turned;
}

Array turned_back(const HierarchicalViews& n, const ViewGroup& child, const ViewGroup& parent,
                  const Array& turned) {
  Array data = numbers(kernels::numbers_of(child.planes));
  for_all_columns(n, child, parent, [&](const ColumnTurn& at) {
    float* own = data.data() + at.plane_offset;
    const float* given = turned.data() + at.turned_offset;
    if (n.flat())
      *own += *given;
    else
      spread_samples(n.along_v(child), at.rows, own, at.count, given, at.turned_count);
  });
  return data;
}

Index first_number(const ViewGroup& group, Range planes) { return group.planes[planes.first].offset; }
Index numbers_of(const ViewGroup& group, Range planes) {
  return group.planes[planes.last - 1].end() - first_number(group, planes);
}

void add_lines(const HierarchicalViews& n, const VoxelLines& quarter, Range lines, const Array& sums,
               Array& columns) {
  for_voxel_columns(n, quarter, lines, [&](Index from, Index voxels, Index count, Line rows) {
    if (n.flat())
      columns.data()[voxels] += sums.data()[from];
    else
      resample(n.across, rows, sums.data() + from, count, columns.data() + voxels, n.nz);
  });
}

void spread_lines(const HierarchicalViews& n, const VoxelLines& quarter, Range lines, Array& values,
                  const Array& columns) {
  for_voxel_columns(n, quarter, lines, [&](Index to, Index voxels, Index count, Line rows) {
    if (n.flat())
      values.data()[to] = columns.data()[voxels];
    else
      spread_samples(n.across, rows, values.data() + to, count, columns.data() + voxels, n.nz);
  });
}

}  // namespace tandem::kernels::cpu
