#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

namespace tandem::calibration {

/// How balls that were found fit a body whose places are known.
struct BodyMatch {
  std::vector<std::optional<std::size_t>> number;  ///< number in the body of each ball that was found
  double scale;                                    ///< factor by which the lengths found are too large
  std::vector<Eigen::Vector3d> places;             ///< the whole body, turned and moved to the balls
};

/// Tries all ways to lay three balls of the body on three balls that were found far apart. @throws
/// GeometryError if fewer than four balls lie where the body has them, or if the fit is not unique
BodyMatch match_body(std::span<const Eigen::Vector3d> found, std::span<const Eigen::Vector3d> body);

}  // namespace tandem::calibration
