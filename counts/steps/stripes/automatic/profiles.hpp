#pragma once

#include <array>
#include <span>
#include <vector>

#include "../spreads.hpp"
#include "view_blocks.hpp"

namespace tandem::pipeline::stripes {

constexpr Index fewest_views_of_profiles = 4 * view_blocks;
constexpr std::array<Index, 3> steps_of_profiles{1, 2, 4};

/// Medians of the differences between columns that lie `steps_of_profiles` apart, over the views of each
/// block: (block, bin). A row is shorter than the data by the step.
struct BlockMedians {
  Index bins = 0;
  std::array<std::vector<float>, steps_of_profiles.size()> of_step = {};
};

/// The difference between columns.
ColumnSum difference_over(Index step);

/// The medians of columns (bin, view).
BlockMedians block_medians_of(const Plane& columns);

/// The profile of each block: numbers of the columns, up to a constant, that have these differences.
/// Differences are weighed by how little they change from block to block. `known`: what is taken out of the
/// columns.
std::vector<OfBlocks> profiles_of(const BlockMedians& medians, std::span<const double> known);

}  // namespace tandem::pipeline::stripes
