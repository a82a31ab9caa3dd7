#pragma once

#include "../../calibration/balls.hpp"
#include "../../io/sheet.hpp"
#include "../options/scan_options.hpp"

namespace tandem::apps {

/// What `calibrate` finds: the views, what a report says of them, and pictures.
struct Calibrated {
  Scan scan;
  nlohmann::json report;
  std::vector<std::string> lines;     ///< the same for people
  std::vector<io::Picture> pictures;  ///< before and after
  io::Sheet sheet;
};

/// From the shadows of balls. @throws GeometryError for another kind than a cone beam, and where balls do not
/// tell it
Calibrated calibrate_on_balls(io::ScanReader& reader, const ScanOptions& options,
                              const calibration::BallKnowledge& known, ProgressLine& progress);

/// From opposite rays in the frames of any sample: axis, roll, sense of rotation and last view. @throws
/// GeometryError for views of any geometry, and as `find_axis` does
Calibrated calibrate_on_frames(io::ScanReader& reader, const ScanOptions& options, ProgressLine& progress);

}  // namespace tandem::apps
