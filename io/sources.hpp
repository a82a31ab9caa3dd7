#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::io {

/// All files from which a scan, a volume or a list of angles may be read: the file itself; the files to which
/// an HDF5 file leads by external links, virtual data sets and external raw files; the files of a folder or
/// of a TIFF volume. Empty if there is nothing under that name. Links that cannot be followed are left out.
std::vector<std::filesystem::path> files_behind(const std::filesystem::path& path);

/// The folder with the images of a scan: the folder itself, or the folder of a file of settings. Empty for
/// any other file.
std::filesystem::path image_folder_of(const std::filesystem::path& scan);

/// The first of `files` that is the same file as one of `others`, even under another name.
std::optional<std::filesystem::path> same_file(const std::vector<std::filesystem::path>& files,
                                               const std::vector<std::filesystem::path>& others);

/// Marks of an input by which one can tell later whether it has changed.
struct SourceIdentity {
  std::size_t files = 0;
  std::uint64_t bytes = 0;   ///< size of all files together
  std::string modified;      ///< the latest time, "2026-11-22T06:00:00Z"
  std::uint32_t digest = 0;  ///< CRC-32 over the names, sizes and first 16 KiB of the files
  std::uint32_t times = 0;   ///< CRC-32 over the times of their last changes
};
SourceIdentity identity_of(const std::vector<std::filesystem::path>& files);

}  // namespace tandem::io
