// Reads a volume whose slices are files, which is one volume whichever runs wrote its parts.

#include <algorithm>

#include "../../core/error.hpp"
#include "../files/checksum.hpp"
#include "../files/image_file.hpp"
#include "../scans/frame_source.hpp"
#include "slice_manifest.hpp"
#include "slice_part.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

Range joined(Range a, Range b) { return {std::min(a.first, b.first), std::max(a.last, b.last)}; }

class SliceFilesSource : public VolumeSource {
 public:
  /// The volume of the part `base`, and of all parts that fit it.
  SliceFilesSource(const fs::path& volume, const std::vector<SlicePart>& parts, const SlicePart& base)
      : volume_(volume),
        as_(*volume_kind(volume)->slice_file),
        all_(base.slices()),
        listed_(read_manifest(volume).value_or(SliceManifest{})) {
    std::vector<const SlicePart*> of_volume{&base};
    for (const SlicePart& part : parts) join(part, of_volume);
    where = volume.string();
    shape = {all_.size(), base.shape[1], base.shape[2]};
    const ImagePage first = as_.open(base.files.begin()->second)->page(0);
    type = first.type;
    is_float16 = first.is_float16;
    unit = base.facts.text("unit");
    place = extended(base.place, all_);
    min = base.facts.number("min"), max = base.facts.number("max");
    reconstruction = true;
    recipe = base.facts.text("recipe");
    if (const std::string marked = unfinished(); !marked.empty()) missing = marked;
    if (missing.empty()) missing = gap();
  }

  void read(Range slices, float* stored) override {
    for (Index k = slices.first; k < slices.last; ++k, stored += shape[1] * shape[2]) read_slice(k, stored);
  }

  void read_part(std::size_t, Index slice, Range y, Range x, std::byte* out) const override {
    opened(slice)->read(0, y, x, out);
  }
  bool reads_lines() const override { return false; }  // each call opens a file

 private:
  void join(const SlicePart& part, std::vector<const SlicePart*>& others) {
    for (const SlicePart* other : others) {
      const std::string amiss = other == &part ? "" : misfit(part, *other);
      if (amiss.empty()) continue;
      missing = "its slice " + part.name() + " does not fit to " + other->name() + ": " + amiss +
                "; move one of them elsewhere, or make the volume again";
      return;
    }
    all_ = joined(all_, part.slices());
    files_.insert(part.files.begin(), part.files.end());
    others.push_back(&part);
  }

  /// What is missing according to the manifest, which is written last.
  std::string unfinished() {
    const auto is_listed = [&](const auto& file) { return listed_.slices.contains(file.first); };
    for (const auto& [number, slice] : listed_.slices) all_ = joined(all_, {number, number + 1});
    if (listed_.due.empty() && std::all_of(files_.begin(), files_.end(), is_listed)) return {};
    return not_finished;
  }

  std::string gap() const {
    if (std::ssize(files_) == all_.size()) return {};
    Index first = all_.first;
    while (files_.contains(first)) ++first;
    return "lacks " + std::to_string(all_.size() - std::ssize(files_)) + " of its " +
           std::to_string(all_.size()) + " slices, first " + slice_path(volume_, first).filename().string() +
           "; make what is missing, or the volume again";
  }

  /// The file of a slice. @throws FileError unless it is as the others
  std::unique_ptr<ImageFile> opened(Index k) const {
    const auto found = files_.find(all_.first + k);
    require<FileError>(found != files_.end(), slice_path(volume_, all_.first + k).string(),
                       ": is not there; make the volume again");
    std::unique_ptr<ImageFile> file = as_.open(found->second);
    const ImagePage& page = file->page(0);
    require<FileError>(
        page.rows == shape[1] && page.bins == shape[2] && page.type == type && page.is_float16 == is_float16,
        file->name(), ": is ", page.rows, " x ", page.bins, " pixels, ", name_of(page.type), "; ", shape[1],
        " x ", shape[2], ", ", name_of(type), ", is needed as in the other slices");
    return file;
  }

  void read_slice(Index k, float* out) {
    const Index number = all_.first + k;
    const std::unique_ptr<ImageFile> file = opened(k);
    const ImagePage& page = file->page(0);
    const std::size_t count = page.rows * page.bins;
    std::vector<std::byte> bytes(count * bytes_of(type));
    file->read(0, {0, page.rows}, {0, page.bins}, bytes.data());
    const auto listed = listed_.slices.find(number);
    require<FileError>(listed == listed_.slices.end() ||
                           listed->second.checksum == stored_checksum(bytes.data(), page.rows * page.bins),
                       file->name(), ": its pixels are not those of the checksum in ",
                       manifest_path(volume_).string(), "; the file is damaged");
    to_float(type, bytes.data(), page.rows * page.bins, reinterpret_cast<std::byte*>(out));
  }

  fs::path volume_;
  const SliceFile& as_;
  Range all_;  ///< slices of the full grid
  SliceManifest listed_;
  std::map<Index, fs::path> files_;  ///< files by the numbers of their slices in the full grid
};

}  // namespace

std::unique_ptr<VolumeSource> open_slice_files(const fs::path& path, const SliceFile& as) {
  std::error_code fault;
  const fs::path volume = volume_of(path);
  const VolumeKind* kind = volume_kind(volume);
  if (kind == nullptr || kind->slice_file != &as || (volume == path && fs::exists(path, fault)))
    return nullptr;
  const std::vector<SlicePart> parts = slice_parts(volume);
  const auto has_path = [&](const SlicePart& part) {
    const auto found = part.files.find(slice_number(volume, path).value_or(-1));
    return found != part.files.end() && found->second.filename() == path.filename();
  };
  const auto named = volume == path ? parts.begin() : std::find_if(parts.begin(), parts.end(), has_path);
  if (named == parts.end()) return nullptr;
  return std::make_unique<SliceFilesSource>(volume, parts, *named);
}

}  // namespace tandem::io
