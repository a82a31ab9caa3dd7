#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "../geometry/scan.hpp"

namespace tandem::pipeline {

/// How the rotation axis is found, by the names that users know.
///
/// opposite: a view and the mirror image of the one half a turn away are registered; for scans over a full
/// turn, also with the axis near an edge of the detector, or with an end view that mirrors the first.
///
/// vo: the sinogram of the other half turn is made up by mirroring about a trial axis; if the axis is right,
/// the Fourier transform of both stays inside a double wedge. For scans over half a turn of a body that is
/// seen whole; what the centre of mass of another one says, and opposite views, is in the uncertainty.
///
/// automatic: opposite where at least half of the views have an opposite one, else vo. For a cone beam
/// opposite rays, which lie in many views, are compared.
enum class AxisMethod { automatic, opposite, vo };
/// "auto", "opposite", "vo". @throws GeometryError for any other
AxisMethod axis_method(std::string_view name);
const char* name_of(AxisMethod method);

struct AxisSearch {
  AxisMethod method = AxisMethod::automatic;
  /// Bins of the detector to look between; empty: all but the outermost 2 %.
  std::optional<std::array<double, 2>> between{};
};

struct AxisEstimate {
  double axis_bin;
  /// Bins, one standard deviation: how far rows, frequencies or groups of views differ, whether other places
  /// fit nearly as well, how far opposite views differ from the rest, of a body that is cut off also the
  /// centre of mass, and a fiftieth of a bin at least.
  double uncertainty;
  double agreement;   ///< share of the signal that agrees with this axis: 1 without noise, near 0 for air
  AxisMethod method;  ///< the one that was used
  /// Where it is if the last view of half a turn repeats the first one, although their angles are a step less
  /// apart: only where views agree better so. The uncertainty covers it.
  std::optional<double> axis_if_repeated{};
  bool cut_off = false;  ///< of vo: whether the sample reaches beyond an end of the detector
};

/// Finds the axis from the line integrals of some rows, (view, row, bin) with view angles in rad, in any
/// order. All rows are taken together; those with more structure count for more.
/// Cost of a row: for vo views x bins^2 / 2 operations and views^2 x bins / 4 more, twice where the last view
/// might repeat the first; for opposite views as for a cone beam. Detectors of more than 1024 bins are
/// averaged to that first.
/// @throws GeometryError if the views do not allow the method, the range reaches beyond the detector, where
/// rays are seen from one side alone, or the rows do not tell the axis: nothing turns, views agree best at an
/// end of the range, or within a tenth of it nearly as well, or the double wedge and the centre of mass of a
/// body that is cut off differ by a tenth of the detector; SpaceError if the sizes do not fit
AxisEstimate find_axis(std::span<const float> line_integrals, std::span<const double> angles, Index rows,
                       Index bins, const AxisSearch& search = {});

/// The same from rows of a cone beam near its midplane, all of a fan beam, (view, row, bin): the axis of
/// `scan` itself is not used. Rays that are measured twice, from either side, must agree: a whole turn has
/// them all, a short scan a few. Cost of a row: views x bins / 2 for each of some 600 trials, bins averaged
/// to 256.
AxisEstimate find_axis(std::span<const float> line_integrals, const ConeBeam& scan,
                       const AxisSearch& search = {});

}  // namespace tandem::pipeline
