#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// A way that source and detector go about the sample, whose middle is the origin.
///
/// circle: as a cone beam and a parallel beam have it.
/// helix: a circle that rises by `pitch` in a turn; its middle is at z = 0.
/// laminography: a circle whose rays rise over the plane of slices by `elevation`.
/// tomosynthesis: the detector lies flat, parallel to slices, bins along x and rows along y; the source goes
/// over an arc in the plane of x and z, from below at angle 0.
struct Trajectory {
  std::string name = "circle";
  std::vector<double> angles{};  ///< rad, one a view
  bool parallel = false;
  double sod = 0, sdd = 0;  ///< mm, from a source to the origin, and to the detector
  double midplane_row = 0;  ///< the row on which the ray through the origin falls; its bin is `axis_bin`
  double pitch = 0;         ///< mm
  double elevation = 0;     ///< rad
  bool curved = false;      ///< whether the detector lies on a cylinder about the source
  /// The most by which sources and detectors are moved off their places along each axis, mm. Detectors are
  /// turned, too, by the angle that moves their edges by so much. Each view has random numbers of its own.
  double jitter = 0;
  std::uint64_t seed = 0;  ///< seed of `jitter`
};

std::span<const std::string_view> trajectory_names();

/// The views of a trajectory on a detector. @throws GeometryError naming the field, its value and its unit
Scan views_along(const Trajectory& trajectory, const Detector& detector);

}  // namespace tandem
