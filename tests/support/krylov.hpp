#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "../../core/space.hpp"

namespace tandem::test {

/// A well conditioned matrix: random, with twice the identity on top.
inline Eigen::MatrixXf tall_matrix(Index rows, Index columns, unsigned seed) {
  std::srand(seed);
  Eigen::MatrixXf m = Eigen::MatrixXf::Random(rows, columns) / std::sqrt(static_cast<float>(columns));
  m.topRows(columns) += 2 * Eigen::MatrixXf::Identity(columns, columns);
  return m;
}

/// An orthonormal basis of span{s, M s, ..., M^(k - 1) s}.
inline Eigen::MatrixXd krylov_basis(const Eigen::MatrixXd& m, const Eigen::VectorXd& s, int k) {
  Eigen::MatrixXd basis(s.size(), k);
  basis.col(0) = s;
  for (int i = 1; i < k; ++i) basis.col(i) = (m * basis.col(i - 1)).normalized();
  return basis.householderQr().householderQ() * Eigen::MatrixXd::Identity(s.size(), k);
}

/// The point x0 + span{s, B A s, ..., (B A)^(k - 1) s}, s = B (b - A x0), that makes |W (b - A x)| the least.
inline Eigen::VectorXd krylov_point(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B,
                                    const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                    const Eigen::VectorXd& x0, int k) {
  const Eigen::VectorXd r = b - A * x0;
  const Eigen::MatrixXd q = krylov_basis(B * A, B * r, k);
  return x0 + q * (W * A * q).colPivHouseholderQr().solve(W * r);
}

}  // namespace tandem::test
