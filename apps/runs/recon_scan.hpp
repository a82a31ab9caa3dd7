#pragma once

#include "../../io/scans/scan_reader.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../options/recon_options.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// Changes the options of several ranks, of which only the first one prints, and writes all but the volume.
/// @throws UsageError for work that ranks cannot do together
void suit_ranks(ReconOptions& o);

/// Refuses what memory does not hold before rows are read to complete the recipe. An axis that is not found
/// yet counts as one in the middle, about which volumes are smallest. @throws DeviceError
void require_memory(const ReconOptions& o, const io::ScanInfo& info);

/// Completes the recipe as the library does, with what the options select.
pipeline::Completed complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress);

/// Shows what the user should know about the scan.
void tell_notes(const ReconOptions& o, const io::ScanInfo& info, ProgressLine& progress);

/// @throws GeometryError if the scan has another beam than the name of the method, which is for cone beams
void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan);

}  // namespace tandem::apps
