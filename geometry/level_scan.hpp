#pragma once

#include <memory>
#include <vector>

#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"
#include "curve.hpp"
#include "filtered_rows.hpp"
#include "fitted_orbit.hpp"

namespace tandem {

/// A number that changes evenly over the cells of a detector.
struct EvenlyOverCells {
  double first, a_row, a_bin;
  TANDEM_HOST_DEVICE double at(double row, double bin) const { return first + a_row * row + a_bin * bin; }
};

/// The places from which a view with level rows takes its values, and the weights of its rays before the
/// ramp. A level cell sees what falls on row `row.at / depth.at` of the detector as it stood, and on a bin in
/// the same way.
struct LevelView {
  bool as_it_stood;  ///< rows were level; places are whole numbers
  EvenlyOverCells row, bin, depth;
  double to_first_cell[3], to_next_bin[3], to_next_row[3];  ///< from the source; the ray itself if parallel
  double along[3];                                          ///< direction of the bins, of length 1
  double speed[3];                                          ///< speed of the source, mm/rad
  Curve curve{};                                            ///< curve of the detector as it stood
  Range own_rows{};  ///< the level rows that it has; those beyond are as the first and the last one

  /// Where a level cell lies on the detector as it stood.
  TANDEM_HOST_DEVICE CellPlace place(Index level_row, Index level_bin) const {
    const double r = level_row, b = level_bin, away = depth.at(r, b);
    return curve.bent({row.at(r, b) / away, bin.at(r, b) / away});
  }
};

struct LevelViews {
  std::vector<LevelView> views;
  Index rows, bins;  ///< size of the detector as it stood
  KeptOnDevices kept{};
};

/// A scan of any geometry in the form that a filter takes. Its rows are level: with the source they lie in
/// planes that hold the direction in which the source goes round. A detector that already stands so stays as
/// it is. Any other is turned by the least angle, and a curved one becomes flat. There are as many bins on
/// both sides of the axis, as in `symmetric` of a cone beam.
///
/// In the plane of each row the filter is that of a fan beam whose source goes along any way, as Feldkamp,
/// Davis and Kress (1984) have it for a circle. Derivation: docs/kernels/flexible.md.
struct LevelScan {
  FittedOrbit orbit;
  FlexibleBeam scan;
  std::shared_ptr<const LevelViews> cells;
  /// Weights of rays, (view, 1 + bin + 1), mm^2 rad: their share of the orbit, times what B leaves out. The
  /// first and the last of a view weigh what rows go on with.
  std::vector<float> shares;
  Range own_bins;  ///< the bins of the detector as it stood, among those of the level one
};

/// @throws GeometryError as `fitted_orbit` does
LevelScan level_scan(const FlexibleBeam& scan);

/// The detector of the level scan, or of the parallel fans of a helix (parallel_fans.hpp), which need views
/// beside them.
FilteredRows level_rows(const FlexibleBeam& scan);

/// How the views of an orbit fill it, rad.
struct ViewsOnOrbit {
  std::vector<double> angles;
  double period;  ///< see `period_of`; half a turn of parallel rays that rise a little, if its gap is smaller
  double gap;     ///< the widest one between neighbours
  /// The part of a short scan, of a turn or of half a turn of parallel rays, that views leave open: it counts
  /// as zero.
  double open;
};
/// @throws GeometryError as `fitted_orbit` does
ViewsOnOrbit views_on_orbit(const FlexibleBeam& scan);

}  // namespace tandem
