#include "beam_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/parallel.hpp"

namespace tandem::pipeline {

namespace {

constexpr double good = 1e-6;
constexpr Index fewest = 32, most = 512;  // steps

double sum_over(const BeamTable::Beam& beam, double main, double dense) {
  double sum = 0;
  for (const auto& [share, by_main, by_dense] : beam)
    sum += share * std::exp(-by_main * main - by_dense * dense);
  return sum;
}

/// Weights of the value and the slope at the left, and of those at the right, at a part of a step.
std::array<double, 4> hermite(double t) {
  const double rest = 1 - t;
  return {rest * rest * (1 + 2 * t), t * rest * rest, t * t * (3 - 2 * t), -t * t * rest};
}

}  // namespace

BeamTable::BeamTable(Beam beam, double most_main, double most_dense) : beam_(std::move(beam)) {
  if (beam_.empty()) return;
  for (Index steps = fewest; steps <= most; steps *= 2) {
    main_ = steps, dense_ = most_dense > 0 ? steps : 0;
    step_main_ = most_main / steps, step_dense_ = most_dense > 0 ? most_dense / steps : 1;
    nodes_.resize((main_ + 1) * (dense_ + 1));
    parallel_for(dense_ + 1, [&](Index j) {
      for (Index i = 0; i <= main_; ++i) nodes_[j * (main_ + 1) + i] = node(i * step_main_, j * step_dense_);
    });
    if (largest_error() < good) return;
  }
  nodes_.clear();
}

BeamTable::Node BeamTable::node(double main, double dense) const {
  double sum = 0, by_main = 0, by_dense = 0, by_both = 0;
  for (const auto& [share, a, b] : beam_) {
    const double part = share * std::exp(-a * main - b * dense);
    sum += part, by_main += a * part, by_dense += b * part, by_both += a * b * part;
  }
  by_main /= sum, by_dense /= sum, by_both /= sum;
  return {-std::log(sum), step_main_ * by_main, step_dense_ * by_dense,
          step_main_ * step_dense_ * (by_main * by_dense - by_both)};
}

/// @pre both lie in the table
double BeamTable::interpolated(double main, double dense) const {
  const double x = main / step_main_, y = dense / step_dense_;
  const Index i = std::min<Index>(static_cast<Index>(x), main_ - 1),
              j = dense_ > 0 ? std::min<Index>(static_cast<Index>(y), dense_ - 1) : 0;
  const auto across = hermite(x - i), up = hermite(y - j);
  double sum = 0;
  for (Index k = 0; k < (dense_ > 0 ? 2 : 1); ++k)
    for (Index h = 0; h < 2; ++h) {
      const auto& [value, by_main, by_dense, by_both] = nodes_[(j + k) * (main_ + 1) + i + h];
      sum += up[2 * k] * (across[2 * h] * value + across[2 * h + 1] * by_main) +
             up[2 * k + 1] * (across[2 * h] * by_dense + across[2 * h + 1] * by_both);
    }
  return sum;
}

/// In the middles of cells along the sides and the diagonal of the table.
double BeamTable::largest_error() const {
  double error = 0;
  const auto meet = [&](double main, double dense) {
    error = std::max(error, std::abs(interpolated(main, dense) + std::log(sum_over(beam_, main, dense))));
  };
  for (Index k = 0; k < main_; ++k) {
    const double main = (k + 0.5) * step_main_, dense = dense_ > 0 ? (k + 0.5) * step_dense_ : 0;
    meet(main, 0), meet(main, dense);
    if (dense_ > 0) meet(0, dense);
  }
  return error;
}

double BeamTable::transmission(double main, double dense) const {
  const bool inside = main >= 0 && main <= main_ * step_main_ && dense >= 0 && dense <= dense_ * step_dense_;
  return nodes_.empty() || !inside ? sum_over(beam_, main, dense) : std::exp(-interpolated(main, dense));
}

}  // namespace tandem::pipeline
