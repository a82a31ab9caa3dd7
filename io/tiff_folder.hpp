#pragma once

// Which files of a folder make a stack. Used only within io/.

#include <filesystem>
#include <string>
#include <vector>

#include "scan_reader.hpp"

namespace tandem::io {

/// The images of one kind in a folder, in natural order, and notes about the others.
struct FolderImages {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;
};

/// Chooses among the *.tif and *.tiff files of a folder. Names tell flats (a word that begins with "flat", or
/// "io", "ref") and darks ("dark...", "di") from views, if there are other files beside them. `given` are the
/// files and folders that the user gives as flats or darks. The views are one series: their names differ only
/// in their numbers. Single files with other names are left out. Notes list all that is left out, and gaps in
/// the numbers. @throws FileError for a folder without such images, or with several series of the same size
FolderImages images_in(const std::filesystem::path& folder, FrameKind kind,
                       const std::vector<std::filesystem::path>& given);

}  // namespace tandem::io
