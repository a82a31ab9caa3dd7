#include "free_views.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../core/units.hpp"
#include "shortest_number.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

double middle_of(Index count) { return 0.5 * static_cast<double>(count - 1); }

/// The directions of a view at an angle: of its bins, and of its middle ray.
struct Level {
  Vector3 along, away;
  explicit Level(double angle) : along{std::cos(angle), std::sin(angle), 0}, away{-along[1], along[0], 0} {}
};

FlexibleView view_of(const ConeBeam& scan, double angle) {
  const Detector& d = scan.detector;
  const Level at(angle);
  const Vector3 source = -scan.sod * at.away;
  return {source,
          source + scan.sdd * at.away + (middle_of(d.bins) - d.axis_bin) * d.bin_pitch * at.along +
              Vector3{0, 0, (middle_of(d.rows) - scan.midplane_row) * d.row_pitch},
          d.bin_pitch * at.along,
          {0, 0, d.row_pitch}};
}

FlexibleView view_of(const ParallelBeam& scan, double angle, double shift = 0) {
  const Detector& d = scan.detector;
  const Level at(angle);
  return {at.away,
          (middle_of(d.bins) - d.axis_bin - shift) * d.bin_pitch * at.along,
          d.bin_pitch * at.along,
          {0, 0, d.row_pitch}};
}

FlexibleBeam free_views_of(const ConeBeam& scan) {
  FlexibleBeam views{scan.detector};
  for (const double angle : scan.angles) views.views.push_back(view_of(scan, angle));
  return views;
}

FlexibleBeam free_views_of(const ParallelBeam& scan) {
  require<GeometryError>(scan.row_axis_bins.empty(),
                         "ParallelBeam: its rows have axes of their own, which no vectors say");
  FlexibleBeam views{scan.detector, {}, true};
  for (std::size_t k = 0; k < scan.angles.size(); ++k)
    views.views.push_back(view_of(scan, scan.angles[k], scan.shift_of(k)));
  return views;
}

const FlexibleBeam& free_views_of(const FlexibleBeam& scan) { return scan; }

/// The mean of what `get` finds in all views.
template <class Get>
double mean(const FlexibleBeam& scan, const Get& get) {
  long double sum = 0;
  for (const FlexibleView& view : scan.views) sum += static_cast<long double>(get(view));
  return static_cast<double>(sum / static_cast<long double>(scan.views.size()));
}

/// The usual number of degrees that rounding cannot tell from an angle, rad.
double usual_angle(double angle) {
  constexpr double off = 0x1p-50 * 360;  // degrees that rounding may take from an arc tangent
  return in_radians(shortest_number(in_degrees(angle), off));
}

/// An angle, and how many vectors of its view it makes to the bit.
struct Match {
  double angle;
  int vectors;
};

/// The angle, of a usual number of degrees and those next to the given one, that makes most.
template <class Make>
Match best_match(const FlexibleView& view, double angle, const Make& make) {
  Match best{usual_angle(angle), -1};
  const auto look_at = [&](double each) {
    const FlexibleView made = make(each);
    const int same = (made.bin_step == view.bin_step) + (made.source == view.source);
    if (same > best.vectors) best = {each, same};
  };
  look_at(best.angle), look_at(angle);
  double above = angle, below = angle;
  for (int step = 0; step < 4; ++step) {
    look_at(above = std::nextafter(above, INFINITY));
    look_at(below = std::nextafter(below, -INFINITY));
  }
  return best;
}

/// The angles of all views: the first within the turn from 0 on, each next one nearest to the one before,
/// unless one of a turn less or more makes more of the view to the bit.
template <class Make>
std::vector<double> angles_that(const FlexibleBeam& scan, const Make& make) {
  std::vector<double> angles;
  for (const FlexibleView& view : scan.views) {
    const double from = angles.empty() ? half_turn : angles.back();
    const double angle = std::atan2(view.bin_step[1], view.bin_step[0]);
    Match best{angle, -1};
    for (const double each : {angle + whole_turn * std::round((from - angle) / whole_turn), angle,
                              angle < 0 ? angle + whole_turn : angle - whole_turn})
      if (const Match match = best_match(view, each, make); match.vectors > best.vectors) best = match;
    angles.push_back(best.angle);
  }
  return angles;
}

bool same_way(const Vector3& a, const Vector3& b, double off) { return length(a - b) <= off; }

/// Whether two scans have the same views; rays of parallel ones may go the other way.
bool same_views(const FlexibleBeam& a, const FlexibleBeam& b) {
  constexpr double same = 1e-9;
  for (std::size_t k = 0; k < a.views.size(); ++k) {
    const FlexibleView &one = a.views[k], &other = b.views[k];
    const double pitch = same * length(other.bin_step);
    Vector3 apart = one.detector - other.detector;
    double reach = length(other.detector) + length(other.source);
    if (a.parallel) {
      const Vector3 ray = 1 / length(one.source) * one.source;
      if (length(cross(ray, other.source)) > same) return false;
      apart = apart - dot(apart, other.source) * other.source;  // along the rays it may stand anywhere
      reach = length(other.detector) + 1e9 * pitch;
    } else if (!same_way(one.source, other.source, same * reach)) {
      return false;
    }
    if (length(apart) > same * reach || !same_way(one.bin_step, other.bin_step, pitch) ||
        !same_way(one.row_step, other.row_step, same * length(other.row_step)))
      return false;
  }
  return true;
}

/// Pitches, and where the axis falls. `scale`: of the lengths from which all this is made, mm.
Detector detector_of_circle(const FlexibleBeam& scan, double scale) {
  Detector d = scan.detector;
  const auto along = [](const FlexibleView& v) { return length(v.bin_step); };
  d.bin_pitch = shortest_number(mean(scan, along), open_digits(scan.detector.bin_pitch));
  d.row_pitch = shortest_number(mean(scan, [](const FlexibleView& v) { return v.row_step[2]; }),
                                open_digits(std::abs(scan.detector.row_pitch)));
  const double aside = mean(scan, [](const FlexibleView& v) { return dot(v.detector, v.bin_step); });
  d.axis_bin = shortest_number(middle_of(d.bins) - aside / (d.bin_pitch * d.bin_pitch),
                               open_digits(scale / d.bin_pitch + static_cast<double>(d.bins)));
  return d;
}

std::optional<Scan> parallel_of(const FlexibleBeam& scan) {
  const double scale = mean(scan, [](const FlexibleView& v) { return length(v.detector); });
  ParallelBeam beam{detector_of_circle(scan, scale)};
  beam.angles = angles_that(scan, [&](double angle) { return view_of(beam, angle); });
  if (!(beam.detector.row_pitch > 0) || !same_views(scan, free_views_of(beam))) return std::nullopt;
  return beam;
}

std::optional<Scan> cone_of(const FlexibleBeam& scan) {
  const auto from_axis = [](const FlexibleView& v) { return std::hypot(v.source[0], v.source[1]); };
  const auto to_detector = [](const FlexibleView& v) {
    const Vector3 away{-v.bin_step[1], v.bin_step[0], 0};
    return dot(v.detector - v.source, away) / length(away);
  };
  const double sdd = mean(scan, to_detector);
  ConeBeam beam{detector_of_circle(scan, sdd)};
  beam.sod = shortest_number(mean(scan, from_axis), open_digits(mean(scan, from_axis)));
  beam.sdd = shortest_number(sdd, open_digits(sdd));
  const Detector& d = beam.detector;
  const double height = mean(scan, [](const FlexibleView& v) { return v.detector[2]; });
  beam.midplane_row = shortest_number(middle_of(d.rows) - height / d.row_pitch,
                                      open_digits(sdd / std::abs(d.row_pitch) + static_cast<double>(d.rows)));
  beam.angles = angles_that(scan, [&](double angle) { return view_of(beam, angle); });
  const bool possible = d.row_pitch > 0 && beam.sod > 0 && beam.sdd > beam.sod;
  if (!possible || !same_views(scan, free_views_of(beam))) return std::nullopt;
  return point_source_scan(std::move(beam));
}

}  // namespace

FlexibleBeam as_free_views(const Scan& scan) {
  FlexibleBeam free = std::visit([](const auto& s) { return FlexibleBeam(free_views_of(s)); }, scan);
  free.detector.axis_bin = middle_of(free.detector.bins);
  return free;
}

std::optional<Scan> as_circle(const FlexibleBeam& scan) {
  validate(scan);
  return scan.parallel ? parallel_of(scan) : cone_of(scan);
}

}  // namespace tandem
