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
/// The spots that are taken as the shadows of one ball, in the order of views.
using Track = std::vector<Stop>;

/// Follows spots from view to view. If a spot was at u and is at v in the next view, it is predicted at 2 v
/// cos(step) - u after an equal step, since the fan of the rays adds little. Places count from the axis and
/// the midplane. A track ends if two views in a row do not have its spot. `angles`, in rad, follow each
/// other.
std::vector<Track> tracks(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                          const Eigen::Vector2d& centre);

/// The sightings by a scanner of balls at these places: in each view the spot nearest to each predicted
/// shadow, if it is nearer than `gate` cells and is nearest to no other shadow.
std::vector<Sighting> sightings(std::span<const std::vector<Spot>> spots, std::span<const double> angles,
                                const CircularScanner& scanner, std::span<const Eigen::Vector3d> balls,
                                double gate);

}  // namespace tandem::calibration
