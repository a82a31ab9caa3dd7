#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "circular_scanner.hpp"

namespace tandem::calibration {

/// The shadow of a ball in a view, as it was measured.
struct Sighting {
  std::size_t view, ball;
  Eigen::Vector2d cell;
  double variance;  ///< variance as in `Spot`
};

/// The middle of the shadow of a ball whose middle falls on `cell`. A cone stretches a shadow along the
/// radius from the foot of the source. So the mean of the shadow lies farther from the foot by the factor 1 +
/// 4 v / d^2, where v is the variance across the radius and d the distance of the foot, both in cells.
/// Derivation: the profile of a ball is round about its direction, and a cell at the angle psi off the normal
/// has the solid angle cos^3 psi. The factor is the mean of tan psi, weighted by cos^-3 psi, to second order.
Eigen::Vector2d moved_out(const CircularScanner& scanner, const Foot& foot, const Eigen::Vector2d& cell,
                          double variance);

/// A known distance, mm, between the middles of two balls.
struct KnownLength {
  std::size_t first, second;
  double mm;
};

/// The problem of a fit, and what it may move. Each ball has its own place, or all balls are a rigid body,
/// which moves by a turn and a shift.
struct BallProblem {
  std::span<const double> angles;  ///< angles of views, rad
  std::vector<Sighting> sightings;
  CircularScanner scanner;             ///< where the fit begins
  std::vector<Eigen::Vector3d> balls;  ///< where the fit begins, mm
  std::vector<KnownLength> lengths{};
  std::array<bool, numbers> free{};
  bool rigid = false;
};

struct BallFit {
  CircularScanner scanner;
  std::vector<Eigen::Vector3d> balls;
  std::array<double, numbers> uncertainty{};        ///< standard deviations; 0 for a number that was held
  std::vector<Eigen::Vector3d> ball_uncertainty{};  ///< mm; empty for a rigid body
  std::vector<Eigen::Vector2d> residuals{};         ///< cells, one for each sighting
  std::vector<Eigen::Vector2d> weights{};           ///< weight of each residual, less for outliers
  double scatter = 0;                               ///< the standard deviation of one coordinate, cells
  std::vector<Number> unknown{};                    ///< free numbers that were held, since nothing tells them
  int steps = 0;
};

/// Fits sightings by least squares with the weights of Huber (1964), in steps of Levenberg (1944) and
/// Marquardt (1963). If other free numbers and balls can undo the change of a free number, the sightings do
/// not tell it. Then it is held, and listed in `unknown`. @throws GeometryError if there are too few
/// sightings
BallFit fit_balls(BallProblem problem);

/// The place of the ball that these sightings see, which is the point nearest to all rays.
Eigen::Vector3d triangulated(std::span<const Sighting> sightings, std::span<const double> angles,
                             const CircularScanner& scanner);

}  // namespace tandem::calibration
