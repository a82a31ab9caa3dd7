#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../options/recon_options.hpp"

namespace tandem::apps {

/// A name with {name} and {folder} replaced by those of a scan: by the name of its file without the ending
/// (or of its folder of images), and by the name of the folder that it lies in; and {time}, unless `time` is
/// empty.
std::string name_for(const std::string& pattern, const std::string& scan, const std::string& time);

/// The options of `recon` for each of its scans, and with `--time all` for each of those in a file: {name},
/// {folder} and {time} are replaced in the names of all that it writes. @throws UsageError for options that
/// make no sense; FileError for a file that does not tell its times
std::vector<std::shared_ptr<ReconOptions>> options_by_scan(const ReconOptions& o);

/// Runs several scans one after the other. A scan that fails prints its line, and the others go on; a signal
/// ends all. A table says at the end what became of each. @throws UsageError before the first run if runs
/// would write to one file, or to the scan of another; ScansFailed if a run failed
void run_all(const std::vector<std::shared_ptr<ReconOptions>>& runs,
             const std::function<void(ReconOptions&)>& run);

}  // namespace tandem::apps
