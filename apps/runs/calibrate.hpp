#pragma once

#include "../../calibration/balls.hpp"
#include "../../calibration/view_moves.hpp"
#include "../../io/sheet.hpp"
#include "../options/scan_options.hpp"

namespace tandem::apps {

/// The result of `calibrate`: the views, a report of them, and pictures.
struct Calibrated {
  Scan scan;
  nlohmann::json report;
  std::vector<std::string> lines;     ///< the report for people
  std::vector<io::Picture> pictures;  ///< before and after
  io::Sheet sheet;
};

/// Finds the geometry from the shadows of balls. @throws GeometryError for another kind than a cone beam, and
/// if balls do not tell the geometry
Calibrated calibrate_on_balls(io::ScanReader& reader, const ScanOptions& options,
                              const calibration::BallKnowledge& known, ProgressLine& progress);

/// A scan that is calibrated by its frames.
struct CalibrateRun {
  io::ScanReader& reader;
  const ScanOptions& options;
  Device device;  ///< where slices and volumes are made
  bool pictures;  ///< whether slices are shown, before and after
  ProgressLine& progress;
};

/// Finds the geometry from the frames of any sample: the axis, the roll, the sense of rotation and the last
/// view by opposite rays; the roll, and the tilt of the axis or the midplane, by the sharpness of slices.
/// @throws GeometryError for shifted views, and as `find_axis` does
Calibrated calibrate_on_frames(const CalibrateRun& run);

/// Finds the geometry of views that have places of their own, along a circle about z, from the frames of any
/// sample: axis, roll, and the elevation or the midplane, by the sharpness of slices. @throws GeometryError
/// for other orbits, and if slices tell nothing
Calibrated calibrate_on_orbit(const CalibrateRun& run);

/// The one of these two that the views ask for.
Calibrated calibrate_scan(const CalibrateRun& run);

/// @throws GeometryError for a scan without a pixel size: a geometry has lengths
void require_pixel_size(const io::ScanInfo& info);

/// Where each view is, from its frame beside the line integrals of what all views make. @throws GeometryError
/// for orbits without a filter, and where the frames tell nothing of it
Calibrated calibrate_each_view(const CalibrateRun& run, calibration::MoveSearch how);

/// The root mean square of the numbers of all views, or of their uncertainties, in a report.
double rms_of(const nlohmann::json& numbers);

}  // namespace tandem::apps
