#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../options/scan_options.hpp"

namespace tandem::apps {

/// A file that an option names. The name may be empty; "-" is standard output.
struct NamedFile {
  std::string option;
  std::filesystem::path path;
  io::Content content = io::Content::volume;  ///< content of an output
  bool alone = false;  ///< whether an input leads to no other files, whatever lies beside it
};
using NamedFiles = std::vector<NamedFile>;

NamedFiles inputs_of(const ScanOptions& options);

/// The number of files, bytes, latest time and digest of an input, for reports and recipes.
nlohmann::json source_json(const Common& common, const std::filesystem::path& input);

/// @throws UsageError unless the ending of the name says HDF5 for a scan, and HDF5 or TIFF for a volume
void require_scan_name(const NamedFile& output);
void require_volume_name(const NamedFile& output);

/// Refuses outputs that would overwrite an input, or a file to which an input leads by any link. @throws
/// UsageError
void refuse_sources(Common& common, const NamedFiles& inputs, const NamedFiles& outputs);

/// Checks all files before the work. No output, nor the report, may overwrite an input or another output.
/// Only with
/// --overwrite may an output replace a file that tandem did not write. The folder of each output must exist.
/// Then takes the file of the report. @throws UsageError, FileError
void check_files(Common& common, const NamedFiles& inputs, NamedFiles outputs);

}  // namespace tandem::apps
