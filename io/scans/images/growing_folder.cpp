// A folder that fills with images.

#include <utility>

#include "../../../core/error.hpp"
#include "../../files/input_file.hpp"
#include "image_folder.hpp"
#include "image_stack.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

GrowingFolder::GrowingFolder(fs::path folder, OpenOptions options)
    : folder_(std::move(folder)), options_(std::move(options)) {}
GrowingFolder::~GrowingFolder() = default;

Acquisition GrowingFolder::look() {
  const FolderScan scan = scan_in(folder_, options_);
  const std::vector<fs::path>& found = scan.views.files;
  const ImageFormat* format = image_format_of(found.front());
  require<FileError>(!format || !format->complete_stack, folder_.string(), ": has the format ",
                     image_format_name(found.front()), ", which is not read while it is written");
  for (std::size_t k = 0; k < files_.size(); ++k)
    require<FileError>(k < found.size() && files_[k]->name() == found[k].string(), folder_.string(),
                       ": view ", k, " was ", fs::path(files_[k]->name()).filename().string(), ", and is ",
                       k < found.size() ? found[k].filename().string() : "missing",
                       " now; images must come in the order of their names");
  next_.clear();
  try {
    while (files_.size() < found.size()) {
      const fs::path& path = found[files_.size()];
      const FileStamp now = stamp_of(path, path.string());
      const bool settled = files_.size() + 1 < found.size() || (last_ && *last_ == now);
      last_ = std::make_unique<FileStamp>(now);
      if (!settled) break;
      files_.push_back(one_image(path, files_.empty() ? nullptr : files_.front().get(), options_.raw));
    }
  } catch (const FileError& fault) {  // a program may still be writing it
    next_ = fault.what();
  }
  require<FileError>(!files_.empty(),
                     next_.empty() ? found.front().string() +
                                         ": may still be written; it counts when a second image is there"
                                   : next_);
  Acquisition acquisition;
  acquisition.angles_where = folder_.string() + ": angles";
  acquisition.info.format = image_format_name(found.front()) + " stack";
  acquisition.info.notes = scan.views.notes;
  if (!scan.gaps.empty())
    acquisition.info.notes.push_back(scan.gaps + "; angles must go with the images that are there");
  acquisition.can_grow = true;
  acquisition.projections.push_back(frames_of_files(folder_.string(), files_));
  if (!scan.flats.empty())
    acquisition.flats = frames_of_paths(folder_.string() + ": flats", scan.flats, options_.raw);
  if (!scan.darks.empty())
    acquisition.darks = frames_of_paths(folder_.string() + ": darks", scan.darks, options_.raw);
  return acquisition;
}

}  // namespace tandem::io
