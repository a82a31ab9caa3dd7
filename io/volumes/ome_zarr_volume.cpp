// A volume as OME-Zarr 0.4 (https://ngff.openmicroscopy.org/0.4): a folder, in Zarr 2, with the volume and
// smaller copies, each with half the resolution of the one before. A chunk is a slice.
//
// All files are made in a hidden folder within, and moved to their places at the end, ".zattrs" last.

#include <algorithm>
#include <cctype>
#include <set>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../files/plain_file.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/packing.hpp"
#include "ome_zarr.hpp"
#include "slab_writer.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

const std::string attributes = ".zattrs";  // the output; the names of all parts begin with it

/// The files in a folder, by names relative to it, without those that are being made there.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code fault;
  for (auto at = fs::recursive_directory_iterator(folder, fault); !fault && at != fs::end(at);
       at.increment(fault)) {
    if (at->path().filename() == "." + attributes + ".tandem")
      at.disable_recursion_pending();
    else if (!at->is_directory(fault) || at->is_symlink(fault))
      files.push_back(at->path().lexically_relative(folder).string());  // a link by its own name
  }
  return files;
}

bool is_digits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Whether a name can begin the name of a chunk, which is LEVEL/SLICE/0/0 in volumes of tandem.
bool is_way_to_chunk(const fs::path& name) {
  const std::vector<std::string> parts(name.begin(), name.end());
  return !parts.empty() && parts.size() <= 4 && std::ranges::all_of(parts, is_digits);
}

/// Whether tandem gives this name to a file of a volume. All other files of the folder are the user's:
/// labels, notes.
bool is_file_of_volume(const fs::path& name) {
  const auto count = std::distance(name.begin(), name.end());
  if (count == 1) return name == attributes || name == ".zgroup" || name == ".zmetadata";
  if (count == 2)
    return is_digits(name.begin()->string()) &&
           (name.filename() == ".zarray" || name.filename() == attributes);
  return count == 4 && is_way_to_chunk(name);
}

/// Whether a name may be that of a file of a Zarr that another program wrote. Such files are also chunks with
/// any name, and the metadata of Zarr 3.
bool is_file_of_other_zarr(const fs::path& name) {
  return is_file_of_volume(name) || name == ".zarray" || name == "zarr.json" ||
         (std::distance(name.begin(), name.end()) > 1 && is_digits(name.begin()->string()));
}

bool wrote(const fs::path& folder) {
  try {
    return zarr_text::is_own(text_of_regular_file(folder / attributes, "a Zarr"));
  } catch (const FileError&) {
    return false;
  }
}

/// @throws FileError if the path is something else, if tandem did not write it, or if there are links in it
void require_ours(const fs::path& folder, Replace replace) {
  std::error_code fault;
  const fs::file_status found = fs::status(folder, fault);
  if (!fs::exists(found)) return;
  require<FileError>(fs::is_directory(found), folder.string(), ": is a file; give another name");
  const std::vector<std::string> files = files_in(folder);
  for (const fs::path name : files)
    require<FileError>(
        !fs::is_symlink(folder / name, fault) || (name != attributes && !is_way_to_chunk(name)),
        (folder / name).string(), ": is a link, which a volume does not lead through; remove it");
  if (files.empty() || wrote(folder)) return;
  const bool is_zarr = fs::exists(folder / ".zgroup", fault) || fs::exists(folder / ".zarray", fault);
  require<FileError>(is_zarr && replace == Replace::any, folder.string(),
                     ": is there already, and tandem did not write it; give another name",
                     is_zarr ? ", or " + spelled("overwrite") : "");
}

/// The shapes of the volume and of its smaller copies.
std::vector<Shape> levels_of(Shape n) {
  constexpr Index small = 64;  // voxels along x and y
  std::vector<Shape> levels{n};
  while (std::max(levels.back()[1], levels.back()[2]) > small) {
    Shape half = levels.back();
    for (Index& count : half) count = (count + 1) / 2;
    levels.push_back(half);
  }
  return levels;
}

class ZarrWriter final : public SlabWriter {
 public:
  explicit ZarrWriter(const Creation& c)
      : SlabWriter(c.path.string(), c.shape, c.format, c.continuation.ranks),
        path_(c.path),
        folder_(folder_of(c)),
        beginning_(begin(c.path / attributes, Content::volume, Replace::any, c.recipe, c.continuation)),
        levels_(levels_of(c.shape)) {
    JournalText& text = beginning_.text;
    recipe_ = text.recipe;
    if (ranks().is_first()) {
      text.done = verified(text.done);
      clear_but(text.done);
      require_space(c.shape[0] - text.done.size());
    }
    adopt(text);
    journal_.emplace(output(), std::move(text), [this](const std::vector<DoneSlice>& some) {
      for (const DoneSlice& slice : some) output().open(chunk_part(0, slice.slice)).sync();
    });
    use(*journal_);
  }

 private:
  static std::unique_ptr<MadeFolder> folder_of(const Creation& c) {
    if (!c.continuation.ranks.is_first()) return nullptr;
    require_ours(c.path, c.replace);
    return std::make_unique<MadeFolder>(c.path);
  }

  Output& output() { return beginning_.output; }

  /// Requires space on the disk for this number of slices, and for the levels above.
  void require_space(Index slices) {
    {
      PlainFile probe = output().create(part("probe"));
      probe.require_space(1.0 * slices * slice_bytes() * 8 / 7);
    }
    output().discard(part("probe"));
  }
  static std::string part(const std::string& name) { return attributes + "." + name; }
  static std::string chunk_part(std::size_t level, Index slice) {
    return part(std::to_string(level) + "." + std::to_string(slice));
  }

  void clear_but(const std::vector<DoneSlice>& slices) {
    std::set<std::string> kept;
    for (const DoneSlice& d : slices) kept.insert(chunk_part(0, d.slice));
    for (const std::string& name : output().names())
      if (!kept.contains(name) && !name.ends_with(journal_ending)) output().discard(name);
  }

  Index number_bytes() const { return bytes_of(number_type(format().type)); }
  bool is_packed() const { return format().compression != Compression::none; }

  /// Writes a chunk, and returns the number of bytes of its file.
  Index write_chunk(std::size_t level, Index slice, std::span<const std::byte> numbers) {
    std::vector<std::byte> made;
    if (is_packed()) made = packed(format().compression, number_bytes(), numbers);
    const std::span<const std::byte> bytes = is_packed() ? made : numbers;
    PlainFile file = output().create(chunk_part(level, slice));
    file.write(0, bytes.data(), bytes.size());
    file.begin_sync();
    return bytes.size();
  }

  /// The numbers of a chunk; empty if they are not there.
  std::vector<std::byte> read_chunk(std::size_t level, Index slice) {
    if (!output().has(chunk_part(level, slice))) return {};
    const PlainFile file = output().open(chunk_part(level, slice));
    std::vector<std::byte> bytes(file.size());
    if (!file.read(0, bytes.data(), bytes.size())) return {};
    const Shape& n = levels_[level];
    return is_packed() ? unpacked(format().compression, number_bytes(), bytes, n[1] * n[2] * number_bytes())
                       : bytes;
  }

  void write_slice(DoneSlice& slice, const void* stored) override {
    slice.bytes = write_chunk(
        0, slice.slice, {static_cast<const std::byte*>(stored), static_cast<std::size_t>(slice_bytes())});
  }

  std::vector<std::byte> stored(const DoneSlice& slice) override { return read_chunk(0, slice.slice); }

  std::vector<float> voxels(std::size_t level, Index slice) {
    const Shape& n = levels_[level];
    const std::vector<std::byte> bytes = read_chunk(level, slice);
    require<FileError>(std::ssize(bytes) == n[1] * n[2] * number_bytes(), path_.string(), ": slice ", slice,
                       " of level ", level, " cannot be read back");
    std::vector<float> data(n[1] * n[2]);
    from_stored(format(), bytes.data(), n[1] * n[2], data.data());
    return data;
  }

  /// Makes a level. Each voxel is the mean of 2 x 2 x 2 voxels, or of fewer at the ends.
  void make_level(std::size_t level) {
    const Shape &n = levels_[level], &fine = levels_[level - 1];
    parallel_for(n[0], [&](Index z) {
      std::vector<float> sum(n[1] * n[2]), count(sum.size());
      for (Index zz = 2 * z; zz < std::min(2 * z + 2, fine[0]); ++zz) {
        const std::vector<float> slice = voxels(level - 1, zz);
        for (Index y = 0; y < fine[1]; ++y)
          for (Index x = 0; x < fine[2]; ++x) {
            const std::size_t to = y / 2 * n[2] + x / 2;
            sum[to] += slice[y * fine[2] + x];
            ++count[to];
          }
      }
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= count[i];
      const Index pixels = sum.size();
      if (format().type == VoxelType::float32)
        write_chunk(level, z, std::as_bytes(std::span(sum)));
      else
        write_chunk(level, z, quantised(format(), sum.data(), pixels));
    });
  }

  void write_text(const std::string& name, const std::string& text) {
    output().create(name).write(0, text.data(), text.size());
  }

  /// Writes a file of attributes, which keeps those that a user put into the file that it replaces.
  void write_attributes(const std::string& name, const std::string& text, const fs::path& older) {
    std::error_code fault;
    const bool has_older = wrote(path_) && fs::is_regular_file(fs::symlink_status(older, fault));
    write_text(name, has_older
                         ? zarr_text::with_attributes_of(text_of_regular_file(older, "a text of Zarr"), text)
                         : text);
  }

  void complete(const std::string& report_json) override {
    for (std::size_t level = 1; level < levels_.size(); ++level) make_level(level);
    write_attributes(part("due"), zarr_text::unfinished(), path_ / attributes);
    write_text(part("group"), "{\"zarr_format\":2}");
    write_attributes(attributes,
                     zarr_text::attributes(path_.stem().string(), levels_, format(), recipe_, report_json),
                     path_ / attributes);
    std::vector<Output::Step> steps{{part("due"), attributes}, {part("group"), ".zgroup"}};
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::string name = std::to_string(level);
      write_text(part(name), zarr_text::array(levels_[level], format()));
      steps.push_back({part(name), name + "/.zarray"});
      write_attributes(part(name + "axes"), zarr_text::dimensions(level), path_ / name / attributes);
      steps.push_back({part(name + "axes"), name + "/" + attributes});
      for (Index z = 0; z < levels_[level][0]; ++z)
        steps.push_back({chunk_part(level, z), name + "/" + std::to_string(z) + "/0/0"});
    }
    std::set<std::string> coming{attributes};
    for (const Output::Step& step : steps) coming.insert(step.name);
    const auto goes = wrote(path_) ? is_file_of_volume : is_file_of_other_zarr;
    for (const std::string& older : files_in(path_))
      if (goes(older) && !coming.contains(older)) steps.push_back({"", older});
    steps.push_back({attributes, attributes});
    output().publish(steps, path_.string());
  }

  fs::path path_;
  std::unique_ptr<MadeFolder> folder_;  // only the first rank has it
  Beginning beginning_;
  std::vector<Shape> levels_;
  std::string recipe_;
  std::optional<Journal> journal_;  // the last member, since its thread uses the others
};

std::unique_ptr<VolumeWriter> create_ome_zarr(const Creation& c) { return std::make_unique<ZarrWriter>(c); }

std::vector<fs::path> all_files(const fs::path& path) {
  std::vector<fs::path> files;
  for (const std::string& name : files_in(path)) files.push_back(path / name);
  return files;
}

}  // namespace

VolumeKind ome_zarr_kind() {
  return {.name = "zarr",
          .title = "OME-Zarr",
          .endings = {".zarr"},
          .types = {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8},
          .packs = true,
          .is_folder = true,
          .alone = is_zarr,
          .create = create_ome_zarr,
          .open = open_zarr,
          .files = all_files};
}

}  // namespace tandem::io
