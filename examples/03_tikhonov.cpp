// Tikhonov: |Ax - y|^2 + 4 |Dx x|^2 + 4 |Dy x|^2 is plain least squares for a stacked operator, so any solver
// takes it. Dx and Dy, the differences of neighbours, are made here as a shift less the identity.
//
// Expected output (the last digits may differ):
//   error after 40 iterations: 0.72 plain, 0.43 damped
#include <cstdio>

#include "../operators/algebra.hpp"
#include "../solvers/cgls.hpp"
#include "few_views.hpp"

using namespace tandem;

/// Gives each pixel the value of the pixel (dy, dx) further on, or 0 from outside. Its adjoint shifts the
/// other way.
LinearOperator shift(const Space& X, Index dy, Index dx) {
  const auto by = [](Index y, Index x) {
    return [=](ConstVectorView in, VectorView out, Stream&) {
      const auto [slices, rows, columns] = in.space.shape();
      const auto inside = [&, rows = rows, columns = columns](Index j, Index i) {
        return 0 <= j && j < rows && 0 <= i && i < columns;
      };
      for (Index k = 0; k < slices * rows * columns; ++k)
        out.data[k] = inside(k / columns % rows + y, k % columns + x) ? in.data[k + y * columns + x] : 0;
    };
  };
  return make_operator(X, X, by(dy, dx), by(-dy, -dx));
}

double error_after_40(const LinearOperator& T, const Array& b, const Array& truth) {
  Cgls cgls(T, b, Array(T.domain()));
  run(cgls, max_iterations(40));
  return relative_error(cgls.solution(), truth);
}

int main() {
  auto [scan, grid, truth, y] = few_views(96, 60);
  Random random(1);
  for (Index i = 0; i < y.size(); ++i) y.data()[i] += static_cast<float>(0.2 * (random.uniform() - 0.5));

  const LinearOperator A = projector(scan, grid), one = identity(A.domain());
  const LinearOperator Dx = shift(A.domain(), 0, 1) - one, Dy = shift(A.domain(), 1, 0) - one;
  const LinearOperator T = vstack({A, 2 * Dx, 2 * Dy});
  Array b(T.range());  // y above zeros
  axpby(1, y, 0, VectorView(b).part(0), default_stream(Device::cpu()));
  const double plain = error_after_40(A, y, truth), damped = error_after_40(T, b, truth);
  std::printf("error after 40 iterations: %.2f plain, %.2f damped\n", plain, damped);
  return damped < 0.7 * plain ? 0 : 1;
}
