// Writes a volume whose slices are files. They are made in a hidden folder. At the end all get their names,
// the manifest last.

#include <sys/stat.h>

#include <sstream>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../files/image_file.hpp"
#include "../files/plain_file.hpp"
#include "../files/text.hpp"
#include "slab_writer.hpp"
#include "slice_manifest.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

/// What happens to older files at the place of a new volume.
struct Older {
  SliceManifest kept;          ///< slices of other runs, which stay, and slices that these runs lack
  std::vector<Index> removed;  ///< slices that are removed when the volume is there
};

/// The slices of an older run in words, as in the error that keeps them.
std::string words_of(const std::set<Index>& slices) {
  return words("slices ", *slices.begin(), ':', *slices.rbegin() + 1);
}

/// Whether a file is still one of tandem. A manifest does not prove it, since others may have replaced the
/// file.
bool is_still_ours(const fs::path& path) {
  std::error_code fault;
  return fs::is_regular_file(path, fault) &&
         written_by_tandem(volume_kind(path)->slice_file->description(path));
}

/// The slices on the disk that tandem wrote. @throws FileError for a file within `coming` that it did not
/// write, unless any file may be replaced
std::set<Index> older_slices(const fs::path& volume, Range coming, Replace replace) {
  std::set<Index> older;
  for (const auto& [number, path] : slices_on_disk(volume)) {
    const bool ours = is_still_ours(path);
    if (ours) older.insert(number);
    const bool in_the_way = number >= coming.first && number < coming.last;
    require<FileError>(
        ours || !in_the_way || replace == Replace::any, path.string(),
        ": is there already, and tandem did not write it; give another name, or " + spelled("overwrite"));
  }
  return older;
}

/// Decides before the work, while it holds the name, what happens to older files. @throws FileError if slices
/// of another run would be lost
Older settle(const fs::path& volume, Range coming, const std::string& grid, Replace replace) {
  Older out;
  SliceManifest manifest = read_manifest(volume).value_or(SliceManifest{});
  std::set<Index> all = older_slices(volume, coming, replace), of_unfinished;
  for (const Index number : manifest.due)
    if (all.erase(number) > 0) of_unfinished.insert(number);
  std::set<Index> other = all;
  std::erase_if(other, [&](Index k) { return k >= coming.first && k < coming.last; });
  const bool overlap = other.size() < all.size();
  const bool alike = manifest.slices.empty() || manifest.grid == grid;
  if (!other.empty() && (overlap || !alike)) {
    require<FileError>(
        replace == Replace::any, volume.string(), ": ", words_of(all), " of another ",
        alike ? "run" : "grid, scan or recipe", " are there, of which ", coming.first, ":", coming.last,
        " would leave a part; give another name, or " + spelled("overwrite") + " to remove all of them");
    out.removed.assign(other.begin(), other.end());
    other.clear();
  }
  std::erase_if(manifest.slices, [&](const auto& slice) { return !other.contains(slice.first); });
  std::erase_if(manifest.due, [&](Index k) { return k >= coming.first && k < coming.last; });
  if (manifest.slices.empty()) {  // the rest of an unfinished volume, which is replaced now
    for (const Index number : manifest.due)
      if (of_unfinished.contains(number)) out.removed.push_back(number);
    manifest.due.clear();
  }
  out.kept = std::move(manifest);
  out.kept.grid = grid;
  return out;
}

/// The text that all slices of one volume have in common.
std::string grid_of(Shape n, const VolumeFormat& form) {
  std::ostringstream text;
  text << name_of(number_type(form.type)) << ", " << n[1] << " x " << n[2] << ", " << form.unit();
  if (form.place)
    for (const std::size_t i : {0, 1, 2}) {
      text << ", "
           << "xyz"[i] << ' ' << form.place->grid.pitch[i];
      if (i < 2) text << ' ' << form.place->first[i];
      text << " of " << form.place->full_size[i];
    }
  if (!form.made_by.empty()) text << ", " << form.made_by;
  if (is_integer(form.type) && !form.range_follows) text << ", " << form.min << " to " << form.max;
  return text.str();
}

/// The slices that come, counted in the full grid.
Range slices_of(Shape n, const VolumeFormat& form) {
  return form.place ? form.place->slices() : Range{0, n[0]};
}

class SliceFilesWriter : public SlabWriter {
 public:
  SliceFilesWriter(const fs::path& path, Beginning beginning, Shape n, const VolumeFormat& form,
                   Replace replace)
      : SlabWriter(path.string(), n, form, beginning.ranks),
        path_(path),
        as_(*volume_kind(path)->slice_file),
        replace_(replace),
        recipe_(beginning.text.recipe),
        output_(std::move(beginning.output)) {
    JournalText& text = beginning.text;
    if (ranks().is_first()) {
      older_ = settle(path, slices_of(n, form), grid_of(n, form), replace);
      manifest_ = older_.kept;
      text.done = verified(text.done);
      clear_but(text.done);
      file_.emplace(output_.create(output_.name()));
      const double due = n[0] - std::ssize(text.done);
      file_->require_space(due * slice_bytes());  // fails now, not after hours
    }
    adopt(text);
    journal_.emplace(output_, std::move(text), [this](const std::vector<DoneSlice>& some) { sync(some); });
    use(*journal_);
  }

 private:
  Range slices() const { return slices_of(shape(), format()); }

  std::string name_of_slice(Index slice) const {
    return slice_path(path_, slices().first + slice).filename().string();
  }

  void write_slice(DoneSlice& slice, const void* stored) override {
    PlainFile file = output_.create(name_of_slice(slice.slice));
    as_.write(file, {path_.stem().string(), shape(), format(), slice.slice, recipe_}, stored);
    file.begin_sync();
    slice.bytes = file.size();
  }

  std::vector<std::byte> stored(const DoneSlice& slice) override {
    const std::string name = name_of_slice(slice.slice);
    if (!output_.has(name)) return {};
    const PlainFile file = output_.open(name);
    if (file.size() != slice.bytes) return {};
    const std::unique_ptr<ImageFile> image = as_.open(file.path());
    const ImagePage& page = image->page(0);
    const Index pixels = shape()[1] * shape()[2];
    if (page.rows != shape()[1] || page.bins != shape()[2]) return {};
    std::vector<std::byte> read(pixels * bytes_of(page.type));
    image->read(0, {0, page.rows}, {0, page.bins}, read.data());
    if (!page.is_float16) return read;
    return quantised(format(), reinterpret_cast<const float*>(read.data()), pixels);
  }

  void sync(const std::vector<DoneSlice>& some) {
    for (const DoneSlice& slice : some) output_.open(name_of_slice(slice.slice)).sync();
  }

  /// Clears the folder except for these slices and the journal.
  void clear_but(const std::vector<DoneSlice>& slices) {
    std::set<std::string> kept;
    for (const DoneSlice& d : slices) kept.insert(name_of_slice(d.slice));
    for (const std::string& name : output_.names())
      if (!kept.contains(name) && !name.ends_with(journal_ending)) output_.discard(name);
  }

  static void write_text(PlainFile& file, const SliceManifest& manifest) {
    const std::string text = text_of(manifest);
    file.write(0, text.data(), text.size());
  }

  void complete(const std::string&) override {
    output_.look_again([&] { older_slices(path_, slices(), replace_); });
    manifest_.grid = older_.kept.grid = grid_of(shape(), format());  // now with the range
    for (Index k = 0; k < shape()[0]; ++k)
      manifest_.slices[slices().first + k] = {static_cast<std::uint64_t>(slice(k).bytes), slice(k).checksum};
    SliceManifest before = older_.kept;
    for (Index k = slices().first; k < slices().last; ++k) before.due.insert(k);
    const std::string name = output_.name(), until_then = name + ".due";
    PlainFile incomplete = output_.create(until_then);
    write_text(incomplete, before);
    write_text(*file_, manifest_);
    std::vector<Output::Step> steps{{until_then, name}};
    for (Index k = 0; k < shape()[0]; ++k) steps.push_back({name_of_slice(k), name_of_slice(k)});
    for (const Index k : older_.removed)
      if (const fs::path older = slice_path(path_, k); is_still_ours(older))
        steps.push_back({"", older.filename().string()});
    steps.push_back({name, name});
    output_.publish(steps, files_written(path_, slices()));
  }

  fs::path path_;
  const SliceFile& as_;
  Replace replace_;
  std::string recipe_;
  Output output_;
  Older older_;
  SliceManifest manifest_;
  std::optional<PlainFile> file_;   // file of the manifest
  std::optional<Journal> journal_;  // the last member, since its thread uses the others
};

}  // namespace

std::unique_ptr<VolumeWriter> create_slice_files(const Creation& c) {
  Beginning beginning = begin(manifest_path(c.path), Content::manifest, c.replace, c.recipe, c.continuation);
  return std::make_unique<SliceFilesWriter>(c.path, std::move(beginning), c.shape, c.format, c.replace);
}

}  // namespace tandem::io
