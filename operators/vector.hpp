#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

// Operations on all elements of a vector, also of a direct sum. They throw a SpaceError unless the spaces
// fit. For portions (Space::portion) sums are collective: all ranks ask for them, and get those of the whole
// vector.

/// One scalar for all blocks of a vector, or one for each, which must live as long as the call.
class Scalars {
 public:
  Scalars(float all) : all_(all) {}
  template <class Each>
  requires std::convertible_to<const Each&, std::span<const float>> Scalars(const Each& each) : each_(each) {}
  Scalars(const std::vector<float>& each) : each_(each) {}
  operator std::span<const float>() const { return each_.empty() ? std::span(&all_, 1) : each_; }

 private:
  float all_ = 0;
  std::span<const float> each_{};
};

/// <x, y> for each block (Space::block_count), summed in double, in an order that only the extents of the
/// block decide. Waits for the result.
std::vector<double> dot(ConstVectorView x, ConstVectorView y, Stream& stream);
std::vector<double> norm(ConstVectorView x, Stream& stream);  ///< sqrt(dot(x, x)), one per block
/// The number of elements of each block that are NaN or infinite. Waits for the result.
std::vector<Index> count_not_finite(ConstVectorView x, Stream& stream);
double total(std::span<const double> blocks);  ///< the sum over blocks
/// y <- a x + b y. If b = 0, y is never read.
void axpby(const Scalars& a, ConstVectorView x, const Scalars& b, VectorView y, Stream& stream);
void multiply(ConstVectorView x, VectorView y, Stream& stream);   ///< y <- x y, element by element
void attenuate(ConstVectorView x, VectorView y, Stream& stream);  ///< y <- y exp(-x), element by element
void fill(VectorView x, float value, Stream& stream);
/// y <- y / x where x > floor, else `otherwise`: 1 exactly where both are equal.
void divide(ConstVectorView x, const Scalars& floor, float otherwise, VectorView y, Stream& stream);
/// y <- y x / (x + by) for x and `by` from 0 on; 0 where x is 0.
void shrink(ConstVectorView x, const Scalars& by, VectorView y, Stream& stream);
/// x <- 1/x where x > floor, else 0.
void reciprocal_or_zero(VectorView x, const Scalars& floor, Stream& stream);
void clamp_below(VectorView x, float lowest, Stream& stream);
/// x <- min(x, ends) if `above`, else max(x, ends), element by element. What is no number stays.
void clamp_each(ConstVectorView ends, bool above, VectorView x, Stream& stream);

}  // namespace tandem
