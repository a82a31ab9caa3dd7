#include "cone_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../geometry/vector3.hpp"
#include "../files/text.hpp"

namespace tandem::io {

namespace {

constexpr double taken = 0.5, said = 0.1;  // pixels by which a view may miss the circle; without a note

/// Column and row, from the middle of the detector, where a view shows a point.
std::pair<double, double> shown(const FlexibleView& v, const Vector3& at) {
  const Vector3 normal = cross(v.bin_step, v.row_step), ray = at - v.source, to = v.detector - v.source;
  const Vector3 on = v.source + dot(normal, to) / dot(normal, ray) * ray - v.detector;
  const double size = dot(normal, normal);
  return {dot(cross(on, v.row_step), normal) / size, dot(cross(v.bin_step, on), normal) / size};
}

/// At angle a the source lies at sod (sin a, -cos a) if the axis is not tilted, and columns lie along (cos a,
/// sin a). A tilted axis leans along the beam, and a rolled detector is turned about the beam: both as the
/// step `upright` has them, so that `sod` and `sdd` are along the beam, from the source to the axis and to
/// the detector.
struct Circle {
  double sod = 0, sdd = 0, height = 0;  ///< height of the source
  double column = 0, row = 0;           ///< steps, below 0 if they go the other way or down
  double axis = 0, midplane = 0;        ///< column and row, from the middle
  double roll = 0, tilt = 0;            ///< rad
};

double angle_of(const FlexibleView& v) { return std::atan2(v.source[0], -v.source[1]); }

Circle circle_of(const FlexibleView& v) {
  const double a = angle_of(v);
  const Vector3 along{std::cos(a), std::sin(a), 0}, beam{-std::sin(a), std::cos(a), 0};
  const auto [axis, midplane] = shown(v, {0, 0, v.source[2]});
  return {.sod = std::hypot(v.source[0], v.source[1]),
          .sdd = dot(v.detector - v.source, beam),
          .height = v.source[2],
          .column = std::copysign(length(v.bin_step), dot(v.bin_step, along)),
          .row = std::copysign(length(v.row_step), v.row_step[2]),
          .axis = axis,
          .midplane = midplane};
}

/// The circle of a view whose detector need not be upright. The axis falls on a line of the detector. The
/// detector is turned about the point of this line that is nearest to the foot of the perpendicular from the
/// source.
Circle leaning_circle_of(const FlexibleView& v) {
  Circle c = circle_of(v);
  const double up = std::copysign(1.0, c.row);  // direction of the axis, towards higher rows
  Vector3 beam = cross(v.bin_step, v.row_step);
  beam = std::copysign(1.0, dot(beam, v.detector - v.source)) / length(beam) * beam;
  c.tilt = std::asin(std::clamp(up * beam[2], -1.0, 1.0));
  c.roll = std::atan2(up * v.bin_step[2] / length(v.bin_step), up * v.row_step[2] / length(v.row_step));
  c.sdd = dot(v.detector - v.source, beam);
  const auto foot = shown(v, v.source + beam), on = shown(v, {0, 0, v.source[2]});
  const double columns = length(v.bin_step), rows = length(v.row_step);
  const double further = (foot.first - on.first) * columns * std::sin(c.roll) +
                         (foot.second - on.second) * rows * std::cos(c.roll);
  c.axis = on.first + further * std::sin(c.roll) / columns;
  c.midplane = on.second + further * std::cos(c.roll) / rows;
  c.sod /= std::cos(c.tilt);
  return c;
}

Circle mean_of(const std::vector<FlexibleView>& views, Circle (*of_view)(const FlexibleView& v)) {
  Circle mean;
  const double share = 1.0 / views.size();
  for (const FlexibleView& view : views) {
    const Circle c = of_view(view);
    mean.sod += share * c.sod, mean.sdd += share * c.sdd, mean.height += share * c.height;
    mean.column += share * c.column, mean.row += share * c.row;
    mean.axis += share * c.axis, mean.midplane += share * c.midplane;
    mean.roll += share * c.roll, mean.tilt += share * c.tilt;
  }
  return mean;
}

/// Column and row, from the middle, where a circle shows a point: `along` the columns of an upright detector,
/// at a `depth` from the source towards the axis, and `z` above the source.
std::pair<double, double> shown_by(const Circle& c, double along, double depth, double z) {
  const double up = std::copysign(1.0, c.row), sideways = std::copysign(1.0, c.column);
  const double far = depth * std::cos(c.tilt) + up * z * std::sin(c.tilt);
  const double u = c.sdd * sideways * along / far,
               w = c.sdd * (up * z * std::cos(c.tilt) - depth * std::sin(c.tilt)) / far;
  return {c.axis + (u * std::cos(c.roll) + w * std::sin(c.roll)) / std::abs(c.column),
          c.midplane + (w * std::cos(c.roll) - u * std::sin(c.roll)) / std::abs(c.row)};
}

/// The most pixels by which a view shows points elsewhere than the circle does. The points lie on the rims of
/// the cylinder that the detector sees.
double miss_of(const FlexibleView& v, const Circle& c, const Shape& frame) {
  const double a = angle_of(v), sod = c.sod * std::cos(c.tilt), least = 0.6 * sod, smaller = sod / c.sdd;
  const double reach = std::min(least, 0.5 * frame[2] * std::abs(c.column) * smaller);
  const double up = std::min(least, 0.5 * frame[1] * std::abs(c.row) * smaller);
  double worst = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const double side = (corner & 1) != 0 ? reach : -reach, z = (corner & 4) != 0 ? up : -up;
    const Vector3 at{(corner & 2) != 0 ? side : 0, (corner & 2) != 0 ? 0 : side, c.height + z};
    const double along = at[0] * std::cos(a) + at[1] * std::sin(a);
    const double depth = sod - at[0] * std::sin(a) + at[1] * std::cos(a);
    const auto [column, row] = shown(v, at);
    const auto [wanted_column, wanted_row] = shown_by(c, along, depth, z);
    worst = std::max({worst, std::abs(column - wanted_column), std::abs(row - wanted_row)});
  }
  return worst;
}

/// The most pixels by which any of the views misses a circle; a very large number if a view does not meet it
/// at all.
double worst_of(const std::vector<FlexibleView>& views, const Circle& c, const Shape& frame) {
  double worst = 0;
  for (const FlexibleView& v : views)
    if (const double miss = miss_of(v, c, frame); !(miss <= worst)) {
      if (!std::isfinite(miss)) return INFINITY;
      worst = miss;
    }
  return worst;
}

bool is_circle(const Circle& c) {
  return c.sod > 0 && c.sdd > c.sod && c.column != 0 && c.row != 0 && std::isfinite(c.axis * c.midplane);
}

/// The circle with an upright detector, unless a detector that leans a little fits clearly better.
Circle best_circle(const std::vector<FlexibleView>& views, const Shape& frame) {
  constexpr double most = in_radians(10);
  const Circle upright = mean_of(views, circle_of), leaning = mean_of(views, leaning_circle_of);
  const bool possible = is_circle(upright) && is_circle(leaning) && std::abs(leaning.roll) <= most &&
                        std::abs(leaning.tilt) <= most;
  if (frame[1] == 1 || !possible) return upright;
  const double miss = worst_of(views, upright, frame);
  return miss > said && worst_of(views, leaning, frame) < 0.5 * miss ? leaning : upright;
}

void take_as_they_are(const std::vector<FlexibleView>& views, const std::string& where,
                      const std::string& why, Acquisition& found) {
  found.info.notes.push_back(where + ": " + why + ": each view keeps its own place");
  take_views(found, {.where = where, .views = views});
}

}  // namespace

FlexibleView turned(const FlexibleView& view, double angle) {
  const auto turn = [c = std::cos(angle), s = std::sin(angle)](const Vector3& p) {
    return Vector3{c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]};
  };
  return {turn(view.source), turn(view.detector), turn(view.bin_step), turn(view.row_step)};
}

void complete_circle(const std::vector<FlexibleView>& views, const std::string& where, const Shape& frame,
                     Acquisition& found) {
  const Circle c = best_circle(views, frame);
  if (!is_circle(c))
    return take_as_they_are(views, where, "the views lie on no circle of the source about the z axis", found);
  double worst = 0;
  for (std::size_t k = 0; k < views.size(); ++k) {
    const double miss = miss_of(views[k], c, frame);
    if (!(miss <= taken))
      return take_as_they_are(views, where,
                              words("view ", k, " is ", miss,
                                    " pixels off a circle of the source about the z axis with a detector "
                                    "that faces the axis"),
                              found);
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
  found.info.axis_bin = c.axis + 0.5 * (frame[2] - 1);
  if (frame[1] > 1) found.midplane_row = c.midplane + 0.5 * (frame[1] - 1);
  if (c.roll != 0) found.info.roll_deg = in_degrees(c.roll);
  if (c.tilt != 0) found.info.tilt_deg = in_degrees(c.tilt);
}

}  // namespace tandem::io
