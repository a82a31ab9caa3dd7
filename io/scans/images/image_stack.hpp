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

/// A file of a stack with one image in each file, which is as `first` is. @throws FileError if it is not
std::shared_ptr<const ImageFile> one_image(const std::filesystem::path& path, const ImageFile* first);

/// Files with one image each as frames. They are known to be alike.
std::unique_ptr<FrameSource> frames_of_files(const std::string& where, const Images& files);

/// The images of one file; with `lines`, the lines of its one image as frames of one row. @throws FileError
std::unique_ptr<FrameSource> frames_of_file(const std::shared_ptr<const ImageFile>& file, bool lines);

/// The frames of several files of one stack: with one image each, or with as many as the first one has.
/// @throws FileError
FrameSources frames_of_paths(const std::string& where, const std::vector<std::filesystem::path>& paths);

}  // namespace tandem::io
