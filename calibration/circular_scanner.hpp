#pragma once

#include <Eigen/Core>
#include <array>
#include <span>
#include <string_view>

#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// All numbers of a scanner whose source goes round z on a circle at z = 0, with a flat detector in any
/// orientation. Angles are in rad, and lengths in mm.
struct CircularScanner {
  double sod = 0, sdd = 0;  ///< sdd: along the ray through the origin
  double axis_bin = 0;      ///< the cell on which the origin falls
  double midplane_row = 0;
  double roll = 0;   ///< turn of the detector about the beam: the axis leans to higher bins at higher rows
  double pitch = 0;  ///< turn about its bins: the highest row leans towards the source
  double yaw = 0;    ///< turn about its rows: the highest bin leans away from the source
  double bin_pitch = 1, row_pitch = 1;
};

/// The numbers of a scanner in the order of matrices.
enum Number : int { sod, sdd, axis_bin, midplane_row, roll, pitch, yaw, numbers };
std::array<double*, numbers> numbers_of(CircularScanner& scanner);
/// The name of a number in reports: "sod_mm" and so on.
std::string_view name_of(Number number);
/// The factor to the unit of the report: 180 / pi for an angle.
double unit_of(Number number);

/// The numbers of a cone beam.
CircularScanner nominal(const ConeBeam& scan);

/// Source and detector of each view; angles are in rad.
Scan views_of(const CircularScanner& scanner, const Detector& detector, std::span<const double> angles);

/// The cell on which a point falls, and its derivatives by the numbers of the scanner and by the point.
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
  Eigen::Vector3d source, direction;  ///< the direction has length 1
};
Ray ray_to(const CircularScanner& scanner, double angle, const Eigen::Vector2d& cell);

}  // namespace tandem::calibration
