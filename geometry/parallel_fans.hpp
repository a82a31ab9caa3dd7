#pragma once

#include <optional>
#include <vector>

#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"
#include "fitted_orbit.hpp"
#include "flexible_views.hpp"

namespace tandem {

/// The rays of a helix, sorted by their direction across the axis. A parallel fan of the angle t has the rays
/// that go against the direction t: in bin b that one which passes p = (b - axis_bin) bin_pitch beside the
/// axis. It comes from the source at the angle t + asin(p / radius). In row r it rises by (r - level_row)
/// row_slope cos(asin(p / radius)) times its way across the axis, as rows of a flat detector do.
struct ParallelFans {
  double radius;               ///< of the helix, mm
  double bin_pitch, axis_bin;  ///< mm at the axis
  double row_slope, level_row;
  Index rows, bins;
  double rise;         ///< the pitch of the helix, mm a turn
  double way;          ///< 1 if the angles of the views grow, else -1
  double first, last;  ///< between these angles, times `way`, fans have all of their rays
};

/// Where one view sees a point, as it stood: on row `row.at / depth.at`, and on a bin in the same way. The
/// point lies `along` beside the axis in the direction in which the source goes, `outwards` towards the
/// source, and `height` above the source.
struct FanView {
  struct Sum {
    double first, along, outwards, height;
    TANDEM_HOST_DEVICE double at(double a, double o, double h) const {
      return first + along * a + outwards * o + height * h;
    }
  };
  double angle;  ///< of the source, times `way`, rad
  Sum row, bin, depth;
};

/// Views as they stood.
struct FanViews : ParallelFans {
  std::vector<FanView> views;
  Index rows_before, bins_before;  ///< of their detector
  bool upright;                    ///< whether each row comes from the row with its number
  KeptOnDevices kept{};
};

/// What a fan stands for.
struct FanStep {
  double angle;  ///< rad
  double step;   ///< rad; 0 for a fan that lacks rays
};

struct FanSteps {
  std::vector<FanStep> views;
  KeptOnDevices kept{};
};

/// A helix of a cone beam as weighted filtered back-projection takes it (docs/kernels/helix.md).
struct HelixScan {
  FittedOrbit orbit;
  FanViews seen;
  FanSteps fans;  ///< one at the angle of each view
};

/// Nothing if `orbit`, that of the scan, is none that is taken so: a circle, parallel rays, a curved detector
/// or one on one side of the axis, a pitch of less than a row, or hardly more than half a turn of fans.
std::optional<HelixScan> helix_scan(const FlexibleBeam& scan, const FittedOrbit& orbit);

/// Where its fans lie.
Detector detector_of(const HelixScan& helix);

/// The views that some of the fans are made from.
Range views_behind(const HelixScan& helix, Range fans);
/// How many more there may be than fans.
Index views_beside(const HelixScan& helix);

/// The share of directions from which a slice of a grid is not seen, of voxels in the field of view that are
/// spread over it: a voxel needs all directions of half a turn across the axis.
double share_unseen(const HelixScan& helix, const VolumeGrid& grid, Index slice);

/// A parallel fan in units of a grid.
struct FanPlace {
  Evenly bin;     ///< on which a voxel falls
  Evenly depth;   ///< towards the source from the axis, mm
  Evenly height;  ///< above the source of the middle ray, mm
  /// How many half turns the fan comes before the first and the last that can be in the middle of those which
  /// make a voxel.
  double before_first, before_last;
  double step;  ///< rad
};

struct FanPlaces {
  std::vector<FanPlace> views;
  ParallelFans fans;
  double window, fade;  ///< half turns: see `fan_share` (kernels/helix.hpp)
  KeptOnDevices kept{};
};

/// @throws GeometryError unless all voxels are nearer to the axis than the sources
FanPlaces pack(const HelixScan& helix, Range fans, const VolumeGrid& grid);

}  // namespace tandem
