#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ball_tracks.hpp"

namespace tandem::calibration {

/// What is known of the balls.
struct BallKnowledge {
  /// Distances of balls, whose numbers count upwards, from 0, the lowest.
  std::vector<KnownLength> lengths{};
  std::vector<Eigen::Vector3d> places{};  ///< of all balls of a body, mm, in any frame; empty: not known
};

/// What data cannot tell, and what would.
struct NotTold {
  std::string what, why;
};

struct BallCalibration {
  BallFit fit;     ///< balls in the order of their heights
  BallFit before;  ///< the scan as it was given, with balls where they are seen best
  std::vector<Sighting> sightings;
  std::vector<double> angles;  ///< of views, rad: those of the scan, or against them
  bool reversed = false;       ///< the shadows go round against the angles of the scan
  double other_sense = 0;      ///< the scatter that the other sense leaves, over that of this one
  std::size_t shadows = 0;     ///< in all views; some may belong to no ball
  std::vector<std::optional<std::size_t>> number_in_body{};  ///< of each ball among known places; empty: none
  std::vector<NotTold> not_told{};
};

/// Finds source and detector from the shadows of balls in each view. Balls are followed from view to view,
/// and placed by the rays of the scan that is given. Then the numbers of the scanner and the places of the
/// balls are fitted, twice, each time to all shadows that lie where these say.
///
/// The scale is known by a length or by known places only; else `sod` stays as given. The pitch of the
/// detector is not told by balls whose places are free, whatever it is: balls at (x, y, z / cos p) / (1 + z
/// tan p / sod) look the same without it. It is fitted only with known places, or with two lengths or more.
/// @throws GeometryError if fewer than three balls are followed through a good part of the views, or if known
/// places do not fit them in one way
BallCalibration calibrate_by_balls(std::span<const std::vector<Spot>> spots, const ConeBeam& scan,
                                   const BallKnowledge& known);

}  // namespace tandem::calibration
