#include "free_views.hpp"

#include <cmath>

#include "../core/error.hpp"
#include "../core/units.hpp"
#include "shortest_number.hpp"
#include "vector3.hpp"

namespace tandem {

namespace {

double middle_of(Index count) { return 0.5 * (count - 1); }

/// The directions of a view at an angle: along the bins and the rows of an upright detector, and of the beam.
/// A tilt turns the beam and the detector about the bins.
struct Level {
  Vector3 along, beam, up;
  explicit Level(double angle, double tilt = 0)
      : along{std::cos(angle), std::sin(angle), 0},
        beam{-std::cos(tilt) * along[1], std::cos(tilt) * along[0], std::sin(tilt)},
        up{std::sin(tilt) * along[1], -std::sin(tilt) * along[0], std::cos(tilt)} {}
};

/// The detector of a view with its steps, whose middle is a cell at `from`.
FlexibleView view_of(const Level& at, const Detector& d, double roll, const Vector3& source,
                     const Vector3& from) {
  const double c = std::cos(roll), s = std::sin(roll);
  return {source, from, d.bin_pitch * (c * at.along + s * at.up), d.row_pitch * (c * at.up - s * at.along)};
}

/// The view at an angle. In the frame of the axis, the beam of a tilted one rises by the tilt, and the source
/// is level with z = 0.
FlexibleView view_of(const ConeBeam& scan, double angle, const OffCircle& off = {}) {
  const Detector& d = scan.detector;
  const Level at(angle, off.tilt), level(angle);
  const Vector3 source = -(scan.sod * std::cos(off.tilt)) * level.beam;
  const FlexibleBeam detector{.detector = d, .curved = off.curved};
  return moved(detector, view_of(at, d, off.roll, source, source + scan.sdd * at.beam),
               middle_of(d.rows) - scan.midplane_row, middle_of(d.bins) - d.axis_bin);
}

FlexibleView view_of(const ParallelBeam& scan, double angle, double shift = 0, const OffCircle& off = {}) {
  const Detector& d = scan.detector;
  const Level at(angle, off.tilt);
  const double aside = middle_of(d.bins) - d.axis_bin;
  const Vector3 lowered = -(aside * d.bin_pitch * std::sin(off.roll)) * at.up;
  return moved({.detector = d, .parallel = true}, view_of(at, d, off.roll, at.beam, lowered), 0,
               aside - shift);
}

FlexibleBeam free_views_of(const ConeBeam& scan, const OffCircle& off) {
  FlexibleBeam views{.detector = scan.detector, .curved = off.curved};
  for (const double angle : scan.angles) views.views.push_back(view_of(scan, angle, off));
  return views;
}

FlexibleBeam free_views_of(const ParallelBeam& scan, const OffCircle& off) {
  require<GeometryError>(scan.row_axis_bins.empty(),
                         "ParallelBeam: its rows have axes of their own, which no vectors say");
  require<GeometryError>(!off.curved, "ParallelBeam: its detector is flat; a curved one lies about a source");
  FlexibleBeam views{scan.detector, {}, true};
  for (std::size_t k = 0; k < scan.angles.size(); ++k)
    views.views.push_back(view_of(scan, scan.angles[k], scan.shift_of(k), off));
  return views;
}

FlexibleBeam free_views_of(const FlexibleBeam& scan, const OffCircle& off) {
  require<GeometryError>(!off.any(), "FlexibleBeam: each view has its own place, and is not moved");
  return scan;
}

void require_one_per_view(std::size_t count, std::size_t views, const char* what) {
  require<GeometryError>(count == 0 || count == views, "free views: ", count, " ", what, " for ", views,
                         " views; one per view is needed");
}

/// Moves the views. If the image lies towards higher cells, the detector stands so much lower. If the sample
/// moves, source and detector move the other way.
void move_views(FlexibleBeam& scan, const std::vector<double>& angles, const OffCircle& off) {
  require_one_per_view(off.bin_shifts.size(), angles.size(), "shifts of bins");
  require_one_per_view(off.row_shifts.size(), angles.size(), "shifts of rows");
  require_one_per_view(off.moves.size(), angles.size(), "moves of the sample");
  for (std::size_t k = 0; k < angles.size(); ++k) {
    FlexibleView& view = scan.views[k];
    if (!off.bin_shifts.empty()) view = moved(scan, view, 0, -off.bin_shifts[k]);
    if (!off.row_shifts.empty()) view = moved(scan, view, -off.row_shifts[k], 0);
    if (off.moves.empty()) continue;
    const Level at(angles[k]);
    const auto [across, along, up] = off.moves[k];
    const Vector3 moved = across * at.along + along * at.beam + up * at.up;
    view.detector = view.detector - moved;
    if (!scan.parallel) view.source = view.source - moved;
  }
}

/// The mean of what `get` finds in all views.
template <class Get>
double mean(const FlexibleBeam& scan, const Get& get) {
  long double sum = 0;
  for (const FlexibleView& view : scan.views) sum += get(view);
  return static_cast<double>(sum / scan.views.size());
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
                               open_digits(scale / d.bin_pitch + d.bins));
  return d;
}

std::optional<Scan> parallel_of(const FlexibleBeam& scan) {
  const double scale = mean(scan, [](const FlexibleView& v) { return length(v.detector); });
  ParallelBeam beam{detector_of_circle(scan, scale)};
  beam.angles = angles_that(scan, [&](double angle) { return view_of(beam, angle); });
  if (!(beam.detector.row_pitch > 0) || !same_views(scan, free_views_of(beam, {}))) return std::nullopt;
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
                                      open_digits(sdd / std::abs(d.row_pitch) + d.rows));
  beam.angles = angles_that(scan, [&](double angle) { return view_of(beam, angle); });
  const bool possible = d.row_pitch > 0 && beam.sod > 0 && beam.sdd > beam.sod;
  if (!possible || !same_views(scan, free_views_of(beam, {}))) return std::nullopt;
  return point_source_scan(std::move(beam));
}

}  // namespace

bool OffCircle::any() const {
  return roll != 0 || tilt != 0 || !bin_shifts.empty() || !row_shifts.empty() || !moves.empty() || curved;
}

FlexibleBeam as_free_views(const Scan& scan, const OffCircle& off) {
  FlexibleBeam free = std::visit([&](const auto& s) { return free_views_of(s, off); }, scan);
  move_views(free, angles_of(scan), off);
  free.detector.axis_bin = middle_of(free.detector.bins);
  return free;
}

std::optional<Scan> as_circle(const FlexibleBeam& scan) {
  validate(scan);
  if (scan.curved) return std::nullopt;
  return scan.parallel ? parallel_of(scan) : cone_of(scan);
}

}  // namespace tandem
