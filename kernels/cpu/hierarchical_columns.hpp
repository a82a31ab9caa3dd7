#pragma once

#include "hierarchical_merge.hpp"

// Passes along v, and views.

namespace tandem::kernels::cpu {

/// A view as (column, row), every ray times its slant; and a view, as (bin, row), from that.
Array columns_of_view(const HierarchicalViews& n, int view, Image<const float> projections);
Array bins_from_columns(const HierarchicalViews& n, Array data);

/// A child's planes with the rows of its parent; and the transpose.
Array turned_from(const HierarchicalViews& n, const ViewGroup& child, const ViewGroup& parent,
                  const Array& data);
Array turned_back(const HierarchicalViews& n, const ViewGroup& child, const ViewGroup& parent,
                  const Array& turned);

/// Some lines of voxels from their rows: columns (y, x, slice) += them; and the transpose: rows of the lines
/// += columns.
void add_lines(const HierarchicalViews& n, const VoxelLines& quarter, Range lines, const Array& rows,
               Array& columns);
void spread_lines(const HierarchicalViews& n, const VoxelLines& quarter, Range lines, Array& rows,
                  const Array& columns);

/// How many numbers some planes of a group have, and the first of them among those of all.
Index first_number(const ViewGroup& group, Range planes);
Index numbers_of(const ViewGroup& group, Range planes);

}  // namespace tandem::kernels::cpu
