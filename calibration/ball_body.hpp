#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <vector>

namespace tandem::calibration {

/// Balls that were found, as those of a body whose places are known.
struct BodyMatch {
  std::vector<std::optional<std::size_t>> number;  ///< in the body, of each ball that was found
  double scale;                                    ///< by which lengths that were found are too large
  std::vector<Eigen::Vector3d> places;             ///< of the whole body, turned and moved to the balls
};

/// Tries all ways to lay three of the body's balls on three that were found, far apart. @throws GeometryError
/// if fewer than four balls lie where the body has them, or if other ways lay as many of them as well
BodyMatch match_body(std::span<const Eigen::Vector3d> found, std::span<const Eigen::Vector3d> body);

}  // namespace tandem::calibration
