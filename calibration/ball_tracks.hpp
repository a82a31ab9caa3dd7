#pragma once

#include <span>
#include <vector>

#include "ball_fit.hpp"
#include "ball_shadows.hpp"

namespace tandem::calibration {

/// A spot of a view.
struct Stop {
  std::size_t view, spot;
};
/// The spots that are taken for the shadow of one ball, in the order of views.
using Track = std::vector<Stop>;

/// Follows spots from view to view: about the axis, a place that was u and is v in the next view is 2 v cos -
/// u after as large a step, where the fan of the rays adds little. Places count from the axis and the
/// midplane. A track ends where two views in a row do not have its spot. `angles`, in rad, follow each other.
std::vector<Track> tracks(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                          const Eigen::Vector2d& centre);

/// What is seen of balls at these places by a scanner: in each view the spot nearest to each predicted
/// shadow, if it is nearer than `gate` cells and nearest to no other.
std::vector<Sighting> sightings(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                                const CircularScanner& scanner, std::span<const Eigen::Vector3d> balls,
                                double gate);

}  // namespace tandem::calibration
