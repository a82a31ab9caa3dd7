#pragma once

#include <memory>

#include "../../io/scans/growing_scan.hpp"
#include "../../pipeline/watch/outcome.hpp"
#include "../options/recon_options.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// @throws UsageError for options that do not go with `--follow`, or that need it
void check_follow(const ReconOptions& o);

/// Waits, as long as the options say, until the scan has a view, flats and darks. @throws FileError
std::unique_ptr<io::GrowingScan> wait_for_scan(const ReconOptions& o, ProgressLine& progress);

/// The part of the report about a scan that was followed, when its volume is whole.
nlohmann::json followed_json(const pipeline::Followed& followed);

}  // namespace tandem::apps
