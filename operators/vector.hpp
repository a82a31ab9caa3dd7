#pragma once

#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

// Flat operations over a whole Space, direct sums included. @throws SpaceError unless spaces agree.

/// <x, y> of each block (Space::block_count), summed in double in an order that only the block's extents
/// decide; waits.
std::vector<double> dot(ConstVectorView x, ConstVectorView y, Stream& stream);
std::vector<double> norm(ConstVectorView x, Stream& stream);  ///< sqrt(dot(x, x)), one a block
double total(std::span<const double> blocks);                 ///< sum over blocks
/// y <- a x + b y; b = 0 never reads y. Scalars: one for all, or one a block.
void axpby(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
           Stream& stream);
void axpby(float a, ConstVectorView x, float b, VectorView y, Stream& stream);
void multiply(ConstVectorView x, VectorView y, Stream& stream);  ///< y <- x y, element by element
void fill(VectorView x, float value, Stream& stream);
/// x <- 1/x where x > floor, else 0; floor: one for all, or one a block.
void reciprocal_or_zero(VectorView x, std::span<const float> floor, Stream& stream);
void clamp_below(VectorView x, float lowest, Stream& stream);

}  // namespace tandem
