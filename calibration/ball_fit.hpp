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
  double variance;  ///< as in `Spot`
};

/// The middle of the shadow of a ball whose middle falls on `cell`. A shadow is as wide along the radius as
/// the cone cuts it: its mean lies farther from the foot of the source by the factor 1 + 4 v / d^2, where v
/// is the variance across the radius and d the distance of the foot, both in cells. Derivation: the profile
/// of a ball is round about its direction; a cell at the angle psi off the normal has the solid angle cos^3
/// psi, so the mean of tan psi, weighted by cos^-3 psi, to second order.
Eigen::Vector2d moved_out(const CircularScanner& scanner, const Foot& foot, const Eigen::Vector2d& cell,
                          double variance);

/// The distance between the middles of two balls, mm, as it is known.
struct KnownLength {
  std::size_t first, second;
  double mm;
};

/// What a fit may move. Balls are at places of their own, or all together as a body: then `balls` move by a
/// turn and a shift.
struct BallProblem {
  std::span<const double> angles;  ///< of views, rad
  std::vector<Sighting> sightings;
  CircularScanner scanner;             ///< from where it begins
  std::vector<Eigen::Vector3d> balls;  ///< likewise, mm
  std::vector<KnownLength> lengths{};
  std::array<bool, numbers> free{};
  bool rigid = false;
};

struct BallFit {
  CircularScanner scanner;
  std::vector<Eigen::Vector3d> balls;
  std::array<double, numbers> uncertainty{};        ///< standard deviations; 0 of what was held
  std::vector<Eigen::Vector3d> ball_uncertainty{};  ///< mm; empty for a rigid body
  std::vector<Eigen::Vector2d> residuals{};         ///< cells, one a sighting
  std::vector<Eigen::Vector2d> weights{};           ///< of each, by which outliers count less
  double scatter = 0;                               ///< the standard deviation of one coordinate, cells
  std::vector<Number> unknown{};  ///< free numbers that sightings and lengths do not tell: they were held
  int steps = 0;
};

/// Least squares of sightings with the weights of Huber (1964), by the steps of Levenberg (1944) and
/// Marquardt (1963). A free number whose change other free numbers and balls can undo, so that nothing is
/// seen of it, is held and listed in `unknown`. @throws GeometryError if there are too few sightings
BallFit fit_balls(BallProblem problem);

/// Where a ball is that these sightings see: the point nearest to all rays.
Eigen::Vector3d triangulated(std::span<const Sighting> sightings, std::span<const double> angles,
                             const CircularScanner& scanner);

}  // namespace tandem::calibration
