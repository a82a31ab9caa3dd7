#include "norms.hpp"

#include <algorithm>
#include <cmath>

#include "../core/error.hpp"
#include "algebra.hpp"
#include "gradient.hpp"
#include "random.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

double whole_norm(const Array& x, Stream& stream) { return std::sqrt(total(dot(x, x, stream))); }

}  // namespace

double operator_norm(const LinearOperator& A, int iterations, unsigned seed) {
  require<GeometryError>(iterations >= 1, "operator_norm: ", iterations, " iterations; at least 1 is needed");
  Random random(seed);
  Stream& stream = default_stream(A.domain().device());
  Array x = uniform_array(A.domain(), random);
  Array y(A.range(), stream);
  double norm = 0;
  for (int i = 0; i < iterations; ++i) {
    const double length = whole_norm(x, stream);
    if (length == 0) return 0;
    A.apply(static_cast<float>(1 / length), x, 0, y, stream);
    norm = whole_norm(y, stream);
    A.apply_adjoint(1, y, 0, x, stream);
  }
  return norm;
}

/// Takes the Rayleigh quotient |A v|^2 / |v|^2 of each block, which grows towards |A|^2 from step to step.
std::vector<double> block_norms(const LinearOperator& A, VectorView x, VectorView y, Stream& stream,
                                int iterations) {
  fill(x, 1, stream);
  for (int k = 0; k < iterations; ++k) {
    if (k > 0) A.apply_adjoint(1, y, 0, x, stream);
    std::vector<float> scale;
    for (const double length : norm(x, stream))
      scale.push_back(length > 0 ? static_cast<float>(1 / length) : 0.0f);
    axpby(scale, x, 0, x, stream);  // now x has the length 1 in each block
    A.apply(1, x, 0, y, stream);
  }
  std::vector<double> stretched = norm(y, stream);
  const std::vector<double> unit = norm(x, stream);
  for (std::size_t k = 0; k < unit.size(); ++k) stretched[k] = unit[k] > 0 ? stretched[k] / unit[k] : 0;
  return stretched;
}

Array row_sums(const LinearOperator& A) {
  Stream& stream = default_stream(A.domain().device());
  Array ones(A.domain(), stream);
  fill(ones, 1, stream);
  return A * ones;
}

Array column_sums(const LinearOperator& A) { return row_sums(adjoint(A)); }

std::vector<float> least_sums(const Array& sums, Stream& stream) {
  const Space all = sums.space().whole();
  const double per_block = 1.0 * all.size() / all.block_count();
  std::vector<float> floor;
  for (double n : norm(sums, stream)) floor.push_back(static_cast<float>(1e-6 * n / std::sqrt(per_block)));
  return floor;
}

std::vector<bool> drop_negative(VectorView sums, Stream& stream) {
  constexpr double rounding = 1e-12;  // share of the squares
  const std::vector<double> all = dot(sums, sums, stream);
  clamp_below(sums, 0, stream);
  const std::vector<double> rest = dot(sums, sums, stream);
  std::vector<bool> any;
  for (std::size_t k = 0; k < all.size(); ++k) any.push_back(all[k] - rest[k] > rounding * all[k]);
  return any;
}

Array inverse_sums(Array sums, Stream& stream, std::vector<bool> negative) {
  constexpr double share = 0.2;  // six taps leave less than this of a whole sum where most are cut off
  const std::vector<bool> here = drop_negative(sums, stream);
  std::vector<float> least = least_sums(sums, stream);
  const std::vector<double> squares = dot(sums, sums, stream), lengths = sum_lengths(sums, stream);
  negative.resize(least.size(), false);
  for (std::size_t k = 0; k < least.size(); ++k)
    if (here[k] || negative[k]) least[k] = static_cast<float>(share * squares[k] / lengths[k]);
  reciprocal_or_zero(sums, least, stream);
  return sums;
}

}  // namespace tandem
