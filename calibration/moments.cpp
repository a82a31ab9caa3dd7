#include "moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "../core/parallel.hpp"

namespace tandem::calibration {

namespace {

constexpr Index orders = 4;          ///< moments 0 to 3
constexpr Index highest_wrong = 12;  ///< harmonic; beyond it noise is most of them
constexpr Index first_of_noise = 25, last_of_noise = 60;

constexpr double outlier = 1.1;  ///< over the largest line integral; no more of a value counts

/// A value for each order and each term of the line integrals.
using Sums = std::array<std::array<double, ViewMoments::with_dense>, orders>;

/// A line integral at the middle of a cell. What a cell measures is the mean of the beam, so where line
/// integrals rise by D from cell to cell it measures D^2 / 24 too little. It is not known of those that
/// others made, which may be exact.
double middle_of_cell(std::span<const float> line, Index ray, LinesOf lines) {
  if (lines == LinesOf::others) return line[ray];
  const Index last = std::ssize(line) - 1;
  const double slope = 0.5 * (line[std::min(ray + 1, last)] - line[std::max<Index>(ray - 1, 0)]);
  return line[ray] + slope * slope / 24;
}

/// Dense parts, and the largest line integral of theirs.
struct Dense {
  const WholeTurn* turn;
  double largest;
};

/// The sums over the rays of a view: of s^n (q / largest)^k, and the same with dense parts.
Sums sums_of(const WholeTurn& turn, const Dense& dense, Index row, Index view, double largest,
             LinesOf lines) {
  Sums sums{};
  const double reach = std::max(std::abs(turn.distance(0)), std::abs(turn.distance(turn.rays - 1)));
  const std::span<const float> line = turn.view(row, view);
  for (Index ray = 0; ray < turn.rays; ++ray) {
    const double s = turn.distance(ray) / reach,
                 q = std::min(middle_of_cell(line, ray, lines) / largest, outlier);
    const auto add = [&](Index term, double value) {
      for (Index n = 0; n < orders; ++n, value *= s) sums[n][term] += value;
    };
    double power = 1;
    const double part = dense.turn ? dense.turn->view(row, view)[ray] / dense.largest : 0;
    for (Index k = 0; k < ViewMoments::terms; ++k) {
      add(k, power *= q);
      if (part != 0) add(ViewMoments::terms + k, power * part);
    }
    if (part != 0) add(ViewMoments::with_dense - 1, part * part);
  }
  return sums;
}

double largest_of(const WholeTurn& turn) {
  constexpr double left_out = 1e-4;
  std::vector<float> all(turn.values.begin(), turn.values.end());
  const auto at = all.end() - 1 - std::llround(left_out * (std::ssize(all) - 1));
  std::nth_element(all.begin(), at, all.end());
  return std::max(1e-6, 1.0 * *at);
}

/// Which moment, and which of its harmonics.
struct Harmonic {
  Index order, number;
};

/// The harmonics of the parity of the moment, because those of the other one cancel over a whole turn.
std::vector<Harmonic> harmonics(Index beyond, Index from, Index to) {
  std::vector<Harmonic> all;
  for (Index n = 0; n < orders; ++n)
    for (Index h = std::max(from + (from + n) % 2, beyond > 0 ? n + beyond : 0); h <= to; h += 2)
      all.push_back({n, h});
  return all;
}

/// The harmonics of the sums over all views, (number, term): the real parts, then the imaginary ones.
Eigen::MatrixXd transformed(const std::vector<Sums>& views, const std::vector<Harmonic>& asked) {
  const Index count = std::ssize(asked);
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(2 * count, ViewMoments::with_dense);
  const double step = whole_turn / std::ssize(views);
  parallel_for(count, [&](Index j) {
    const auto [n, h] = asked[j];
    for (Index v = 0; v < std::ssize(views); ++v) {
      const std::complex<double> turned =
          std::polar(1.0 / std::ssize(views), -step * (h * v % std::ssize(views)));
      for (Index k = 0; k < ViewMoments::with_dense; ++k) {
        all(j, k) += turned.real() * views[v][n][k];
        all(count + j, k) += turned.imag() * views[v][n][k];
      }
    }
  });
  return all;
}

void append(Eigen::MatrixXd& to, const Eigen::MatrixXd& more) {
  to.conservativeResize(to.rows() + more.rows(), ViewMoments::with_dense);
  to.bottomRows(more.rows()) = more;
}

}  // namespace

ViewMoments::ViewMoments(const WholeTurn& turn, LinesOf lines, const WholeTurn* dense)
    : largest_(largest_of(turn)),
      largest_dense_(dense ? std::max(1e-6, 1.0 * std::ranges::max(dense->values)) : 1) {
  const auto wrong = harmonics(2, 0, highest_wrong),
             high = harmonics(0, std::min(first_of_noise, turn.views / 4),
                              std::min(last_of_noise, turn.views / 2 - 1));
  for (Index row = 0; row < turn.rows; ++row) {
    std::vector<Sums> views(turn.views);
    parallel_for(turn.views, [&](Index v) {
      views[v] = sums_of(turn, {dense, largest_dense_}, row, v, largest_, lines);
    });
    append(wrong_, transformed(views, wrong));
    append(high_, transformed(views, high));
    append(masses_, transformed(views, {{0, 0}}).topRows(1));
  }
}

/// The coefficients of the powers of q / largest, and of what is dense over its largest.
Eigen::VectorXd ViewMoments::scaled(std::span<const double> coefficients) const {
  Eigen::VectorXd c = Eigen::VectorXd::Zero(with_dense);
  for (Index k = 0; k < std::ssize(coefficients); ++k) {
    const double of_dense = std::pow(largest_dense_, k < terms ? 0 : k + 1 < with_dense ? 1 : 2);
    c[k] = coefficients[k] * of_dense * (k + 1 < with_dense ? std::pow(largest_, k % terms + 1) : 1);
  }
  return c;
}

double ViewMoments::mass(std::span<const double> coefficients) const {
  return (masses_ * scaled(coefficients)).mean();
}

double ViewMoments::misfit(std::span<const double> coefficients) const {
  const double squares = (wrong_ * scaled(coefficients)).squaredNorm() / masses_.rows();
  return 1e3 * std::sqrt(squares) / std::abs(mass(coefficients));
}

double ViewMoments::noise(std::span<const double> coefficients) const {
  // as many numbers as the misfit adds up
  const double squares = (high_ * scaled(coefficients)).squaredNorm() / high_.rows() * wrong_.rows();
  return 1e3 * std::sqrt(squares / masses_.rows()) / std::abs(mass(coefficients));
}

}  // namespace tandem::calibration
