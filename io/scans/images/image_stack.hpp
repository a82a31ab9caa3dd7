#pragma once

// Images as frames of a scan. Used only within io/.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../frame_source.hpp"
#include "image.hpp"

namespace tandem::io {

using Images = std::vector<std::shared_ptr<const ImageFile>>;

/// Opens a file of a stack that has one image in each file. @throws FileError unless its image is like that
/// of `first`
std::shared_ptr<const ImageFile> one_image(const std::filesystem::path& path, const ImageFile* first,
                                           const std::optional<RawFrames>& raw);

/// Files with one image each, as frames. @pre their images are alike
std::unique_ptr<FrameSource> frames_of_files(const std::string& where, const Images& files);

/// The images of one file; with `lines`, the lines of its one image as frames of one row. @throws FileError
std::unique_ptr<FrameSource> frames_of_file(const std::shared_ptr<const ImageFile>& file, bool lines);

/// The frames of several files of one stack. Each file has one image, or as many as the first file. @throws
/// FileError
FrameSources frames_of_paths(const std::string& where, const std::vector<std::filesystem::path>& paths,
                             const std::optional<RawFrames>& raw);

}  // namespace tandem::io
