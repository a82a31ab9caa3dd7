#pragma once

// The formats of grey images. Used only within io/.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../files/image_file.hpp"
#include "../fields.hpp"
#include "../frame_source.hpp"

namespace tandem::io {

/// A format of images. Each format has a file in this folder and a line in table.cpp.
struct ImageFormat {
  std::string_view name;                                  ///< "TIFF"
  std::vector<std::string_view> endings;                  ///< endings of file names, in lower case
  bool (*recognises)(const std::filesystem::path& path);  ///< whether the content is of this format
  std::unique_ptr<ImageFile> (*open)(const std::filesystem::path& path);  ///< @throws FileError
  /// Adds what a file with several images, and files beside it, say about the scan. Null if nothing does.
  void (*complete)(const std::filesystem::path& path, const OpenOptions& options,
                   Acquisition& found) = nullptr;
  /// The files beside it that `complete` may read, whether they are there or not. Null if there are none.
  std::vector<std::filesystem::path> (*beside)(const std::filesystem::path& path) = nullptr;
  /// Adds what the files of a stack, with one image each, say about the scan. Null if nothing does.
  void (*complete_stack)(const std::vector<std::filesystem::path>& files, const OpenOptions& options,
                         Acquisition& found) = nullptr;
  std::span<const Field> fields = {};  ///< what it does with the fields of the format
};

std::span<const ImageFormat> image_formats();

/// The format of a file by its content; null if it is none of these.
const ImageFormat* image_format_of(const std::filesystem::path& path);

/// The name of the format of a file by its content: "TIFF" and so on; "raw" if it is none of these.
std::string image_format_name(const std::filesystem::path& path);

/// Whether a file is an image by the ending of its name.
bool has_image_name(const std::filesystem::path& path);

/// The names of all formats, or of those that folders may have, and their endings, as messages list them:
/// "TIFF or EDF", "*.tif, *.tiff or *.edf".
std::string image_format_names(bool in_folders = false);
std::string image_endings();

/// Opens a file of any format, or without one if `raw` says how it is stored. @throws FileError
std::unique_ptr<ImageFile> open_image(const std::filesystem::path& path,
                                      const std::optional<RawFrames>& raw = {});

/// Whether a file may hold raw frames by the ending of its name.
bool has_raw_name(const std::filesystem::path& path);

/// Opens a file of raw frames. @throws FileError unless its size is that of whole frames
std::unique_ptr<ImageFile> open_raw(const std::filesystem::path& path, const RawFrames& raw);

}  // namespace tandem::io
