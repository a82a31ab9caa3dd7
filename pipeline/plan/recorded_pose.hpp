#pragma once

#include "../../counts/steps/options.hpp"
#include "../../io/scans/scan_reader.hpp"

namespace tandem::pipeline {

/// What the user gave to the steps, and where nothing was given, the roll of the detector and the tilt of the
/// axis that the scan records. @throws GeometryError for angles that no step takes away
StepValues with_recorded_pose(StepValues given, const io::ScanInfo& info);

}  // namespace tandem::pipeline
