#pragma once

#include "../options/scan_options.hpp"

namespace tandem::apps {

/// The kind, sizes and other geometry of a scan, for reports and in words.
nlohmann::json geometry_json(const Scan& scan);
std::string words_of(const Scan& scan);
/// The size of a scan in words: "360 views x 1 row x 64 bins".
std::string words_of_size(const Scan& scan);

/// What a scan says about itself: format, sizes, geometry, angles, flats and darks, notes.
nlohmann::json scan_report(const io::ScanInfo& info, const ScanOptions& options);

}  // namespace tandem::apps
