#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scan_options.hpp"

namespace tandem::apps {

/// A file that an option names; the name may be empty, and "-" is standard output.
struct NamedFile {
  std::string option;
  std::filesystem::path path;
};
using NamedFiles = std::vector<NamedFile>;

NamedFiles inputs_of(const ScanOptions& options);

/// Files, bytes, latest time and digest of an input, for reports and recipes.
nlohmann::json source_json(const Common& common, const std::filesystem::path& input);

/// An output in HDF5, or a volume in HDF5 or TIFF. @throws UsageError unless the name's ending says so
void require_scan_name(const NamedFile& output);
void require_volume_name(const NamedFile& output);

/// Before the work: no output, the report among them, may overwrite an input or another output, nor a file
/// that tandem did not write unless --overwrite is given; each needs its folder. Then takes the file of the
/// report.
/// @throws UsageError, FileError
void check_files(Common& common, const NamedFiles& inputs, NamedFiles outputs);

}  // namespace tandem::apps
