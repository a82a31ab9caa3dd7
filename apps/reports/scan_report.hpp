#pragma once

#include "../options/scan_options.hpp"

namespace tandem::apps {

/// What a scan says about itself: format, sizes, geometry, angles, flats and darks, notes.
nlohmann::json scan_report(const io::ScanInfo& info, const ScanOptions& options);

}  // namespace tandem::apps
