#include "ba_gmres.hpp"

#include <cmath>

#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "solver_kind.hpp"

namespace tandem {

void BaGmres::Small::add(std::vector<double> column) {
  const std::size_t last = column.size() - 2;
  for (std::size_t i = 0; i < last; ++i) {
    const double upper = column[i], lower = column[i + 1];
    column[i] = cosines[i] * upper + sines[i] * lower;
    column[i + 1] = cosines[i] * lower - sines[i] * upper;
  }
  const double length = std::hypot(column[last], column.back());
  cosines.push_back(length > 0 ? column[last] / length : 1);
  sines.push_back(length > 0 ? column.back() / length : 0);
  column[last] = length;
  triangle.insert(triangle.end(), column.begin(), column.end() - 1);
  right.push_back(-sines[last] * right[last]);
  right[last] *= cosines[last];
}

void BaGmres::Small::resize(std::size_t columns) {
  triangle.resize(columns * (columns + 1) / 2);
  cosines.resize(columns), sines.resize(columns), right.resize(columns + 1);
}

std::vector<double> BaGmres::Small::solve() const {
  const auto at = [&](std::size_t i, std::size_t j) { return triangle[j * (j + 1) / 2 + i]; };
  std::vector<double> y(cosines.size(), 0.0);
  for (std::size_t i = y.size(); i-- > 0;) {
    double rest = right[i];
    for (std::size_t j = i + 1; j < y.size(); ++j) rest -= at(i, j) * y[j];
    y[i] = at(i, i) > 0 ? rest / at(i, i) : 0;
  }
  return y;
}

BaGmres::BaGmres(LinearOperator A, Data b, Array x0, Sums sums)
    : ResidualSolver(std::move(A), std::move(b.own), std::move(x0)),
      sums_(std::move(sums)),
      x0_(x_.clone(stream_)) {
  update_residual();
  Array s(A_.domain(), stream_);
  A_.apply_adjoint(1, r_, 0, s, stream_);
  const std::vector<double> lengths = sums_.norm(s, stream_);
  for (const double length : lengths) {
    Small small;
    small.first_gradient = length;
    small.right.push_back(length);
    small_.push_back(std::move(small));
    falls_.push_back(length * length);
  }
  normalise(std::move(s), lengths);
}

void BaGmres::normalise(Array v, const std::vector<double>& lengths) {
  constexpr double least = 0x1p-126, larger = 0x1p100;  // a smaller length has no inverse as a float
  std::vector<float> enlarge, factors;
  bool any = false;
  for (const double length : lengths) {
    const double by = length > 0 && length < least ? larger : 1;
    any = any || by > 1;
    enlarge.push_back(static_cast<float>(by));
    factors.push_back(length > 0 ? static_cast<float>(1 / (length * by)) : 0.0f);
  }
  if (any) axpby(enlarge, v, 0, v, stream_);
  axpby(factors, v, 0, v, stream_);
  basis_.push_back(std::move(v));
}

/// Takes a step of Arnoldi's process, with the modified Gram-Schmidt method. A block is at its end if its
/// gradient, or the rest of BA v, has come down to rounding: then there is no further direction.
void BaGmres::extend_basis() {
  constexpr double of_gradient = 1e-6, of_vector = 1e-5;  // rounding
  Array w(A_.domain(), stream_);
  A_.apply(1, basis_.back(), 0, r_, stream_);
  A_.apply_adjoint(1, r_, 0, w, stream_);
  const std::vector<double> whole = sums_.norm(w, stream_);
  std::vector<std::vector<double>> columns(small_.size());
  for (const Array& v : basis_) {
    const std::vector<double> shares = sums_.dot(v, w, stream_);
    std::vector<float> minus;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      columns[k].push_back(shares[k]);
      minus.push_back(static_cast<float>(-shares[k]));
    }
    axpby(minus, v, 1, w, stream_);
  }
  std::vector<double> lengths = sums_.norm(w, stream_);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    Small& small = small_[k];
    small.at_end = small.at_end || std::abs(small.right.back()) <= of_gradient * small.first_gradient;
    if (small.at_end || lengths[k] <= of_vector * whole[k]) lengths[k] = 0;
    columns[k].push_back(lengths[k]);
    if (small.at_end) columns[k].assign(columns[k].size(), 0.0);
    small.at_end = small.at_end || !(lengths[k] > 0);
    small.add(std::move(columns[k]));
  }
  normalise(std::move(w), lengths);
}

/// x <- x0 + sum of y v, for blocks that have not stopped.
void BaGmres::update_solution(const ActiveBlocks& active) {
  const std::size_t blocks = small_.size(), vectors = basis_.size() - 1;
  std::vector<float> moves(blocks, 0.0f), stays(blocks, 1.0f);
  std::vector<std::vector<float>> shares(vectors, std::vector<float>(blocks, 0.0f));
  for (std::size_t k = 0; k < blocks; ++k) {
    if (!active[k]) continue;
    moves[k] = 1, stays[k] = 0;
    const std::vector<double> y = small_[k].solve();
    for (std::size_t j = 0; j < vectors; ++j) shares[j][k] = static_cast<float>(y[j]);
    falls_[k] = std::pow(small_[k].right.back(), 2);
  }
  axpby(moves, x0_, stays, x_, stream_);
  for (std::size_t j = 0; j < vectors; ++j) axpby(shares[j], basis_[j], 1, x_, stream_);
}

void BaGmres::step(const ActiveBlocks& active) {
  extend_basis();
  update_solution(active);
  update_residual();
}

std::vector<double> BaGmres::traces() {
  Array signs(A_.range(), stream_);
  fill_with_signs(signs, 1, stream_);
  A_.apply_adjoint(1, signs, 0, x_, stream_);
  A_.apply(1, x_, 0, r_, stream_);
  std::vector<double> traces = dot(signs, r_, stream_);
  axpby(1, x0_, 0, x_, stream_);  // as it is before the first step
  axpby(1, b_, 0, r_, stream_);
  A_.apply(-1, x_, 1, r_, stream_);
  return traces;
}

SolverState BaGmres::state() {
  SolverState all{{"x", x_}, {"r", r_}, {"falls", falls_}, {"residual_norms", residual_norms_}};
  for (Array& vector : basis_) all.emplace_back("basis", vector);
  for (Small& small : small_) {
    for (std::vector<double>* some : {&small.triangle, &small.cosines, &small.sines, &small.right})
      all.emplace_back("small problem", *some);
    all.emplace_back("end", std::span(&small.at_end, 1));
  }
  return all;
}

void BaGmres::make_room(int steps) {
  basis_.erase(basis_.begin() + 1, basis_.end());
  for (int k = 0; k < steps; ++k) basis_.emplace_back(A_.domain(), stream_);
  for (Small& small : small_) small.resize(steps);
}

SolverKind ba_gmres_kind() {
  return kind_of<BaGmres>({.name = "ba-gmres",
                           .class_name = "BaGmres",
                           .help = "for pairs that do not match; keeps a volume for each of its {iterations}",
                           .docs = "Minimises |B (b - Ax)| for a B that need not be the transpose of A: see "
                                   "``unmatched_pair``.",
                           .options = {"tikhonov-weight"},
                           .pair = NeededPair::any,
                           .make = [](SolverInput input) { return made<BaGmres>(input, input.sums); }});
}

}  // namespace tandem
