#pragma once

#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../options/recon_options.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// What several ranks do not do together, and what only the first one of them does: it alone prints, and
/// writes all but the volume. @throws UsageError
void suit_ranks(ReconOptions& o);

/// Completes the recipe by what is selected of the scan, by axes from a file, and by the axis if it is to be
/// found; @returns the axes that the search leaves open
std::vector<double> complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress);

/// Shows what the user should know of the scan.
void tell_notes(const ReconOptions& o, const io::ScanInfo& info, ProgressLine& progress);

/// @throws GeometryError for a name of a method that is one for cone beams only, and for a model of parallel
/// beams, where the scan has another beam
void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan);

}  // namespace tandem::apps
