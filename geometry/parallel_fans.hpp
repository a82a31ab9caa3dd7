#pragma once

#include <optional>
#include <vector>

#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"
#include "fitted_orbit.hpp"
#include "flexible_views.hpp"

namespace tandem {

/// The rays of a helix, sorted by their direction across the axis. A parallel fan of the angle t has the rays
/// that go against the direction t. Its bin b has the ray that passes p = (b - axis_bin) bin_pitch beside the
/// axis; this ray comes from the source at the angle t + asin(p / radius). In row r it rises by (r -
/// level_row) row_slope cos(asin(p / radius)) times its way across the axis, as rows of a flat detector do.
struct ParallelFans {
  double radius;               ///< radius of the helix, mm
  double bin_pitch, axis_bin;  ///< mm at the axis
  double row_slope, level_row;
  Index rows, bins;
  double rise;         ///< the pitch of the helix, mm a turn
  double way;          ///< 1 if the angles of the views grow, else -1
  double first, last;  ///< between these angles, times `way`, fans have all of their rays
};

/// Where a view of the scan, before fans are made, sees a point: on row `row.at / depth.at`, and on a bin in
/// the same way. The point lies `along` beside the axis in the direction in which the source goes, `outwards`
/// towards the source, and `height` above the source.
struct FanView {
  struct Sum {
    double first, along, outwards, height;
    TANDEM_HOST_DEVICE double at(double a, double o, double h) const {
      return first + along * a + outwards * o + height * h;
    }
  };
  double angle;  ///< angle of the source, times `way`, rad
  Sum row, bin, depth;
};

/// The views of the scan, before fans are made.
struct FanViews : ParallelFans {
  std::vector<FanView> views;
  Index rows_before, bins_before;  ///< size of their detector
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

/// The helix of a scan with the orbit `orbit`. Nothing if the orbit is a circle, for parallel rays, for a
/// detector that is curved or on one side of the axis, for a pitch of less than a row, and for hardly more
/// than half a turn of fans.
std::optional<HelixScan> helix_scan(const Scan& scan, const FittedOrbit& orbit);

/// The detector on which the fans lie.
Detector detector_of(const HelixScan& helix);

/// The views that some of the fans are made from.
Range views_behind(const HelixScan& helix, Range fans);
/// How many more views than fans there may be.
Index views_beside(const HelixScan& helix);

/// The share of directions from which a slice of a grid is not seen: a voxel needs all directions of half a
/// turn across the axis. It is taken from voxels that are spread over the field of view.
double share_unseen(const HelixScan& helix, const VolumeGrid& grid, Index slice);

/// A parallel fan in units of a grid.
struct FanPlace {
  Evenly bin;     ///< bin on which a voxel falls
  Evenly depth;   ///< distance of a voxel from the axis towards the source, mm
  Evenly height;  ///< height of a voxel above the source of the middle ray, mm
  /// How many half turns the fan comes before the first fan, and before the last one, that can be the middle
  /// one of the fans that make a voxel.
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
