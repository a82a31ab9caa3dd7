#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../options/recon_options.hpp"

namespace tandem::apps {

/// A pattern with its marks replaced. {name} is the name of the scan's file without the ending, or the name
/// of its folder of images. {folder} is the name of the folder that holds it. {time} is replaced by `time`,
/// unless that is empty.
std::string name_for(const std::string& pattern, const std::string& scan, const std::string& time);

/// The options of `recon` for each of its scans, and with `--time all` for each scan in a file. {name},
/// {folder} and {time} are replaced in the names of all outputs. @throws UsageError for options that make no
/// sense; FileError for a file that does not tell its times
std::vector<std::shared_ptr<ReconOptions>> options_by_scan(const ReconOptions& o);

/// Runs several scans one after the other. A scan that fails prints its line, and the others go on; a signal
/// ends all. At the end a table tells the outcome of each. @throws UsageError before the first run if two
/// runs would write to the same file, or one to the scan of another; ScansFailed if a run failed
void run_all(const std::vector<std::shared_ptr<ReconOptions>>& runs,
             const std::function<void(ReconOptions&)>& run);

/// Runs `recon --compare`: each of the methods makes a volume of the scan, which is not kept. Writes a
/// picture of their middle slices, and a table of their costs and their quality. @throws Error
void compare_methods(ReconOptions& o);

}  // namespace tandem::apps
