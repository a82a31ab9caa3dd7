#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::io {

/// All files that a scan, a volume or a list of angles may be read from: the file itself; the files that an
/// HDF5 file leads to by external links, virtual data sets and external raw files; the files of a folder or
/// of a TIFF volume. Empty if there is nothing under that name. What cannot be followed is left out.
std::vector<std::filesystem::path> files_behind(const std::filesystem::path& path);

/// The folder whose images a scan is read from: the folder itself, or that of a file of settings. Empty for
/// any other file.
std::filesystem::path image_folder_of(const std::filesystem::path& scan);

/// The first of `files` that is the same file as one of `others`, under any name.
std::optional<std::filesystem::path> same_file(const std::vector<std::filesystem::path>& files,
                                               const std::vector<std::filesystem::path>& others);

/// What an input was, so that one can tell later whether it has changed.
struct SourceIdentity {
  std::size_t files = 0;
  std::uint64_t bytes = 0;   ///< of all of them
  std::string modified;      ///< the latest time, "2026-11-22T06:00:00Z"
  std::uint32_t digest = 0;  ///< CRC-32 over the names, sizes and first 16 KiB of the files
  std::uint32_t times = 0;   ///< CRC-32 over the times of their last changes
};
SourceIdentity identity_of(const std::vector<std::filesystem::path>& files);

}  // namespace tandem::io
