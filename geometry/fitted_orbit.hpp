#pragma once

#include <vector>

#include "scan.hpp"
#include "view_angles.hpp"

namespace tandem {

/// The circle or the helix that the sources of a scan go along, nearly. For parallel rays it is the way of
/// the points of the unit sphere from which they come.
struct FittedOrbit {
  Vector3 axis{};         ///< a direction of length 1; bins go, nearly, as sources do that turn about it
  Vector3 centre{};       ///< a point of it
  double radius = 0;      ///< mm; for parallel rays the sine of their angle with the axis
  double rise = 0;        ///< the pitch of a helix, mm a turn; 0 for a circle
  double stray = 0;       ///< the farthest that a source is off it, as a share of the radius
  bool goes_on = false;   ///< a helix: angles go on from turn to turn
  bool parallel = false;  ///< whether rays are parallel in each view
  /// The place of each source about the axis, rad and mm. For parallel rays, heights are those of the
  /// detectors.
  std::vector<double> angles{}, radii{}, heights{};
  std::vector<double> slopes{};     ///< growth of the radius with the angle, mm/rad
  std::vector<double> steps{};      ///< the part of a helix that each view stands for, rad
  Vector3 at_zero{}, at_quarter{};  ///< directions across the axis, at angle 0 and a quarter of a turn

  Vector3 outwards(std::size_t view) const;  ///< from the axis to the source, of length 1
  Vector3 along(std::size_t view) const;     ///< at right angles to that and to the axis
  Vector3 speed(std::size_t view) const;     ///< how fast the source moves across the axis, mm/rad
};

/// In a helix, views up to half a turn before and behind a slice make it. At either end of that turn they
/// come and go over this angle to both sides, rad.
constexpr double fade_of_turn = half_turn / 6;

/// @throws GeometryError naming what is wrong, and that a solver takes such views, if sources go along no
/// circle and no helix: each may be off it by a tenth of the radius
FittedOrbit fitted_orbit(const Scan& scan);

/// The angle after which views see the same rays again, rad: for a circle a turn, for parallel rays across
/// its axis half a turn, and for a helix all its way.
double period_of(const FittedOrbit& orbit);

}  // namespace tandem
