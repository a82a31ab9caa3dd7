#pragma once

#include <string>
#include <vector>

#include "job.hpp"

namespace tandem::pipeline {

/// The values that the user gave to the steps. The roll of the detector and the tilt of the axis are those
/// that the scan records, if the user gave none; and so is it if its frames are line integrals already.
/// @throws GeometryError for angles that no step can correct
StepValues with_recorded_steps(StepValues given, const io::ScanInfo& info);

/// Makes the job of a recipe for a scan, without other effects. @throws GeometryError if the recipe makes no
/// sense for this scan, or if the method is not known
Job make_job(const io::ScanInfo& info, const Recipe& recipe);

/// The `filtered` of a job.
FilteredRows rows_after_filter(const Job& job);

/// Whether there is a filter for the views. For views of any geometry there is one if their sources lie
/// nearly on a circle or a helix.
bool has_filter(const Scan& scan);

/// Adds warnings about the views, the axis and the columns of a job. @throws GeometryError if no ray meets
/// the volume, or if the scan cannot be the half acquisition that it is said to be
void look_at_job(const Job& job, const io::ScanInfo& info, const Recipe& recipe,
                 std::vector<std::string>& warnings);

}  // namespace tandem::pipeline
