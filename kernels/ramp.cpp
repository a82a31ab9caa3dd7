#include "ramp.hpp"

#include <cmath>
#include <numbers>

namespace tandem::kernels {

std::complex<double> phase_of(Index k, Index length, double shift) {
  const Index frequency = k <= length / 2 ? k : k - length;
  const double angle = -2 * std::numbers::pi * frequency * shift / length;
  // the highest frequency has no partner: what keeps a real row real is the cosine
  return {std::cos(angle), 2 * k == length ? 0 : std::sin(angle)};
}

FilterSides sides_of(const RowFilter& filter, bool adjoint, const Shape& in, const Shape& out,
                     const float* cells, const float* rays) {
  const auto [views, fewer, shorter] = adjoint ? out : in;
  const auto [same, more, longer] = adjoint ? in : out;
  const Range own{filter.first_row, filter.first_row + fewer};
  const FilterSide before{
      filter.first_bin, shorter, filter.first_row, {0, fewer}, fewer, longer, cells, rays},
      after{0, longer, 0, own, more, longer, filter.cells_after ? cells : nullptr, nullptr};
  return adjoint ? FilterSides{after, before} : FilterSides{before, after};
}

Index transform_length(Index count) {
  for (Index n = count + count % 2;; n += 2) {
    Index rest = n;
    for (Index prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

}  // namespace tandem::kernels
