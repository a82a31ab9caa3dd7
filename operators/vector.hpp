#pragma once

#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

// Flat operations over a whole Space, direct sums included. @throws SpaceError unless spaces agree.

/// <x, y> of each block (Space::block_count), summed in double in an order that only the block's extents
/// decide; waits.
std::vector<double> dot(ConstView x, ConstView y, Stream& stream);
std::vector<double> norm(ConstView x, Stream& stream);  ///< sqrt(dot(x, x)), one a block
double total(std::span<const double> blocks);           ///< sum over blocks
/// y <- a x + b y; b = 0 never reads y. Scalars: one for all, or one a block.
void axpby(std::span<const float> a, ConstView x, std::span<const float> b, View y, Stream& stream);
void axpby(float a, ConstView x, float b, View y, Stream& stream);
void multiply(ConstView x, View y, Stream& stream);  ///< y <- x y, element by element
void fill(View x, float value, Stream& stream);
/// x <- 1/x where x > floor, else 0; floor: one for all, or one a block.
void reciprocal_or_zero(View x, std::span<const float> floor, Stream& stream);
void clamp_below(View x, float lowest, Stream& stream);

}  // namespace tandem
