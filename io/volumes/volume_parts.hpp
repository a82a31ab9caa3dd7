#pragma once

#include <filesystem>
#include <string>

#include "../../core/range.hpp"
#include "../files/output.hpp"

namespace tandem::io {

/// Several runs write parts of one HDF5 volume, each into a file of its own beside it: slices 64 to 127 of
/// "NAME.h5" are in "NAME_00064-00128.h5". "NAME.h5" has them all in a virtual data set.
std::filesystem::path part_path(const std::filesystem::path& volume, Range slices);

/// @throws FileError if another part, finished or in the making, has some of these slices, or if one was made
/// of another scan or with other options (`VolumeFormat::made_by`)
void require_part_free(const std::filesystem::path& volume, Range slices, const std::string& made_by);

/// Makes "NAME.h5" of the parts that are there, marked incomplete as long as slices are missing. If another
/// run does so now, it waits. @returns what is missing, in words; empty if the volume is complete
/// @throws FileError if parts overlap, or are not of one grid, type, scan and recipe
std::string join_parts(const std::filesystem::path& volume, Replace replace);

}  // namespace tandem::io
