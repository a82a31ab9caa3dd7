#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "../../core/space.hpp"

namespace tandem::io {

/// The manifest "NAME.tif.manifest" of the volume "NAME.tif", whose slices are files. It says which slices
/// the volume has, and which are missing because a run ended before all its files had their names. The
/// manifest is written last, and without it slices are not a volume yet.
struct SliceManifest {
  struct Slice {
    std::uint64_t bytes;     ///< size of the file
    std::uint32_t checksum;  ///< CRC-32 of the pixels as they are stored
  };
  std::string grid;               ///< what all slices have in common: type, lines, pixels per line, ...
  std::map<Index, Slice> slices;  ///< slices by their numbers in the full volume
  std::set<Index> due;            ///< slices that are missing, or whose run is not known

  /// Whether there are slices without a gap, and none is due.
  bool complete() const;
};

std::filesystem::path manifest_path(const std::filesystem::path& volume);  ///< for "NAME.tif"

/// Reads the manifest; empty if there is none. @throws FileError if it cannot be read or understood
std::optional<SliceManifest> read_manifest(const std::filesystem::path& volume);

std::string text_of(const SliceManifest& manifest);

}  // namespace tandem::io
