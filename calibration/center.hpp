#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// The method by which the rotation axis is found. The names are those of the option.
///
/// opposite: registers a view and the mirror image of the view half a turn away. It is for scans over a full
/// turn, also with the axis near an edge of the detector, and for scans whose end view mirrors the first one.
///
/// vo: makes the sinogram of the other half turn by mirroring about a trial axis. If the axis is right, the
/// Fourier transform of both halves stays inside a double wedge. It is for scans over half a turn of a body
/// that is seen whole. If the body is cut off, the uncertainty includes what its centre of mass and opposite
/// views say.
///
/// automatic: opposite if at least half of the views have an opposite one, else vo. For a cone beam it
/// compares opposite rays, which lie in many views.
enum class AxisMethod { automatic, opposite, vo };
/// "auto", "opposite", "vo". @throws GeometryError for any other name
AxisMethod axis_method(std::string_view name);
const char* name_of(AxisMethod method);

struct AxisSearch {
  AxisMethod method = AxisMethod::automatic;
  /// The bins of the detector to search between; empty: all except the outermost 2 %.
  std::optional<std::array<double, 2>> between{};
  bool aside = false;  ///< whether the axis is clearly nearer to one end, as in a half acquisition
};

struct AxisEstimate {
  double axis_bin;
  /// One standard deviation, in bins. It includes how much rows, frequencies or groups of views differ,
  /// whether other places fit nearly as well, and how much opposite views differ from the rest. For a body
  /// that is cut off it also includes the centre of mass. It is at least a fiftieth of a bin.
  double uncertainty;
  double agreement;   ///< the share of the signal that agrees with this axis: 1 without noise, near 0 for air
  AxisMethod method;  ///< the method that was used
  /// The axis if the last view of half a turn is taken as a repeat of the first one, where the recorded
  /// angles put it one step earlier. It is set only if views agree better in this way. The uncertainty covers
  /// it.
  std::optional<double> axis_if_repeated{};
  bool cut_off = false;  ///< for vo: whether the sample reaches beyond an end of the detector
  /// For a scan with a point source: whether its views agree better in the other sense of rotation, since
  /// files and users may be wrong about it.
  bool turns_back = false;
};

/// Finds the axis from the line integrals of some rows, (view, row, bin), with view angles in rad in any
/// order. All rows are taken together; rows with more structure count more. Detectors of more than 1024 bins
/// are first averaged to that. Cost per row: for vo views x bins^2 / 2 operations and views^2 x bins / 4
/// more, twice that if the last view might repeat the first; for opposite views as for a cone beam.
/// @throws GeometryError if the views do not allow the method, or if the range reaches beyond the detector,
/// where rays are seen from one side only. It also throws if the rows do not tell the axis: nothing turns;
/// views agree best at an end of the range, or nearly as well within a tenth of it; or, for a body that is
/// cut off, the double wedge and the centre of mass differ by a tenth of the detector. @throws SpaceError if
/// the sizes do not fit
AxisEstimate find_axis(std::span<const float> line_integrals, std::span<const double> angles, Index rows,
                       Index bins, const AxisSearch& search = {});

/// Finds the axis from rows of a cone beam near its midplane, or from the row of a fan beam, (view, row,
/// bin). The axis of `scan` itself is not used. Rays that are measured twice, from both sides, must agree. In
/// a whole turn all rays are measured twice, and in a short scan a few. Cost per row: views x bins / 2 for
/// each of some 600 trials, with bins averaged to 256.
AxisEstimate find_axis(std::span<const float> line_integrals, const ConeBeam& scan,
                       const AxisSearch& search = {});

/// Finds the axis from some rows of a scan of any kind, as the functions above do, and looks whether a point
/// source goes round the other way. @throws GeometryError also for views that have no axis
AxisEstimate find_axis(std::span<const float> line_integrals, const Scan& scan, Index rows,
                       const AxisSearch& search = {});

/// The rows that tell the axis, `count` of the selected ones: spread over them, or for a point source next to
/// the midplane, since only near it rays are measured twice.
std::vector<Index> rows_for_axis(const Scan& scan, Range selected, Index count);

/// The axes that are possible by an estimate.
std::vector<double> axes_of(const AxisEstimate& axis);

/// Why the axis is hard to find, if the reason lies in the angles of the views, rad, and what may help.
/// "choose other rows" is a remedy only if there are `others`. `turn`: the arc of which views must fill the
/// greater part to tell an axis: half a turn for a parallel beam, a whole turn for a fan.
std::string axis_advice(std::span<const double> angles, double turn, bool others);

}  // namespace tandem::calibration
