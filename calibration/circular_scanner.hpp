#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <string_view>

#include "../geometry/beams/cone.hpp"
#include "../geometry/beams/flexible.hpp"

namespace tandem::calibration {

/// The numbers of a scanner whose source goes round z on a circle at z = 0, with a flat detector that stands
/// in any way: all that such a scanner can have. Angles are in rad, lengths in mm.
struct CircularScanner {
  double sod = 0, sdd = 0;  ///< sdd: along the ray through the origin
  double axis_bin = 0;      ///< the cell on which the origin falls
  double midplane_row = 0;
  double roll = 0;   ///< of the detector about the beam: the axis leans towards higher bins at higher rows
  double pitch = 0;  ///< about its bins: the highest row leans towards the source
  double yaw = 0;    ///< about its rows: the highest bin leans away from the source
  double bin_pitch = 1, row_pitch = 1;
};

/// Its numbers in the order in which matrices have them.
enum Number : int { sod, sdd, axis_bin, midplane_row, roll, pitch, yaw, numbers };
std::array<double*, numbers> numbers_of(CircularScanner& scanner);
/// "sod_mm" and so on: names of reports.
std::string_view name_of(Number number);
/// 1 in the unit of the report: 180 / pi for an angle.
double unit_of(Number number);

/// The numbers that a cone beam says.
CircularScanner nominal(const ConeBeam& scan);

/// Source and detector of each view, rad.
FlexibleBeam views_of(const CircularScanner& scanner, const Detector& detector,
                      std::span<const double> angles);

/// Where a point falls, and how that changes: with the numbers of the scanner, and with the point.
struct Shadow {
  Eigen::Vector2d cell;  ///< bin and row
  Eigen::Matrix<double, 2, numbers> by_numbers;
  Eigen::Matrix<double, 2, 3> by_point;
};

/// The shadow of a point in the view at an angle, rad. The ray source + t (point - source) meets the detector
/// at its middle + a (bin direction) + b (row direction): three equations for t, a and b. Their derivatives
/// follow from the same equations.
Shadow shadow(const CircularScanner& scanner, double angle, const Eigen::Vector3d& point);

/// The cell (bin, row) that lies nearest to the source, and its distance from it, mm.
struct Foot {
  Eigen::Vector2d cell;
  double distance;
};
Foot foot(const CircularScanner& scanner);

/// The ray from the source to a cell (bin, row) in the view at an angle.
struct Ray {
  Eigen::Vector3d source, direction;  ///< of length 1
};
Ray ray_to(const CircularScanner& scanner, double angle, const Eigen::Vector2d& cell);

}  // namespace tandem::calibration
