#pragma once

#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../options/recon_options.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// Changes the options of several ranks, of which only the first one prints, and writes all but the volume.
/// @throws UsageError for work that ranks cannot do together
void suit_ranks(ReconOptions& o);

/// Completes the recipe by the selection of the scan, by axes from a file, and by the axis if it is to be
/// found. Returns the axes that the search leaves open.
std::vector<double> complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress);

/// Shows what the user should know about the scan.
void tell_notes(const ReconOptions& o, const io::ScanInfo& info, ProgressLine& progress);

/// @throws GeometryError if the scan has another beam than the name of the method, which is for cone beams
void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan);

}  // namespace tandem::apps
