// A folder of images in the natural order of their names; one file of many pages; one image as a sinogram, a
// line a view.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "frame_source.hpp"
#include "tiff.hpp"
#include "tiff_folder.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

std::string words_of(const TiffPage& page) {
  return std::to_string(page.rows) + " x " + std::to_string(page.bins) + " pixels, " + name_of(page.type) +
         (page.orientation == 1 ? "" : ", orientation " + std::to_string(page.orientation));
}

/// Images of one stack have one size, one type and one orientation.
void require_alike(const std::string& where, const TiffPage& page, const TiffPage& first,
                   const std::string& first_name) {
  require<FileError>(page.rows == first.rows && page.bins == first.bins && page.type == first.type &&
                         page.orientation == first.orientation,
                     where, ": is ", words_of(page), "; ", words_of(first), ", is needed as in ", first_name);
}

/// A file of a stack. `first` is the image in the file `first_path`.
TiffFile one_image(const fs::path& path, const TiffPage& first, const fs::path& first_path) {
  TiffFile file(path);
  require<FileError>(file.pages() == 1, path.string(), ": holds ", file.pages(),
                     " images; 1 is needed in each file of a folder");
  require_alike(path.string(), file.page(0), first, first_path.filename().string());
  return file;
}

/// Threads that work at once on so many images.
std::size_t threads_for(Index images) {
  return static_cast<std::size_t>(std::min<Index>(images, thread_count()));
}

std::string packing_of(const TiffFile& file) { return file.page(0).compressed ? "compressed" : ""; }

/// An image a file, all alike.
class ImageFiles : public FrameSource {
 public:
  /// Of files that are known to be alike.
  ImageFiles(const std::string& where, const std::vector<TiffFile>& files)
      : FrameSource(
            where, files.front().page(0).type,
            {static_cast<Index>(files.size()), files.front().page(0).rows, files.front().page(0).bins}),
        files_(files.begin(), files.end()) {}

  ImageFiles(const std::string& where, const std::vector<fs::path>& paths, const TiffPage& first)
      : FrameSource(where, first.type, {static_cast<Index>(paths.size()), first.rows, first.bins}),
        files_(paths.size()) {
    parallel_for(shape()[0], [&](Index k) {
      std::optional<TiffFile>& file = files_[static_cast<std::size_t>(k)];
      file.emplace(one_image(paths[static_cast<std::size_t>(k)], first, paths.front()));
    });
  }

  std::size_t decoded_bytes() const override {
    return threads_for(shape()[0]) * files_.front()->decoded_bytes(0);
  }
  std::string packing() const override { return packing_of(*files_.front()); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const Index frame_bytes = rows.size() * bins.size() * static_cast<Index>(bytes_of(type()));
    parallel_for(frames.size(), [&](Index k) {
      files_[static_cast<std::size_t>(frames.first + k)]->read(0, rows, bins, out + k * frame_bytes);
    });
  }

 private:
  std::vector<std::optional<TiffFile>> files_;  // none is empty: they are made by several threads
};

/// The pages of one file, or the lines of its one image as frames of one row.
class ImagePages : public FrameSource {
 public:
  ImagePages(const std::string& where, TiffFile file, bool lines)
      : FrameSource(where, file.page(0).type, shape_of(file, lines)), file_(std::move(file)), lines_(lines) {}

  std::size_t decoded_bytes() const override {
    return threads_for(lines_ ? 1 : shape()[0]) * file_.decoded_bytes(0);
  }
  std::string packing() const override { return packing_of(file_); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    if (lines_) return file_.read(0, frames, bins, out);
    const Index frame_bytes = rows.size() * bins.size() * static_cast<Index>(bytes_of(type()));
    parallel_for(frames.size(),
                 [&](Index k) { file_.read(frames.first + k, rows, bins, out + k * frame_bytes); });
  }

 private:
  static Shape shape_of(const TiffFile& file, bool lines) {
    const TiffPage& page = file.page(0);
    return lines ? Shape{page.rows, 1, page.bins} : Shape{file.pages(), page.rows, page.bins};
  }
  TiffFile file_;
  bool lines_;
};

/// How many images the program that wrote a file says it holds, and whether it says so of a stack: ImageJ,
/// and tifffile by the shape of its array.
std::optional<Index> claimed_images(const std::string& description) {
  const auto number_after = [&](const std::string& key) -> std::optional<Index> {
    const std::size_t at = description.find(key);
    if (at == std::string::npos) return std::nullopt;
    return std::atoll(description.c_str() + at + key.size());
  };
  if (description.starts_with("ImageJ=")) return number_after("\nimages=");
  const std::string key = "\"shape\": [";
  const std::size_t at = description.find(key);
  if (!description.starts_with("{") || at == std::string::npos) return std::nullopt;
  std::istringstream numbers(description.substr(at + key.size()));
  std::vector<Index> shape;
  for (Index n = 0; numbers >> n; numbers.ignore(1, ',')) shape.push_back(n);
  if (shape.size() < 3) return std::nullopt;
  Index images = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) images *= std::clamp<Index>(shape[i], 0, 1 << 20);
  return images;
}

void note_orientation(const TiffPage& page, FrameSource& source) {
  if (page.orientation == 1) return;
  source.notes.push_back(source.where() + ": images have orientation " + std::to_string(page.orientation) +
                         " (TIFF tag 274), which is not obeyed: rows and bins are taken as they are stored");
}

/// The pages of a file as frames; with `lines`, the lines of its one page.
std::unique_ptr<FrameSource> file_frames(const fs::path& path, TiffFile file, bool lines) {
  const std::optional<Index> claimed = claimed_images(tiff_description(path));
  require<FileError>(claimed.value_or(1) <= file.pages(), path.string(), ": says that it holds ",
                     claimed.value_or(1), " images, but only ", file.pages(),
                     " can be found; save it as a BigTIFF with a directory for each image");
  const TiffPage first = file.page(0);
  for (Index k = 1; k < file.pages(); ++k)
    require_alike(path.string() + ": page " + std::to_string(k), file.page(k), first, "page 0");
  lines = lines && file.pages() == 1 && !claimed;
  auto source = std::make_unique<ImagePages>(path.string(), std::move(file), lines);
  note_orientation(first, *source);
  return source;
}

std::unique_ptr<FrameSource> folder_frames(const fs::path& folder, FrameKind kind,
                                           const std::vector<fs::path>& given) {
  FolderImages images = images_in(folder, kind, given);
  TiffFile first(images.files.front());
  std::unique_ptr<FrameSource> source;
  if (images.files.size() == 1) {
    source = file_frames(images.files.front(), std::move(first), false);
    if (kind == FrameKind::projection)
      source->notes.push_back(
          folder.string() + ": holds one file, " + std::to_string(source->shape()[0]) +
          (source->shape()[0] == 1 ? " view; a sinogram is given by the name of its file" : " views"));
  } else {
    const TiffPage& page = first.page(0);
    source = std::make_unique<ImageFiles>(folder.string(), images.files, page);
    note_orientation(page, *source);
  }
  source->notes.insert(source->notes.begin(), images.notes.begin(), images.notes.end());
  return source;
}

}  // namespace

bool is_tiff(const fs::path& path) {
  std::array<char, 4> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string magic(start.data(), start.size());
  using namespace std::string_literals;
  return magic == "II*\0"s || magic == "MM\0*"s || magic == "II+\0"s || magic == "MM\0+"s;
}

GrowingFolder::GrowingFolder(fs::path folder, std::vector<fs::path> given)
    : folder_(std::move(folder)), given_(std::move(given)) {}
GrowingFolder::~GrowingFolder() = default;

Acquisition GrowingFolder::look() {
  const FolderImages images = images_in(folder_, FrameKind::projection, given_);
  const auto at = [&](std::size_t k) { return images.files[k]; };
  for (std::size_t k = 0; k < files_.size(); ++k)
    require<FileError>(k < images.files.size() && files_[k].name() == at(k).string(), folder_.string(),
                       ": view ", k, " was ", fs::path(files_[k].name()).filename().string(), ", and is ",
                       k < images.files.size() ? at(k).filename().string() : "missing",
                       " now; images must come in the order of their names");
  next_.clear();
  try {
    while (files_.size() < images.files.size()) {
      const fs::path& path = at(files_.size());
      const FileStamp now = stamp_of(path, path.string());
      const bool settled = files_.size() + 1 < images.files.size() || (last_ && *last_ == now);
      last_ = std::make_unique<FileStamp>(now);
      if (!settled) break;
      const bool first = files_.empty();
      files_.push_back(first ? one_image(path, TiffFile(path).page(0), path)
                             : one_image(path, files_.front().page(0), at(0)));
    }
  } catch (const FileError& fault) {  // a program may still be writing it
    next_ = fault.what();
  }
  require<FileError>(!files_.empty(),
                     next_.empty() ? folder_.string() + ": the first image is not whole" : next_);
  Acquisition acquisition;
  acquisition.angles_where = folder_.string() + ": angles";
  acquisition.info.format = "TIFF stack";
  acquisition.info.notes = images.notes;
  acquisition.can_grow = true;
  acquisition.projections.push_back(std::make_unique<ImageFiles>(folder_.string(), files_));
  return acquisition;
}

std::unique_ptr<FrameSource> tiff_frames(const fs::path& path, FrameKind kind, bool lines) {
  if (fs::is_directory(path)) return folder_frames(path, kind, {});
  return file_frames(path, TiffFile(path), lines);
}

Acquisition open_tiff(const fs::path& path, const OpenOptions& options) {
  Acquisition acquisition;
  acquisition.angles_where = path.string() + ": angles";
  acquisition.info.format = "TIFF stack";
  if (fs::is_directory(path)) {
    std::vector<fs::path> given = options.flats;
    given.insert(given.end(), options.darks.begin(), options.darks.end());
    acquisition.projections.push_back(folder_frames(path, FrameKind::projection, given));
    return acquisition;
  }
  TiffFile file(path);
  const TiffPage page = file.page(0);
  const bool lone = file.pages() == 1;
  acquisition.projections.push_back(file_frames(path, std::move(file), true));
  FrameSource& views = *acquisition.projections.front();
  if (lone && views.shape() == Shape{page.rows, 1, page.bins}) {
    acquisition.info.format = "TIFF sinogram";
    views.notes.push_back("the file holds one image: a sinogram of " + std::to_string(page.rows) +
                          " views, one line per view; if it is a single view, give the name of its folder");
  }
  return acquisition;
}

}  // namespace tandem::io
