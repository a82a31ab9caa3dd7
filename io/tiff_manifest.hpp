#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "../core/range.hpp"

namespace tandem::io {

/// What "NAME.tif.manifest" says of the TIFF volume "NAME.tif": which slices it has, whole, and which it
/// lacks because a run ended before all its files had their names. Written last; slices without it are no
/// volume yet.
struct TiffManifest {
  struct Slice {
    std::uint64_t bytes;     ///< of the file
    std::uint32_t checksum;  ///< CRC-32 of the pixels as they are stored
  };
  std::string grid;               ///< what all slices have in common: type, lines, pixels a line, ...
  std::map<Index, Slice> slices;  ///< by their numbers in the full volume
  std::set<Index> due;            ///< slices that are missing, or of which nobody knows whose they are

  /// Whether it has slices, without a gap, and none is due.
  bool complete() const;
};

std::filesystem::path manifest_path(const std::filesystem::path& volume);  ///< of "NAME.tif"

/// Nothing where there is no manifest. @throws FileError for one that cannot be read or understood
std::optional<TiffManifest> read_manifest(const std::filesystem::path& volume);

std::string text_of(const TiffManifest& manifest);

}  // namespace tandem::io
