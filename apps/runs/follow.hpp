#pragma once

#include <memory>

#include "../../io/scans/growing_scan.hpp"
#include "../../pipeline/routes/follow.hpp"
#include "../options/recon_options.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// @throws UsageError for what `--follow` does not go with, or what goes with it alone
void check_follow(const ReconOptions& o);

/// Waits, as long as the options say, until the scan has a view, flats and darks. @throws FileError
std::unique_ptr<io::GrowingScan> wait_for_scan(const ReconOptions& o, ProgressLine& progress);

pipeline::Patience patience_of(const ReconOptions& o, ProgressLine& progress);

/// What the report says of a scan that was followed, now that its volume is whole.
nlohmann::json followed_json(const pipeline::Followed& followed);

}  // namespace tandem::apps
