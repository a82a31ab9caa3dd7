// Images as frames: one image in each file, several in a file, or the lines of one image.

#include "image_stack.hpp"

#include <algorithm>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/parallel.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/spelled.hpp"
#include "../orientation.hpp"
#include "image_folder.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

std::string words_of(const ImagePage& page) {
  return std::to_string(page.rows) + " x " + std::to_string(page.bins) + " pixels, " + name_of(page.type) +
         (page.orientation == 1 ? "" : ", orientation " + std::to_string(page.orientation));
}

/// Requires that images of one stack have the same size, type and orientation.
void require_alike(const std::string& where, const ImagePage& page, const ImagePage& first,
                   const std::string& first_name) {
  require<FileError>(page.rows == first.rows && page.bins == first.bins && page.type == first.type &&
                         page.orientation == first.orientation,
                     where, ": is ", words_of(page), "; ", words_of(first), ", is needed as in ", first_name);
}

/// The number of threads that work at once on this number of images.
std::size_t threads_for(Index images) { return std::min<Index>(images, thread_count()); }

std::string packing_of(const ImageFile& file) { return file.page(0).compressed ? "compressed" : ""; }

/// Files with one image each, all alike.
class ImageFiles final : public FrameSource {
 public:
  ImageFiles(const std::string& where, Images files)
      : FrameSource(where, files.front()->page(0).type,
                    {std::ssize(files), files.front()->page(0).rows, files.front()->page(0).bins}),
        files_(std::move(files)) {}

  std::size_t decoded_bytes() const override {
    return threads_for(shape()[0]) * files_.front()->decoded_bytes(0);
  }
  std::string packing() const override { return packing_of(*files_.front()); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const Index frame_bytes = rows.size() * bins.size() * bytes_of(type());
    parallel_for(frames.size(),
                 [&](Index k) { files_[frames.first + k]->read(0, rows, bins, out + k * frame_bytes); });
  }

 private:
  Images files_;
};

/// The images of one file, or the lines of its one image as frames of one row.
class ImagePages final : public FrameSource {
 public:
  ImagePages(const std::string& where, std::shared_ptr<const ImageFile> file, bool lines)
      : FrameSource(where, file->page(0).type, shape_of(*file, lines)),
        file_(std::move(file)),
        lines_(lines) {}

  std::size_t decoded_bytes() const override {
    return threads_for(lines_ ? 1 : shape()[0]) * file_->decoded_bytes(0);
  }
  std::string packing() const override { return packing_of(*file_); }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    if (lines_) return file_->read(0, frames, bins, out);
    const Index frame_bytes = rows.size() * bins.size() * bytes_of(type());
    parallel_for(frames.size(),
                 [&](Index k) { file_->read(frames.first + k, rows, bins, out + k * frame_bytes); });
  }

 private:
  static Shape shape_of(const ImageFile& file, bool lines) {
    const ImagePage& page = file.page(0);
    return lines ? Shape{page.rows, 1, page.bins} : Shape{file.pages(), page.rows, page.bins};
  }
  std::shared_ptr<const ImageFile> file_;
  bool lines_;
};

/// The number of images of the writer, as the file says.
double claimed_images(const ImageFile& file) {
  double claimed = 1;
  for (const Index count : file.axes_of_pages()) claimed *= count;
  return claimed;
}

/// Notes what the first image says and is not obeyed.
void note_unheeded(const ImageFile& file, FrameSource& source) {
  const ImagePage& page = file.page(0);
  if (const std::string note = file.note(); !note.empty())
    source.notes.push_back(source.where() + ": " + note);
  if (page.orientation == 1) return;
  source.notes.push_back(
      source.where() + ": images have orientation " + std::to_string(page.orientation) +
      " (TIFF tag 274), which is not obeyed: rows and bins are taken as they are stored; " +
      spelled("orient") + " " + std::string(words_of_tag(page.orientation)) + " would obey it");
}

/// The frames of files with several images. All have as many as the first file, and only the last may have
/// fewer.
FrameSources frames_of_pages(const std::vector<fs::path>& paths,
                             const std::shared_ptr<const ImageFile>& first,
                             const std::optional<RawFrames>& raw) {
  FrameSources sources;
  for (const fs::path& path : paths) {
    const std::shared_ptr<const ImageFile> file = path == paths.front() ? first : open_image(path, raw);
    require_alike(path.string(), file->page(0), first->page(0), paths.front().filename().string());
    require<FileError>(
        file->pages() == first->pages() || (path == paths.back() && file->pages() < first->pages()),
        path.string(), ": holds ", file->pages(), " images; ", first->pages(), " are needed as in ",
        paths.front().filename().string());
    sources.push_back(frames_of_file(file, false));
  }
  return sources;
}

}  // namespace

std::shared_ptr<const ImageFile> one_image(const fs::path& path, const ImageFile* first,
                                           const std::optional<RawFrames>& raw) {
  std::shared_ptr<const ImageFile> file = open_image(path, raw);
  require<FileError>(file->pages() == 1, path.string(), ": holds ", file->pages(),
                     " images; 1 is needed in each file of a folder");
  if (first)
    require_alike(path.string(), file->page(0), first->page(0), fs::path(first->name()).filename().string());
  return file;
}

std::unique_ptr<FrameSource> frames_of_files(const std::string& where, const Images& files) {
  auto source = std::make_unique<ImageFiles>(where, files);
  note_unheeded(*files.front(), *source);
  for (const auto& file : files)
    if (const double claimed = claimed_images(*file); claimed > 1) {
      source->notes.push_back(file->name() + ": says that it holds " + std::to_string(floor_index(claimed)) +
                              " images, and holds 1; if others are lost, save it again with all of them");
      break;
    }
  return source;
}

std::unique_ptr<FrameSource> frames_of_file(const std::shared_ptr<const ImageFile>& file, bool lines) {
  const double claimed = claimed_images(*file);
  require<FileError>(claimed <= file->pages(), file->name(), ": says that it holds ", claimed,
                     " images, but only ", file->pages(),
                     " can be found; save it as a BigTIFF with a directory for each image");
  for (Index k = 1; k < file->pages(); ++k)
    require_alike(file->name() + ": page " + std::to_string(k), file->page(k), file->page(0), "page 0");
  lines = lines && file->pages() == 1 && file->axes_of_pages().empty();
  auto source = std::make_unique<ImagePages>(file->name(), file, lines);
  note_unheeded(*file, *source);
  return source;
}

FrameSources frames_of_paths(const std::string& where, const std::vector<fs::path>& paths,
                             const std::optional<RawFrames>& raw) {
  const std::shared_ptr<const ImageFile> first = open_image(paths.front(), raw);
  if (first->pages() > 1) return frames_of_pages(paths, first, raw);
  Images files(paths.size());
  parallel_for(paths.size(), [&](Index k) { files[k] = one_image(paths[k], first.get(), raw); });
  FrameSources sources;
  sources.push_back(frames_of_files(where, files));
  return sources;
}

FrameSources image_frames(const fs::path& path, FrameKind kind, bool lines,
                          const std::optional<RawFrames>& raw) {
  if (!is_image_folder(path)) {
    FrameSources sources;
    sources.push_back(frames_of_file(open_image(path, raw), lines));
    return sources;
  }
  const FolderImages images = references_in(path, kind, raw);
  FrameSources sources = frames_of_paths(path.string(), images.files, raw);
  std::vector<std::string>& notes = sources.front()->notes;
  notes.insert(notes.begin(), images.notes.begin(), images.notes.end());
  return sources;
}

}  // namespace tandem::io
