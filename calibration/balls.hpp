#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ball_tracks.hpp"
#include "found.hpp"

namespace tandem::calibration {

/// What is known about the balls.
struct BallKnowledge {
  /// Distances of balls. Balls are numbered from the lowest one, 0, upwards.
  std::vector<KnownLength> lengths{};
  std::vector<Eigen::Vector3d> places{};  ///< places of all balls, mm, in any frame; empty: not known
};

struct BallCalibration {
  BallFit fit;     ///< balls in the order of their heights
  BallFit before;  ///< fit of the balls alone, with the scanner as it was given
  std::vector<Sighting> sightings;
  std::vector<double> angles;  ///< angles of views, rad: those of the scan, or with the other sign
  bool reversed = false;       ///< whether the shadows go round against the angles of the scan
  double other_sense = 0;      ///< scatter with the other sense of rotation, over that with this one
  std::size_t shadows = 0;     ///< number of shadows in all views; some may belong to no ball
  /// Number of each ball among the known places; empty if no places are known.
  std::vector<std::optional<std::size_t>> number_in_body{};
  std::vector<NotTold> not_told{};
};

/// Finds source and detector from the shadows of balls in each view. Balls are followed from view to view,
/// and placed by the rays of the given scan. Then the numbers of the scanner and the places of the balls are
/// fitted twice, each time to all shadows near the predicted ones.
///
/// Only a length or known places tell the scale; else `sod` stays as given. Balls with free places cannot
/// tell the pitch p of the detector, because balls at (x, y, z / cos p) / (1 + z tan p / sod) look the same
/// without it. So the pitch is fitted only with known places, or with two lengths or more.
/// @throws GeometryError if fewer than three balls are followed through a good part of the views, or if known
/// places do not fit them in one way
BallCalibration calibrate_by_balls(std::span<const std::vector<Spot>> spots, const ConeBeam& scan,
                                   const BallKnowledge& known);

}  // namespace tandem::calibration
