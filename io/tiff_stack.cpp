// A folder of images in the order of their names; one file of many pages; one image as a sinogram, a line a
// view.

#include <algorithm>
#include <array>
#include <fstream>

#include "tandem/core/error.hpp"
#include "tandem/io/frame_source.hpp"
#include "tandem/io/tiff.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

bool has_tiff_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return ending == ".tif" || ending == ".tiff";
}

/// An image a file, all of one size. Files are opened when they are read: stacks have thousands.
class ImageFiles : public FrameSource {
 public:
  ImageFiles(const std::string& where, std::vector<fs::path> files, const TiffPage& first)
      : FrameSource(where, first.type, {static_cast<Index>(files.size()), first.rows, first.bins}),
        files_(std::move(files)) {}

  void read(Range frames, Range rows, Range bins, std::byte* out) override {
    const auto frame_bytes = static_cast<std::size_t>(rows.size() * bins.size()) * bytes_of(type());
    for (Index k = frames.first; k < frames.last; ++k, out += frame_bytes) {
      const fs::path& path = files_[static_cast<std::size_t>(k)];
      TiffFile file(path);
      const TiffPage& page = file.page(0);
      const bool same =
          page.rows == shape()[1] && page.bins == shape()[2] && page.type == type() && file.pages() == 1;
      require<FileError>(same, path.string(), ": ", file.pages(), " image of ", page.rows, " x ", page.bins,
                         " pixels, ", name_of(page.type), "; 1 of ", shape()[1], " x ", shape()[2], ", ",
                         name_of(type()), ", is needed as in ", files_.front().filename().string());
      file.read(0, rows, bins, out);
    }
  }

 private:
  std::vector<fs::path> files_;
};

/// The pages of one file, or the lines of its one image as frames of one row.
class ImagePages : public FrameSource {
 public:
  ImagePages(const std::string& where, TiffFile file, bool lines)
      : FrameSource(where, file.page(0).type, shape_of(file, lines)), file_(std::move(file)), lines_(lines) {}

  void read(Range frames, Range rows, Range bins, std::byte* out) override {
    if (lines_) return file_.read(0, frames, bins, out);
    const auto frame_bytes = static_cast<std::size_t>(rows.size() * bins.size()) * bytes_of(type());
    for (Index k = frames.first; k < frames.last; ++k, out += frame_bytes) file_.read(k, rows, bins, out);
  }

 private:
  static Shape shape_of(const TiffFile& file, bool lines) {
    const TiffPage& page = file.page(0);
    return lines ? Shape{page.rows, 1, page.bins} : Shape{file.pages(), page.rows, page.bins};
  }
  TiffFile file_;
  bool lines_;
};

std::unique_ptr<FrameSource> folder_frames(const fs::path& folder, const std::vector<fs::path>& left_out,
                                           std::vector<std::string>& notes) {
  std::vector<fs::path> files;
  Index skipped = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!has_tiff_name(entry.path()) || !entry.is_regular_file()) continue;
    const bool named = std::any_of(left_out.begin(), left_out.end(), [&](const fs::path& other) {
      std::error_code fault;
      return fs::equivalent(entry.path(), other, fault);
    });
    named ? static_cast<void>(++skipped) : files.push_back(entry.path());
  }
  require<FileError>(!files.empty(), folder.string(), ": holds no TIFF images; *.tif or *.tiff are needed");
  std::sort(files.begin(), files.end());
  if (skipped > 0)
    notes.push_back(std::to_string(skipped) + " images left out of the stack: they are flats or darks");
  const TiffPage first = TiffFile(files.front()).page(0);
  return std::make_unique<ImageFiles>(folder.string(), std::move(files), first);
}

/// The pages of a file as frames; with `lines`, the lines of its one page.
std::unique_ptr<FrameSource> file_frames(const fs::path& path, TiffFile file, bool lines) {
  for (Index k = 1; k < file.pages(); ++k) {
    const TiffPage &first = file.page(0), &other = file.page(k);
    require<FileError>(other.rows == first.rows && other.bins == first.bins && other.type == first.type,
                       path.string(), ": page ", k, " is ", other.rows, " x ", other.bins, " pixels, ",
                       name_of(other.type), "; ", first.rows, " x ", first.bins, ", ", name_of(first.type),
                       ", is needed as on page 0");
  }
  return std::make_unique<ImagePages>(path.string(), std::move(file), lines);
}

}  // namespace

bool is_tiff(const fs::path& path) {
  std::array<char, 4> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string magic(start.data(), start.size());
  using namespace std::string_literals;
  return magic == "II*\0"s || magic == "MM\0*"s || magic == "II+\0"s || magic == "MM\0+"s;
}

std::unique_ptr<FrameSource> tiff_frames(const fs::path& path, bool lines) {
  std::vector<std::string> unused;
  if (fs::is_directory(path)) return folder_frames(path, {}, unused);
  TiffFile file(path);
  const bool as_lines = lines && file.pages() == 1;
  return file_frames(path, std::move(file), as_lines);
}

Acquisition open_tiff(const fs::path& path, const OpenOptions& options) {
  Acquisition acquisition;
  acquisition.angles_where = path.string() + ": angles";
  if (fs::is_directory(path)) {
    std::vector<fs::path> left_out = options.flats;
    left_out.insert(left_out.end(), options.darks.begin(), options.darks.end());
    acquisition.projections.push_back(folder_frames(path, left_out, acquisition.info.notes));
    acquisition.info.format = "TIFF stack";
    return acquisition;
  }
  TiffFile file(path);
  const bool sinogram = file.pages() == 1;
  acquisition.projections.push_back(file_frames(path, std::move(file), sinogram));
  acquisition.info.format = sinogram ? "TIFF sinogram" : "TIFF stack";
  return acquisition;
}

}  // namespace tandem::io
