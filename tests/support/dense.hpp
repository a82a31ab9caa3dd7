#pragma once

#include <Eigen/Dense>
#include <limits>

#include "../../operators/linear_operator.hpp"

namespace tandem::test {

/// The place of the e-th element of block k in a vector of the space.
inline Index element(const Space& space, Index k, Index e) {
  const Shape n = space.shape();
  if (space.blocks() == Blocks::slices) return k * n[1] * n[2] + e;
  if (space.blocks() == Blocks::rows) return (e / n[2] * n[1] + k) * n[2] + e % n[2];
  return e;
}

/// The matrix of one block, of an operator whose blocks are all alike: unit vectors go through it as many at
/// a time as there are blocks. Output starts as NaN, so that one that is not written shows.
inline Eigen::MatrixXd block_matrix(const LinearOperator& A) {
  const Space from = A.domain(), to = A.range();
  const Index blocks = from.block_count(), columns = from.size() / blocks, rows = to.size() / blocks;
  Eigen::MatrixXd matrix(rows, columns);
  for (Index first = 0; first < columns; first += blocks) {
    Array x(from), y(to);
    const Index count = std::min(blocks, columns - first);
    for (Index k = 0; k < count; ++k) x.data()[element(from, k, first + k)] = 1;
    std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN());
    A.apply(1, x, 0, y, default_stream(from.device()));
    for (Index k = 0; k < count; ++k)
      for (Index r = 0; r < rows; ++r) matrix(r, first + k) = y.data()[element(to, k, r)];
  }
  return matrix;
}

/// The matrix of a whole operator, direct sums included, column by column.
inline Eigen::MatrixXd dense(const LinearOperator& A) {
  Eigen::MatrixXd matrix(A.range().size(), A.domain().size());
  for (Index j = 0; j < matrix.cols(); ++j) {
    Array x(A.domain()), y(A.range());
    x.data()[j] = 1;
    std::fill_n(y.data(), y.size(), std::numeric_limits<float>::quiet_NaN());
    A.apply(1, x, 0, y, default_stream(A.domain().device()));
    for (Index i = 0; i < matrix.rows(); ++i) matrix(i, j) = y.data()[i];
  }
  return matrix;
}

/// An operator with a matrix, on one block: for small systems.
struct MatrixOperator {
  Eigen::MatrixXf matrix;
  Space domain() const { return Space({1, 1, matrix.cols()}); }
  Space range() const { return Space({1, 1, matrix.rows()}); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream&) const {
    multiply(matrix, alpha, x, beta, y);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream&) const {
    multiply(matrix.transpose(), alpha, y, beta, x);
  }

 private:
  template <class M>
  static void multiply(const M& m, float alpha, ConstVectorView in, float beta, VectorView out) {
    const Eigen::Map<const Eigen::VectorXf> x(in.data, m.cols());
    Eigen::Map<Eigen::VectorXf> y(out.data, m.rows());
    const Eigen::VectorXf product = alpha * (m * x);
    y = beta == 0 ? product : Eigen::VectorXf(product + beta * y);
  }
};

/// The elements as a column of doubles, and back.
inline Eigen::VectorXd column(const Array& a) {
  return Eigen::Map<const Eigen::VectorXf>(a.data(), a.size()).cast<double>();
}
inline Array array_of(const Eigen::VectorXd& values, Space space) {
  Array a(std::move(space));
  Eigen::Map<Eigen::VectorXf>(a.data(), a.size()) = values.cast<float>();
  return a;
}

}  // namespace tandem::test
