#include "changed_views.hpp"

#include <cmath>

#include "../geometry/free_views.hpp"
#include "../geometry/vector3.hpp"

namespace tandem::calibration {

namespace {

/// A vector turned about a direction of length 1 (Rodrigues).
Vector3 turned(const Vector3& a, const Vector3& about, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return c * a + s * cross(about, a) + (1 - c) * dot(about, a) * about;
}

Vector3 unit(const Vector3& a) { return 1 / length(a) * a; }

void roll_view(FlexibleView& view, bool parallel, double angle) {
  const Vector3 beam = unit(view.source), back = parallel ? -1.0 * beam : beam;
  view.detector = turned(view.detector, back, angle);
  view.bin_step = turned(view.bin_step, back, angle), view.row_step = turned(view.row_step, back, angle);
}

void tilt_view(FlexibleView& view, double angle) {
  const Vector3 along = unit(view.bin_step);
  for (Vector3* each : {&view.source, &view.detector, &view.row_step}) *each = turned(*each, along, angle);
}

}  // namespace

FlexibleBeam changed(const Scan& scan, const Change& change) {
  FlexibleBeam all = as_free_views(scan);
  for (FlexibleView& view : all.views) {
    view = moved(all, view, -change.rows, -change.bins);
    tilt_view(view, change.tilt);
    roll_view(view, all.parallel, change.roll);
  }
  return all;
}

CellPlace place_of(const FlexibleBeam& scan, const FlexibleView& view, const Vector3& point) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  const Vector3 ray = scan.parallel ? view.source : point - view.source;
  const Vector3 from = scan.parallel ? point : view.source;
  const Vector3 on = from + dot(view.detector - from, normal) / dot(ray, normal) * ray - view.detector;
  const double square = dot(normal, normal);
  return {dot(on, cross(normal, view.bin_step)) / square, dot(on, cross(view.row_step, normal)) / square};
}

double elevation_of(const FlexibleBeam& scan, const FlexibleView& view) {
  const Vector3 ray = scan.parallel ? view.source : -1.0 * view.source;
  return std::asin(ray[2] / length(ray));
}

bool leans(const Scan& scan) {
  constexpr double clearly = 0.1;
  const FlexibleBeam free = as_free_views(scan);
  return std::abs(elevation_of(free, free.views.front())) > clearly;
}

double roll_of(const FlexibleBeam& scan, const FlexibleView& view) {
  return std::asin(view.bin_step[2] / (length(view.bin_step) * std::cos(elevation_of(scan, view))));
}

double height_on_axis(const FlexibleBeam& scan, const FlexibleView& view, double row) {
  const Vector3 place = view.detector + row * view.row_step,
                ray = scan.parallel ? view.source : place - view.source, normal = cross(view.bin_step, ray);
  return dot(normal, place) / normal[2];
}

}  // namespace tandem::calibration
