#include "norms.hpp"

#include <cmath>

#include "algebra.hpp"
#include "random.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

double whole_norm(const Array& x, Stream& stream) { return std::sqrt(total(dot(x, x, stream))); }

}  // namespace

double operator_norm(const LinearOperator& A, int iterations, unsigned seed) {
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

Array row_sums(const LinearOperator& A) {
  Stream& stream = default_stream(A.domain().device());
  Array ones(A.domain(), stream);
  fill(ones, 1, stream);
  return A * ones;
}

Array column_sums(const LinearOperator& A) { return row_sums(adjoint(A)); }

}  // namespace tandem
