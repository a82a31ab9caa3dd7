#include "circular_scanner.hpp"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <cmath>

#include "../core/names.hpp"
#include "../core/units.hpp"

namespace tandem::calibration {

namespace {

using Eigen::Matrix3d, Eigen::Vector2d, Eigen::Vector3d;

/// Directions in the frame that turns with the scanner: x along the bins of an upright detector, y along the
/// beam, z along the axis. The detector is turned about z, then about its bins, then about its normal.
struct Directions {
  Vector3d bin, row;
  Vector3d level_bin, level_row, normal;  ///< before the roll
  double sin_yaw, cos_yaw, sin_pitch, cos_pitch, sin_roll, cos_roll;

  explicit Directions(const CircularScanner& s)
      : sin_yaw(std::sin(s.yaw)),
        cos_yaw(std::cos(s.yaw)),
        sin_pitch(std::sin(s.pitch)),
        cos_pitch(std::cos(s.pitch)),
        sin_roll(std::sin(s.roll)),
        cos_roll(std::cos(s.roll)) {
    level_bin = {cos_yaw, sin_yaw, 0};
    normal = {-sin_yaw, cos_yaw, 0};
    level_row = Vector3d{0, 0, cos_pitch} - sin_pitch * normal;
    bin = cos_roll * level_bin + sin_roll * level_row;
    row = cos_roll * level_row - sin_roll * level_bin;
  }

  Vector3d bin_by_yaw() const { return cos_roll * normal + sin_roll * row_by_turn(); }
  Vector3d row_by_yaw() const { return cos_roll * row_by_turn() - sin_roll * normal; }
  Vector3d level_row_by_pitch() const { return Vector3d{0, 0, -sin_pitch} - cos_pitch * normal; }

 private:
  Vector3d row_by_turn() const { return sin_pitch * level_bin; }
};

/// The turn from the frame of the volume to that of the scanner at an angle.
Matrix3d turned(double angle) {
  Matrix3d turn;
  turn << std::cos(angle), std::sin(angle), 0, -std::sin(angle), std::cos(angle), 0, 0, 0, 1;
  return turn;
}

const Vector3d beam{0, 1, 0};

Vector3d to_cell(const CircularScanner& s, const Directions& d, const Vector2d& cell) {
  return s.sdd * beam + (cell.x() - s.axis_bin) * s.bin_pitch * d.bin +
         (cell.y() - s.midplane_row) * s.row_pitch * d.row;
}

Vector3 as_array(const Vector3d& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

std::array<double*, numbers> numbers_of(CircularScanner& s) {
  return {&s.sod, &s.sdd, &s.axis_bin, &s.midplane_row, &s.roll, &s.pitch, &s.yaw};
}

std::string_view name_of(Number number) {
  constexpr std::array<std::string_view, numbers> names{"sod_mm",   "sdd_mm",    "axis_bin", "midplane_row",
                                                        "roll_deg", "pitch_deg", "yaw_deg"};
  return row_of(names, number);
}

double unit_of(Number number) { return number < roll ? 1 : in_degrees(1); }

CircularScanner nominal(const ConeBeam& scan) {
  const Detector& d = scan.detector;
  CircularScanner s;
  s.sod = scan.sod, s.sdd = scan.sdd, s.axis_bin = d.axis_bin, s.midplane_row = scan.midplane_row;
  s.bin_pitch = d.bin_pitch, s.row_pitch = d.row_pitch;
  return s;
}

Scan views_of(const CircularScanner& s, const Detector& detector, std::span<const double> angles) {
  const Directions d(s);
  const Vector2d middle{0.5 * (detector.bins - 1), 0.5 * (detector.rows - 1)};
  FlexibleBeam scan{detector, {}, false};
  for (const double angle : angles) {
    const Matrix3d back = turned(angle).transpose();
    const Vector3d source = -s.sod * beam;
    scan.views.push_back({as_array(back * source), as_array(back * (source + to_cell(s, d, middle))),
                          as_array(back * (s.bin_pitch * d.bin)), as_array(back * (s.row_pitch * d.row))});
  }
  scan.detector.bin_pitch = s.bin_pitch, scan.detector.row_pitch = s.row_pitch;
  return scan;
}

Shadow shadow(const CircularScanner& s, double angle, const Vector3d& point) {
  const Directions d(s);
  const Matrix3d turn = turned(angle);
  const Vector3d from_source = turn * point + s.sod * beam;
  Matrix3d equations;
  equations << from_source, -d.bin, -d.row;
  const Matrix3d inverse = equations.inverse();
  const Vector3d met = inverse * (s.sdd * beam);  // t, a, b
  const Vector2d pitches{s.bin_pitch, s.row_pitch};
  const auto cells = [&](const Vector3d& change) -> Vector2d {
    return (inverse * change).tail<2>().cwiseQuotient(pitches);
  };
  Shadow all;
  all.cell = Vector2d{s.axis_bin, s.midplane_row} + met.tail<2>().cwiseQuotient(pitches);
  all.by_numbers.col(sod) = cells(-met[0] * beam);
  all.by_numbers.col(sdd) = cells(beam);
  all.by_numbers.col(axis_bin) = Vector2d{1, 0};
  all.by_numbers.col(midplane_row) = Vector2d{0, 1};
  all.by_numbers.col(roll) = cells(met[1] * d.row - met[2] * d.bin);
  all.by_numbers.col(pitch) = cells((met[1] * d.sin_roll + met[2] * d.cos_roll) * d.level_row_by_pitch());
  all.by_numbers.col(yaw) = cells(met[1] * d.bin_by_yaw() + met[2] * d.row_by_yaw());
  for (int k = 0; k < 3; ++k) all.by_point.col(k) = cells(-met[0] * turn.col(k));
  return all;
}

Foot foot(const CircularScanner& s) {
  const Directions d(s);
  const Vector2d aside{-s.sdd * beam.dot(d.bin), -s.sdd * beam.dot(d.row)};
  return {Vector2d{s.axis_bin, s.midplane_row} + aside.cwiseQuotient(Vector2d{s.bin_pitch, s.row_pitch}),
          s.sdd * std::abs(beam.dot(d.bin.cross(d.row)))};
}

Ray ray_to(const CircularScanner& s, double angle, const Vector2d& cell) {
  const Matrix3d back = turned(angle).transpose();
  return {back * (-s.sod * beam), back * to_cell(s, Directions(s), cell).normalized()};
}

}  // namespace tandem::calibration
