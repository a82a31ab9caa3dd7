#include "center.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../core/error.hpp"
#include "../core/names.hpp"
#include "../core/rounding.hpp"
#include "../core/spelled.hpp"
#include "../core/units.hpp"
#include "../geometry/view_angles.hpp"
#include "ways.hpp"

namespace tandem::calibration {

namespace {

constexpr std::array names{"auto", "opposite", "vo"};

void check(std::span<const float> line_integrals, std::span<const double> angles, Index rows, Index bins) {
  const Index views = angles.size();
  require<SpaceError>(rows > 0 && std::ssize(line_integrals) == views * rows * bins,
                      "center: ", line_integrals.size(), " line integrals; ", views, " views x ", rows,
                      " rows x ", bins, " bins are needed");
  require<GeometryError>(bins >= 16 && views >= 2, "center: ", views, " views of ", bins,
                         " bins; at least 2 views of 16 bins are needed");
  for (double angle : angles)
    require<GeometryError>(std::isfinite(angle), "center: an angle is ", angle,
                           " rad; finite numbers are needed");
}

/// The range of the search, within the detector, because beyond it no ray is seen from both sides.
std::array<double, 2> range_of(const AxisSearch& search, Index bins) {
  const double last = bins - 1;
  const auto [low, high] = search.between.value_or(std::array{0.02 * last, 0.98 * last});
  require<GeometryError>(low < high, "center: nothing lies between bins ", low, " and ", high,
                         "; give the lower one first");
  require<GeometryError>(
      low >= 0 && high <= last, "center: bins ", low, " to ", high, " are not all on the detector, 0 to ",
      last, "; an axis beside the detector is seen from one side only and cannot be found: give it");
  return {low, high};
}

/// The estimate, if it is one: views that agree best at an end of the range agree still better beyond it.
AxisEstimate within(const std::array<double, 2>& range, Index rows, const AxisEstimate& found,
                    const std::string& advice) {
  constexpr double widest = 0.1;  // share of the range; beyond, views agree nearly as well at other places
  const char* method = name_of(found.method);
  require<GeometryError>(std::isfinite(found.uncertainty), "center ", method, ": ", rows,
                         rows == 1 ? " row holds" : " rows hold", " nothing between bins ", range[0], " and ",
                         range[1], " that tells the axis; search between other bins; ", advice);
  require<GeometryError>(found.uncertainty < widest * (range[1] - range[0]), "center ", method,
                         ": the axis is uncertain by ", found.uncertainty, " of the bins ", range[0], " to ",
                         range[1], "; ", advice);
  require<GeometryError>(found.axis_bin > range[0] && found.axis_bin < range[1], "center ", method,
                         ": views agree best at an end of the range, bins ", range[0], " to ", range[1],
                         "; search farther, or give the axis if it lies beside the detector");
  return found;
}

/// The estimate with an uncertainty that covers the centre of mass, if that is in the range. The double wedge
/// holds for a body that is seen whole. If the body reaches beyond the detector, its centre of mass is as
/// good an estimate.
AxisEstimate covering_mass(AxisEstimate found, const Rays& rays, const std::array<double, 2>& range) {
  constexpr double widest = 0.1;  // share of the detector
  const MassAxis mass = axis_by_mass(rays);
  found.cut_off = mass.cut_off;
  if (!found.cut_off) return found;
  const double other = std::clamp(mass.axis_bin, range[0], range[1]);
  found.uncertainty = std::hypot(found.uncertainty, other - found.axis_bin);
  require<GeometryError>(found.uncertainty < widest * rays.bins,
                         "center vo: the sample reaches beyond the detector; its double wedge says bin ",
                         found.axis_bin, ", its centre of mass bin ", other,
                         "; choose rows that are seen whole, search between fewer bins, or give the axis");
  return found;
}

/// The axis by the double wedge. If some views have an opposite view, as the last one of half a turn may
/// have, they check it: the uncertainty grows by the part of the difference that both uncertainties do not
/// explain.
AxisEstimate cross_checked(const Rays& rays, const std::array<double, 2>& range) {
  AxisEstimate found = axis_by_double_wedge(rays.line_integrals, rays.angles, rays.rows, rays.bins, range);
  if (share_with_opposites(rays.angles) == 0) return found;
  const AxisEstimate other = axis_by_opposite_rays(rays, range);
  const double apart = other.axis_bin - found.axis_bin,
               explained = std::hypot(found.uncertainty, other.uncertainty);
  if (std::abs(apart) > explained)
    found.uncertainty =
        std::sqrt(found.uncertainty * found.uncertainty + apart * apart - explained * explained);
  return found;
}

}  // namespace

AxisMethod axis_method(std::string_view name) {
  return value_named<AxisMethod>(names, name, "rotation axis method");
}

const char* name_of(AxisMethod method) { return row_of(names, method); }

AxisEstimate find_axis(std::span<const float> line_integrals, std::span<const double> angles, Index rows,
                       Index bins, const AxisSearch& search) {
  check(line_integrals, angles, rows, bins);
  const auto range = range_of(search, bins);
  const Rays rays{line_integrals, angles, rows, bins};
  const std::string advice = axis_advice(angles, half_turn, rows > 1);
  const double twice = share_with_opposites(angles);
  require<GeometryError>(
      !search.aside || (search.method != AxisMethod::vo && all_round(angles)),
      "center: the axis of a half acquisition is found from opposite views; give views all "
      "round, and the method auto or opposite");
  if (search.method == AxisMethod::vo ||
      (search.method == AxisMethod::automatic && twice < 0.5 && !search.aside))
    return covering_mass(within(range, rows, cross_checked(rays, range), advice), rays, range);
  require<GeometryError>(twice > 0, "center opposite: no two of the ", angles.size(),
                         " views are 180 degrees apart; use the method vo");
  return within(range, rows, axis_by_opposite_rays(rays, range, search.aside), advice);
}

AxisEstimate find_axis(std::span<const float> line_integrals, const ConeBeam& scan,
                       const AxisSearch& search) {
  validate(scan);
  const Detector& d = scan.detector;
  constexpr std::size_t least = 16;
  check(line_integrals, scan.angles, d.rows, d.bins);
  require<GeometryError>(scan.angles.size() >= least, "center: ", scan.angles.size(),
                         " views of a cone beam; at least ", least, " are needed");
  require<GeometryError>(search.method != AxisMethod::vo,
                         "center vo: is for parallel beams; for a cone beam give auto or opposite, which "
                         "compares opposite rays");
  const auto range = range_of(search, d.bins);
  const Rays rays{line_integrals, scan.angles, d.rows, d.bins, d.bin_pitch / scan.sdd};
  return within(range, d.rows, axis_by_opposite_rays(rays, range, search.aside),
                axis_advice(scan.angles, whole_turn, d.rows > 1));
}

AxisEstimate find_axis(std::span<const float> line_integrals, const Scan& scan, Index rows,
                       const AxisSearch& search) {
  if (period_of(scan) == half_turn)
    return find_axis(line_integrals, angles_of(scan), rows, detector_of(scan).bins, search);
  ConeBeam some = point_source_of(scan);
  some.detector.rows = rows;
  AxisEstimate axis = find_axis(line_integrals, some, search);
  for (double& angle : some.angles) angle = -angle;
  double turned = 0;
  try {
    turned = find_axis(line_integrals, some, search).agreement;
  } catch (const GeometryError&) {  // then the views do not agree
  }
  axis.turns_back = turned > axis.agreement;
  return axis;
}

std::vector<Index> rows_for_axis(const Scan& scan, Range selected, Index count) {
  count = std::min(count, selected.size());
  const std::optional<double> midplane = midplane_of(scan);
  const double first = midplane ? std::round(*midplane - 0.5 * (count - 1)) : 0;
  const Index next = floor_index(std::clamp<double>(first, selected.first, selected.last - count));
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k)
    rows.push_back(midplane ? next + k : selected.first + (2 * k + 1) * selected.size() / (2 * count));
  return rows;
}

std::vector<double> axes_of(const AxisEstimate& axis) {
  std::vector<double> axes{axis.axis_bin};
  if (axis.axis_if_repeated) axes.push_back(*axis.axis_if_repeated);
  return axes;
}

std::string axis_advice(std::span<const double> angles, double turn, bool others) {
  constexpr double few = in_radians(170);
  const double filled = turn - widest_gap(angles, turn);
  std::ostringstream text;
  text.precision(3);
  if (filled < few)
    text << "the views fill " << in_degrees(filled)
         << " degrees, in which hardly a ray is seen from both sides; ";
  if (others && filled >= few) text << "choose other rows, or more of them, or ";
  text << "give the axis by " + spelled("rotation-axis") + ", or look at slices about some (tandem recon " +
              spelled("sweep") + ")";
  return text.str();
}

}  // namespace tandem::calibration
