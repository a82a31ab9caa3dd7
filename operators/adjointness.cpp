#include "adjointness.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "random.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

struct InnerProducts {
  double forward, backward;  ///< <Ax, y> and <x, By>
};

InnerProducts inner_products(const LinearOperator& A, const Array& x, const Array& y) {
  Stream& stream = default_stream(A.domain().device());
  Array Ax(A.range(), stream), By(A.domain(), stream);
  A.apply(1, x, 0, Ax, stream);
  A.apply_adjoint(1, y, 0, By, stream);
  return {total(dot(Ax, y, stream)), total(dot(x, By, stream))};
}

}  // namespace

Adjointness adjointness(const LinearOperator& A, int trials, unsigned seed) {
  require<GeometryError>(trials >= 1, "adjointness: ", trials, " trials; at least 1 is needed");
  Random random(seed);
  double sum = 0, squares = 0, difference = 0, size = 0;
  for (int t = 0; t < trials; ++t) {
    const auto positive =
        inner_products(A, uniform_array(A.domain(), random), uniform_array(A.range(), random));
    const double coupling = positive.forward / positive.backward;
    sum += coupling;
    squares += coupling * coupling;
    const auto signs = inner_products(A, sign_array(A.domain(), random), sign_array(A.range(), random));
    difference += std::pow(signs.forward - signs.backward, 2);
    size += std::pow(signs.forward, 2);
  }
  const double mean = sum / trials;
  return {mean, std::sqrt(std::max(0.0, squares / trials - mean * mean)), std::sqrt(difference / size)};
}

}  // namespace tandem
