#include "cone_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../core/error.hpp"

namespace tandem::io {

namespace {

constexpr double taken = 0.5, said = 0.1;  // pixels by which a view may miss the circle

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Point& a) { return std::sqrt(dot(a, a)); }
Point plus(const Point& a, double factor, const Point& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Column and row where a view shows a point, from the middle of the detector.
std::pair<double, double> shown(const ConeView& v, const Point& at) {
  const Point normal = cross(v.column, v.row), ray = plus(at, -1, v.source),
              to = plus(v.middle, -1, v.source);
  const Point on = plus(plus(v.source, dot(normal, to) / dot(normal, ray), ray), -1, v.middle);
  const double size = dot(normal, normal);
  return {dot(cross(on, v.row), normal) / size, dot(cross(v.column, on), normal) / size};
}

/// At angle a the source lies at sod (sin a, -cos a), and columns lie along (cos a, sin a).
struct Circle {
  double sod = 0, sdd = 0, height = 0;  ///< height of the source
  double column = 0, row = 0;           ///< steps, below 0 if they go the other way or down
  double axis = 0, midplane = 0;        ///< column and row, from the middle
};

double angle_of(const ConeView& v) { return std::atan2(v.source[0], -v.source[1]); }

Circle circle_of(const ConeView& v) {
  const double a = angle_of(v);
  const Point along{std::cos(a), std::sin(a), 0}, beam{-std::sin(a), std::cos(a), 0};
  const auto [axis, midplane] = shown(v, {0, 0, v.source[2]});
  return {.sod = std::hypot(v.source[0], v.source[1]),
          .sdd = dot(plus(v.middle, -1, v.source), beam),
          .height = v.source[2],
          .column = std::copysign(length(v.column), dot(v.column, along)),
          .row = std::copysign(length(v.row), v.row[2]),
          .axis = axis,
          .midplane = midplane};
}

Circle mean_of(const std::vector<ConeView>& views) {
  Circle mean;
  const double share = 1 / static_cast<double>(views.size());
  for (const ConeView& view : views) {
    const Circle c = circle_of(view);
    mean.sod += share * c.sod, mean.sdd += share * c.sdd, mean.height += share * c.height;
    mean.column += share * c.column, mean.row += share * c.row;
    mean.axis += share * c.axis, mean.midplane += share * c.midplane;
  }
  return mean;
}

/// Pixels by which a view shows points elsewhere than the circle does. The points are on the rims of the
/// cylinder that the detector sees.
double miss_of(const ConeView& v, const Circle& c, const Shape& frame) {
  const double a = angle_of(v), least = 0.6 * c.sod, smaller = c.sod / c.sdd;
  const double reach = std::min(least, 0.5 * static_cast<double>(frame[2]) * std::abs(c.column) * smaller);
  const double up = std::min(least, 0.5 * static_cast<double>(frame[1]) * std::abs(c.row) * smaller);
  double worst = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const double side = (corner & 1) != 0 ? reach : -reach, z = (corner & 4) != 0 ? up : -up;
    const Point at{(corner & 2) != 0 ? side : 0, (corner & 2) != 0 ? 0 : side, c.height + z};
    const double along = at[0] * std::cos(a) + at[1] * std::sin(a);
    const double depth = c.sod - at[0] * std::sin(a) + at[1] * std::cos(a);
    const auto [column, row] = shown(v, at);
    worst = std::max({worst, std::abs(column - c.axis - c.sdd * along / (depth * c.column)),
                      std::abs(row - c.midplane - c.sdd * z / (depth * c.row))});
  }
  return worst;
}

}  // namespace

ConeView turned(const ConeView& view, double angle) {
  const auto turn = [c = std::cos(angle), s = std::sin(angle)](const Point& p) {
    return Point{c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]};
  };
  return {turn(view.source), turn(view.middle), turn(view.column), turn(view.row)};
}

void complete_circle(const std::vector<ConeView>& views, const std::string& where, const Shape& frame,
                     Acquisition& found) {
  const Circle c = mean_of(views);
  require<FileError>(
      c.sod > 0 && c.sdd > c.sod && c.column != 0 && c.row != 0 && std::isfinite(c.axis * c.midplane), where,
      ": source to axis ", c.sod, ", to detector ", c.sdd, ", steps ", c.column, " and ", c.row,
      "; a source that goes round the z axis, with the detector behind it, is needed");
  double worst = 0;
  for (std::size_t k = 0; k < views.size(); ++k) {
    const double miss = miss_of(views[k], c, frame);
    require<FileError>(
        miss <= taken, where, ": view ", k, " is ", miss,
        " pixels off a circle of the source about the z axis with an upright detector that faces "
        "the axis; at most ",
        taken, " is taken, free positions are not known");
    worst = std::max(worst, miss);
    found.angles.push_back(std::copysign(1.0, c.column) * angle_of(views[k]));
  }
  if (worst > said) {
    std::ostringstream note;
    note << where << ": views miss the circle that is taken by up to " << worst << " pixels";
    found.info.notes.push_back(note.str());
  }
  found.kind = ConeBeam::kind;
  found.sod_mm = c.sod, found.sdd_mm = c.sdd;
  found.info.pixel_size_mm = std::abs(c.column), found.row_pitch_mm = std::abs(c.row);
  found.info.axis_bin = c.axis + 0.5 * static_cast<double>(frame[2] - 1);
  if (frame[1] > 1) found.midplane_row = c.midplane + 0.5 * static_cast<double>(frame[1] - 1);
}

}  // namespace tandem::io
