#include "ball_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <utility>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/rounding.hpp"
#include "median.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Matrix3d, Eigen::MatrixXd, Eigen::Vector2d, Eigen::Vector3d, Eigen::VectorXd;
using Rows2 = Eigen::Matrix<double, 2, Eigen::Dynamic>;

Matrix3d skew(const Vector3d& v) {
  Matrix3d m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

Vector3d mean_of(const std::vector<Vector3d>& all) {
  Vector3d sum = Vector3d::Zero();
  for (const Vector3d& each : all) sum += each;
  return sum / all.size();
}

/// The order of the unknowns in a vector: first the free numbers of the scanner, then three for each ball, or
/// a turn about their mean and a shift.
struct Layout {
  std::array<int, numbers> of_number{};
  int first_ball = 0, size = 0;
  bool rigid;

  explicit Layout(const BallProblem& p) : rigid(p.rigid) {
    for (std::size_t k = 0; k < numbers; ++k) of_number[k] = p.free[k] ? first_ball++ : -1;
    size = first_ball + (rigid ? 6 : 3 * int_of(p.balls.size()));
  }
  int ball(std::size_t number) const {
    return rigid ? first_ball : first_ball + 3 * static_cast<int>(number);
  }
};

/// Adds a residual, with its derivatives by some runs of unknowns, to the normal equations.
struct Normal {
  MatrixXd square;
  VectorXd right;

  explicit Normal(int size) : square(MatrixXd::Zero(size, size)), right(VectorXd::Zero(size)) {}
  void add(const std::vector<int>& at, const MatrixXd& by, const VectorXd& residual, const VectorXd& weight) {
    const MatrixXd product = by.transpose() * weight.asDiagonal() * by;
    const VectorXd down = by.transpose() * weight.cwiseProduct(residual);
    for (Eigen::Index i = 0; i < down.size(); ++i) {
      right[at[i]] += down[i];
      for (Eigen::Index j = 0; j < down.size(); ++j) square(at[i], at[j]) += product(i, j);
    }
  }
};

/// A length counts as if it were known to a twentieth of the scatter of a shadow's middle.
constexpr double weight_of_length = 400;

Vector2d residual_of(const BallProblem& p, const Foot& nearest, const Sighting& seen, const Vector2d& cell) {
  return moved_out(p.scanner, nearest, cell, seen.variance) - seen.cell;
}

/// The residual of a length in cells, and its derivative by the first ball.
struct LengthResidual {
  double cells;
  Vector3d by_first;
};

LengthResidual residual_of(const BallProblem& p, const KnownLength& length) {
  const Vector3d apart = p.balls[length.first] - p.balls[length.second];
  const double cells_a_mm = p.scanner.sdd / (p.scanner.sod * p.scanner.bin_pitch);
  return {cells_a_mm * (apart.norm() - length.mm), cells_a_mm * apart.normalized()};
}

class Fit {
 public:
  explicit Fit(const BallProblem& p) : p_(p), layout_(p) {}

  std::vector<Vector2d> residuals() const {
    std::vector<Vector2d> all;
    const Foot nearest = foot(p_.scanner);
    for (const Sighting& seen : p_.sightings)
      all.push_back(
          residual_of(p_, nearest, seen, shadow(p_.scanner, p_.angles[seen.view], p_.balls[seen.ball]).cell));
    return all;
  }

  /// Normal equations with a weight for each coordinate of each sighting.
  Normal normal(const std::vector<Vector2d>& weights) const {
    Normal all(layout_.size);
    const Foot nearest = foot(p_.scanner);
    const Vector3d middle = mean_of(p_.balls);
    for (std::size_t k = 0; k < p_.sightings.size(); ++k) {
      const Sighting& seen = p_.sightings[k];
      const Shadow at = shadow(p_.scanner, p_.angles[seen.view], p_.balls[seen.ball]);
      std::vector<int> places;
      MatrixXd by(2, layout_.first_ball + (layout_.rigid ? 6 : 3));
      for (std::size_t n = 0; n < numbers; ++n)
        if (layout_.of_number[n] >= 0) {
          by.col(places.size()) = at.by_numbers.col(n);
          places.push_back(layout_.of_number[n]);
        }
      if (layout_.rigid)
        by.rightCols<6>() << -at.by_point * skew(p_.balls[seen.ball] - middle), at.by_point;
      else
        by.rightCols<3>() = at.by_point;
      for (int k3 = 0; k3 < (layout_.rigid ? 6 : 3); ++k3) places.push_back(layout_.ball(seen.ball) + k3);
      all.add(places, by, residual_of(p_, nearest, seen, at.cell), weights[k]);
    }
    add_lengths(all);
    return all;
  }

  double cost_of_lengths() const {
    double sum = 0;
    if (!layout_.rigid)
      for (const KnownLength& length : p_.lengths)
        sum += 0.5 * weight_of_length * std::pow(residual_of(p_, length).cells, 2);
    return sum;
  }

  BallProblem moved(const VectorXd& step) const {
    BallProblem next = p_;
    const auto all = numbers_of(next.scanner);
    for (std::size_t n = 0; n < numbers; ++n)
      if (layout_.of_number[n] >= 0) *all[n] += step[layout_.of_number[n]];
    if (!layout_.rigid) {
      for (std::size_t b = 0; b < next.balls.size(); ++b) next.balls[b] += step.segment<3>(layout_.ball(b));
      return next;
    }
    const Vector3d turn = step.segment<3>(layout_.first_ball),
                   shift = step.segment<3>(layout_.first_ball + 3), middle = mean_of(p_.balls);
    const double angle = turn.norm();
    const Matrix3d rotation =
        angle > 0 ? Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix() : Matrix3d::Identity();
    for (Vector3d& ball : next.balls) ball = middle + rotation * (ball - middle) + shift;
    return next;
  }

  const Layout& layout() const { return layout_; }

 private:
  void add_lengths(Normal& all) const {
    if (layout_.rigid) return;
    for (const KnownLength& length : p_.lengths) {
      const LengthResidual r = residual_of(p_, length);
      std::vector<int> places;
      for (const std::size_t ball : {length.first, length.second})
        for (int k = 0; k < 3; ++k) places.push_back(layout_.ball(ball) + k);
      MatrixXd by(1, 6);
      by << r.by_first.transpose(), -r.by_first.transpose();
      all.add(places, by, VectorXd::Constant(1, r.cells), VectorXd::Constant(1, weight_of_length));
    }
  }

  const BallProblem& p_;
  Layout layout_;
};

/// Huber's weights: residuals beyond 1.345 standard deviations count less (95 % efficient for normal ones).
struct Huber {
  double deviation, bound;

  explicit Huber(const std::vector<Vector2d>& residuals) {
    constexpr double least = 1e-9;  // cells
    std::vector<double> sizes;
    for (const Vector2d& r : residuals) sizes.insert(sizes.end(), {std::abs(r.x()), std::abs(r.y())});
    constexpr double of_sizes = 0.6745;  // the median of sizes of normal deviates
    deviation = std::max(least, median_of(std::move(sizes)) / of_sizes);
    bound = 1.345 * deviation;
  }
  Vector2d weight(const Vector2d& r) const {
    return {std::min(1.0, bound / std::abs(r.x())), std::min(1.0, bound / std::abs(r.y()))};
  }
  double cost(const Vector2d& r) const { return cost(std::abs(r.x())) + cost(std::abs(r.y())); }
  double cost(double size) const { return size <= bound ? 0.5 * size * size : bound * (size - 0.5 * bound); }
};

double cost_of(const BallProblem& p, const Huber& huber) {
  const Fit fit(p);
  double sum = fit.cost_of_lengths();
  for (const Vector2d& r : fit.residuals()) sum += huber.cost(r);
  return sum;
}

std::vector<Vector2d> weights_of(const std::vector<Vector2d>& residuals, const Huber& huber) {
  std::vector<Vector2d> weights;
  for (const Vector2d& r : residuals) weights.push_back(huber.weight(r));
  return weights;
}

/// Makes steps until the cost no longer falls, and returns their number.
int descend(BallProblem& p) {
  constexpr int most = 100;
  constexpr double enough = 1e-10, dead_end = 1e12;
  double damping = 1e-3;
  for (int step = 1; step <= most; ++step) {
    const Fit fit(p);
    const std::vector<Vector2d> residuals = fit.residuals();
    const Huber huber(residuals);
    const Normal normal = fit.normal(weights_of(residuals, huber));
    const double before = cost_of(p, huber);
    for (;; damping *= 10) {
      if (damping > dead_end) return step;
      MatrixXd damped = normal.square;
      damped.diagonal() *= 1 + damping;
      const VectorXd move = -damped.ldlt().solve(normal.right);
      if (!move.allFinite()) continue;
      const BallProblem next = fit.moved(move);
      const double after = cost_of(next, huber);
      if (!(after <= before)) continue;
      p = next, damping = std::max(1e-12, damping / 10);
      if (before - after <= enough * before) return step;
      break;
    }
  }
  return most;
}

/// A free number that the data cannot tell: its derivatives are a linear combination of those of other free
/// numbers, so that these can compensate for it. Empty if there is none. The matrix is scaled to ones on its
/// diagonal. Then the smallest eigenvalue is some 1e-14, by rounding, if there is such a number. It is above
/// 1e-8 even for the numbers that a wide or a narrow cone tells least.
std::optional<Number> untold(const BallProblem& p) {
  constexpr double nothing = 1e-11, takes_part = 1e-3;
  const Fit fit(p);
  const Normal normal = fit.normal(std::vector<Vector2d>(p.sightings.size(), Vector2d::Ones()));
  const VectorXd scale = normal.square.diagonal().cwiseSqrt();
  require<GeometryError>((scale.array() > 0).all(), "balls: one of them is seen in no view");
  const MatrixXd scaled =
      scale.cwiseInverse().asDiagonal() * normal.square * scale.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(scaled);
  for (Eigen::Index k = 0; k < solver.eigenvalues().size() && solver.eigenvalues()[k] < nothing; ++k)
    for (const Number number : {pitch, sod, yaw, sdd, midplane_row, roll, axis_bin}) {
      const int at = fit.layout().of_number[number];
      if (at >= 0 && std::abs(solver.eigenvectors()(at, k)) > takes_part) return number;
    }
  require<GeometryError>(solver.eigenvalues()[0] >= nothing, "balls: their places are not told by ",
                         p.sightings.size(), " shadows; more views are needed");
  return std::nullopt;
}

bool hold_untold(BallProblem& p, BallFit& fit) {
  bool any = false;
  while (const auto number = untold(p)) {
    fit.unknown.push_back(*number);
    row_of(p.free, *number) = false;
    any = true;
  }
  return any;
}

/// Adds standard deviations: those of least squares, times a factor for the weights of outliers (Huber
/// 1981, 7.6).
void add_uncertainties(const BallProblem& p, const Huber& huber, BallFit& fit) {
  const Fit equations(p);
  double psi = 0, inside = 0;
  for (const Vector2d& r : fit.residuals) {
    const Vector2d weight = huber.weight(r);
    psi += weight.cwiseProduct(r).squaredNorm();
    inside += (weight.array() == 1).cast<double>().sum();
  }
  const double count = 2.0 * fit.residuals.size(), spare = count - equations.layout().size;
  require<GeometryError>(spare > 0, "balls: ", fit.residuals.size(), " shadows for ", equations.layout().size,
                         " unknown numbers; more views or balls are needed");
  fit.scatter = huber.deviation * std::sqrt(count / spare);
  const double deviation = std::sqrt(psi / spare) * count / std::max(1.0, inside);
  const Normal normal = equations.normal(std::vector<Vector2d>(fit.residuals.size(), Vector2d::Ones()));
  const VectorXd scale = normal.square.diagonal().cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = scale.asDiagonal() * normal.square * scale.asDiagonal();
  const MatrixXd inverse = scaled.ldlt().solve(MatrixXd::Identity(scaled.rows(), scaled.cols()));
  const VectorXd deviations = deviation * inverse.diagonal().cwiseMax(0).cwiseSqrt().cwiseProduct(scale);
  const Layout& layout = equations.layout();
  for (std::size_t n = 0; n < numbers; ++n)
    if (layout.of_number[n] >= 0) fit.uncertainty[n] = deviations[layout.of_number[n]];
  if (!p.rigid)
    for (std::size_t b = 0; b < p.balls.size(); ++b)
      fit.ball_uncertainty.emplace_back(deviations.segment<3>(layout.ball(b)));
}

}  // namespace

Vector2d moved_out(const CircularScanner& scanner, const Foot& nearest, const Vector2d& cell,
                   double variance) {
  const double cells = nearest.distance / scanner.row_pitch;
  return cell + 4 * variance / (cells * cells) * (cell - nearest.cell);
}

Vector3d triangulated(std::span<const Sighting> sightings, std::span<const double> angles,
                      const CircularScanner& scanner) {
  Matrix3d square = Matrix3d::Zero();
  Vector3d right = Vector3d::Zero();
  for (const Sighting& seen : sightings) {
    const Ray ray = ray_to(scanner, angles[seen.view], seen.cell);
    const Matrix3d across = Matrix3d::Identity() - ray.direction * ray.direction.transpose();
    square += across, right += across * ray.source;
  }
  return square.ldlt().solve(right);
}

BallFit fit_balls(BallProblem p) {
  require<GeometryError>(!p.balls.empty() && !p.sightings.empty(), "balls: none is seen");
  BallFit fit;
  hold_untold(p, fit);  // before the first step, since else it would wander
  fit.steps = descend(p);
  if (hold_untold(p, fit)) fit.steps += descend(p);
  fit.scanner = p.scanner, fit.balls = p.balls;
  fit.residuals = Fit(p).residuals();
  const Huber huber(fit.residuals);
  fit.weights = weights_of(fit.residuals, huber);
  add_uncertainties(p, huber, fit);
  return fit;
}

}  // namespace tandem::calibration
