#pragma once

#include "../../calibration/measured_frames.hpp"
#include "complete.hpp"

namespace tandem::pipeline {

/// The frames that a calibration searches: those that a recipe takes from a scan, made by its steps. Frames
/// are not resampled. Some views are in memory at a time. Reader and recipe outlive it. @throws GeometryError
/// for a scan without a pixel size, since a geometry has lengths, and for steps that need all views at once
calibration::MeasuredFrames frames_of(io::ScanReader& reader, const Recipe& recipe, const Listener& listener);

}  // namespace tandem::pipeline
