#pragma once

#include "scan_options.hpp"

namespace tandem::apps {

/// Makes `how` of the texts of a command line. @throws UsageError
void parse_texts(ScanOptions& options);

}  // namespace tandem::apps
