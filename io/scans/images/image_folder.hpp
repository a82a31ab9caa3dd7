#pragma once

// Chooses the files of a folder that make a stack. Used only within io/.

#include <filesystem>
#include <string>
#include <vector>

#include "../scan_reader.hpp"

namespace tandem::io {

/// Images in natural order, and notes about the other files.
struct FolderImages {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;
};

/// The images of a scan in a folder: views, flats and darks.
struct FolderScan {
  FolderImages views;
  std::string gaps;  ///< what is wrong with the numbers in the names of the views; may be empty
  std::vector<std::filesystem::path> flats, darks;  ///< files that are taken by their names
};

/// Whether a path is a folder, or names files of one: "scan/*.tif".
bool is_image_folder(const std::filesystem::path& path);

/// Chooses among the images of a folder (by the endings of all formats, images/image.hpp), or among the files
/// that a pattern names. If there are other
/// images too, names tell flats (a word that begins with "flat", or "io", "ref") and darks ("dark...", "di").
/// These are taken unless the user gives flats or darks. If there are means of several images ("refHST" of
/// "ref", "dark" of "darkend"), only the means are taken. The views are one series: their names begin with
/// `prefix`, if some do, and differ only in their numbers. Single files with other names are left out. Notes
/// list all that is left out. @throws FileError for a folder without such images, or with several series of
/// the same size
FolderScan scan_in(const std::filesystem::path& folder, const OpenOptions& options,
                   const std::string& prefix = {});

/// The flats or darks of a folder that the user gives for this.
FolderImages references_in(const std::filesystem::path& folder, FrameKind kind,
                           const std::optional<RawFrames>& raw);

}  // namespace tandem::io
