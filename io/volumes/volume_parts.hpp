#pragma once

#include <filesystem>
#include <string>

#include "../../core/space.hpp"
#include "../files/output.hpp"

namespace tandem::io {

/// The path of a part of an HDF5 volume that several runs write, each into its own file beside it. Slices 64
/// to 127 of "NAME.h5" are in "NAME_00064-00128.h5". "NAME.h5" has all slices in a virtual data set.
std::filesystem::path part_path(const std::filesystem::path& volume, Range slices);

/// @throws FileError if another part, finished or in the making, has some of these slices, or if a part was
/// made from another scan or with other options (`VolumeFormat::made_by`)
void require_part_free(const std::filesystem::path& volume, Range slices, const std::string& made_by);

/// Makes "NAME.h5" from the parts that are there. It is marked incomplete as long as slices are missing. If
/// another run does the same now, it waits. Returns what is missing, in words; empty if the volume is
/// complete. @throws FileError if parts overlap, or differ in grid, type, scan or recipe
std::string join_parts(const std::filesystem::path& volume, Replace replace);

}  // namespace tandem::io
