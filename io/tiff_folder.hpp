#pragma once

// For io/ alone: which files of a folder make a stack.

#include <filesystem>
#include <string>
#include <vector>

#include "scan_reader.hpp"

namespace tandem::io {

/// The images of one kind in a folder, in natural order, and what has to be said of the others.
struct FolderImages {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;
};

/// A folder's *.tif and *.tiff. Names tell flats (a word that begins with "flat", or "io", "ref") and darks
/// ("dark...", "di") from views, where there are others beside them; `given` are files and folders that the
/// user gives as flats or darks. The views are one series: names alike but for their numbers. Files with
/// other names are left out one by one; notes list whatever is left out, and gaps in the numbers.
/// @throws FileError for a folder without such images, or with several series of the same size
FolderImages images_in(const std::filesystem::path& folder, FrameKind kind,
                       const std::vector<std::filesystem::path>& given);

}  // namespace tandem::io
