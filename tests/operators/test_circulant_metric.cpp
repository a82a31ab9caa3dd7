// The metric of PDHG, against its matrix in double.

#include "../../operators/circulant_metric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/gradient.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"

namespace tandem {
namespace {

using Complex = std::complex<double>;

constexpr Index ny = 6, nx = 9, pixels = ny * nx;

/// The matrix F* (a u + b v) F of a slice.
Eigen::MatrixXd matrix_of(double a, double b, double between, double shear = 0) {
  constexpr double turn = 2 * std::numbers::pi;
  Eigen::MatrixXcd waves(pixels, pixels);
  Eigen::VectorXcd values(pixels);
  for (Index k = 0; k < ny; ++k)
    for (Index l = 0; l < nx; ++l) {
      const double fy = 1.0 * std::min(k, ny - k) / ny, fx = 1.0 * std::min(l, nx - l) / nx;
      const double u = 1 / std::max(std::hypot(fy, fx), 1 / std::sqrt(1.0 * pixels));
      const std::complex<double> along_x = std::polar(1.0, turn * l / nx) - 1.0,
                                 along_y = std::polar(1.0, turn * k / ny) - 1.0;
      const double v = std::norm(along_y + shear * along_x) + std::norm(along_x) + between;
      values(k * nx + l) = a * u + b * v;
      for (Index y = 0; y < ny; ++y)
        for (Index x = 0; x < nx; ++x)
          waves(y * nx + x, k * nx + l) =
              std::polar(1 / std::sqrt(1.0 * pixels),
                         turn * (fy * y * (2 * k <= ny ? 1 : -1) + fx * x * (2 * l <= nx ? 1 : -1)));
    }
  return (waves * values.asDiagonal() * waves.adjoint()).real();
}

/// 6 and 9 are products of small primes, so slices are not continued.
TEST(CirculantMetric, IsTheInverseOfItsMatrix) {
  const Space slices({2, ny, nx}, Blocks::slices), volume({2, ny, nx});
  const CirculantMetric apart(slices, true, {3, 1, 1}, 0, 0, 0), together(volume, true, {3, 1, 1}, 0, 0, 0);
  const Eigen::MatrixXd a = test::dense(apart.inverse({2, 5}, {0.5f, 3})),
                        b = test::dense(together.inverse({2}, {3}));
  const auto expect = [](const Eigen::MatrixXd& inverse, Index slice, const Eigen::MatrixXd& matrix) {
    const Eigen::MatrixXd own = inverse.block(slice * pixels, slice * pixels, pixels, pixels);
    EXPECT_LE((own * matrix - Eigen::MatrixXd::Identity(pixels, pixels)).norm(), 1e-4);
    EXPECT_EQ(inverse.block(slice * pixels, (1 - slice) * pixels, pixels, pixels).norm(), 0);
  };
  expect(a, 0, matrix_of(2, 0.5, 0)), expect(a, 1, matrix_of(5, 3, 0));
  expect(b, 0, matrix_of(2, 3, 18)), expect(b, 1, matrix_of(2, 3, 18));
  const CirculantMetric sheared(slices, true, {3, 1, 1}, -0.7f, 0, 0);
  expect(test::dense(sheared.inverse({2, 5}, {0.5f, 3})), 1, matrix_of(5, 3, 0, -0.7));
  EXPECT_NEAR(together.trace(), 2 * matrix_of(1, 0, 0).trace(), 1e-5 * together.trace());
  EXPECT_NEAR(apart.trace(), matrix_of(1, 0, 0).trace(), 1e-5 * apart.trace());
}

/// 11 and 13 are continued to 12 and 14.
TEST(CirculantMetric, IsSymmetricForAnySize) {
  const Space volume({3, 11, 13});
  const LinearOperator inverse = CirculantMetric(volume, true, {1, 1, 1}, 0, 0, 0.5).inverse({1}, {0.2f});
  EXPECT_LE(adjointness(inverse).mismatch, 1e-6);
  const Eigen::MatrixXd matrix = test::dense(inverse);
  EXPECT_LE((matrix - matrix.transpose()).norm(), 1e-6 * matrix.norm());
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix).eigenvalues().minCoeff(), 0);
}

/// Without rays and differences it is a number.
TEST(CirculantMetric, IsANumberForOtherMaps) {
  const Space volume({2, 4, 5});
  const LinearOperator inverse = CirculantMetric(volume, false, {}, 0, 3, 1).inverse({2}, {0.5f});
  const Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(40, 40) / (2 * 2 + 0.5 * 3);
  EXPECT_LE((test::dense(inverse) - expected).norm(), 1e-6);
  EXPECT_EQ(test::dense(CirculantMetric(volume, true, {}, 0, 3, 1).inverse({0}, {0.5f})).norm(), 0);
  EXPECT_THROW(CirculantMetric(gradient(volume).range(), true, {}, 0, 0, 0), SpaceError);
}

}  // namespace
}  // namespace tandem
