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

/// An output in HDF5, or a volume in HDF5 or TIFF. @throws UsageError unless the name's ending says so
void require_scan_name(const NamedFile& output);
void require_volume_name(const NamedFile& output);

/// Before the work: no output may overwrite an input or another output, and each needs its folder.
/// @throws UsageError, FileError
void check_files(const NamedFiles& inputs, const NamedFiles& outputs);

}  // namespace tandem::apps
