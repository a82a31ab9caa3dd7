// A volume as OME-Zarr (https://ngff.openmicroscopy.org): a folder with the volume and smaller copies, each
// with half the resolution of the one before. A chunk is a slice. OME-Zarr 0.4 is in Zarr 2, with a file for
// each chunk. OME-Zarr 0.5 is in Zarr 3, whose files are shards: many chunks, and the index of their places.
//
// All files are made in a hidden folder within, which has one name for both, and moved to their places at the
// end, ".zattrs" or "zarr.json" last.

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/spelled.hpp"
#include "../files/checksum.hpp"
#include "../files/plain_file.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/packing.hpp"
#include "ome_zarr.hpp"
#include "ome_zarr_level.hpp"
#include "slab_writer.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

const std::string attributes = ".zattrs";  // the output; the names of all parts begin with it
const std::string metadata = "zarr.json";  // the metadata of Zarr 3

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

/// The digits in the name of a chunk, which is LEVEL/SLICE/0/0 in volumes of tandem, or of a shard,
/// LEVEL/c/SHARD/0/0. They may be its beginning. 0: it is another name.
std::size_t digits_of_chunk(const fs::path& name) {
  std::vector<std::string> parts(name.begin(), name.end());
  if (parts.size() > 1 && parts[1] == "c") parts.erase(parts.begin() + 1);
  return parts.size() <= 4 && std::ranges::all_of(parts, is_digits) ? parts.size() : 0;
}

/// Whether tandem gives this name to a file of a volume. All other files of the folder are the user's:
/// labels, notes.
bool is_file_of_volume(const fs::path& name) {
  const auto count = std::distance(name.begin(), name.end());
  const std::string last = name.filename();
  if (count == 1) return is_among(last, ".zattrs .zgroup .zmetadata zarr.json");
  if (count == 2 && is_digits(name.begin()->string())) return is_among(last, ".zarray .zattrs zarr.json");
  return digits_of_chunk(name) == 4;
}

/// Whether a name may be that of a file of a Zarr that another program wrote. Such files are also chunks with
/// any name.
bool is_file_of_other_zarr(const fs::path& name) {
  return is_file_of_volume(name) || name == ".zarray" ||
         (std::distance(name.begin(), name.end()) > 1 && is_digits(name.begin()->string()));
}

/// The file that has the attributes of a group or of a level.
fs::path attributes_in(const fs::path& folder) {
  return folder / (is_zarr_3(folder) ? metadata : attributes);
}

bool wrote(const fs::path& folder) {
  try {
    return zarr_text::is_own(text_of_regular_file(attributes_in(folder), "a Zarr"));
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
    require<FileError>(!fs::is_symlink(folder / name, fault) ||
                           (name != attributes && name != metadata && digits_of_chunk(name) == 0),
                       (folder / name).string(),
                       ": is a link, which a volume does not lead through; remove it");
  if (files.empty() || wrote(folder)) return;
  const bool is_zarr =
      fs::exists(folder / ".zgroup", fault) || fs::exists(folder / ".zarray", fault) || is_zarr_3(folder);
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
        levels_(levels_of(c.shape)),
        smaller_(levels_.size()) {
    JournalText& text = beginning_.text;
    recipe_ = text.recipe;
    if (ranks().is_first()) {
      text.done = verified(text.done);
      clear_but(text.done);
      require_space(c.shape[0] - text.done.size());
      make_shards(0);
    }
    for (const DoneSlice& done : text.done) {
      Index& end = ends_[file_part(0, done.slice)];
      end = std::max(end, done.offset + done.bytes);
    }
    adopt(text);
    journal_.emplace(output(), std::move(text), [this](const std::vector<DoneSlice>& some) {
      std::set<std::string> files;
      for (const DoneSlice& slice : some) files.insert(file_part(0, slice.slice));
      for (const std::string& file : files) output().open(file).sync();
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
  bool is_sharded() const { return format().zarr == 3; }
  /// How many slices of a level a file has: one, or a shard of them.
  Index slices_of_file(std::size_t level) const {
    return is_sharded() ? std::clamp<Index>(format().shard_bytes / chunk_bytes(level), 1, levels_[level][0])
                        : 1;
  }
  std::string file_part(std::size_t level, Index slice) const {
    return part(std::to_string(level) + "." + std::to_string(slice / slices_of_file(level)));
  }

  void clear_but(const std::vector<DoneSlice>& slices) {
    std::set<std::string> kept;
    for (const DoneSlice& d : slices) kept.insert(file_part(0, d.slice));
    for (const std::string& name : output().names())
      if (!kept.contains(name) && !name.ends_with(journal_ending)) output().discard(name);
  }

  Index number_bytes() const { return bytes_of(number_type(format().type)); }
  bool is_packed() const { return format().compression != Compression::none; }
  Index chunk_bytes(std::size_t level) const {
    return levels_[level][1] * levels_[level][2] * number_bytes();
  }

  /// Makes the shards of a level that are not there.
  void make_shards(std::size_t level) {
    for (Index z = 0; is_sharded() && z < levels_[level][0]; z += slices_of_file(level))
      if (const std::string name = file_part(level, z); !output().has(name)) output().create(name);
  }

  /// Writes a chunk, and notes its place.
  void write_chunk(std::size_t level, DoneSlice& slice, std::span<const std::byte> numbers) {
    std::vector<std::byte> made;
    if (is_packed())
      made = is_sharded() ? packed_by(blosc_codec(format().compression), number_bytes(), numbers)
                          : packed(format().compression, number_bytes(), numbers);
    const std::span<const std::byte> bytes = is_packed() ? made : numbers;
    const std::string name = file_part(level, slice.slice);
    PlainFile file = is_sharded() ? output().open(name) : output().create(name);
    slice.bytes = bytes.size();
    slice.offset = slice.slice % slices_of_file(level) * slice.bytes;
    if (is_packed() && is_sharded()) {
      const std::lock_guard lock(mutex_);
      slice.offset = std::exchange(ends_[name], ends_[name] + slice.bytes);
    }
    file.write(slice.offset, bytes.data(), bytes.size());
    file.begin_sync(slice.offset, slice.bytes);
  }

  /// The numbers of a chunk; empty if they are not there.
  std::vector<std::byte> read_chunk(std::size_t level, const DoneSlice& slice) {
    const std::string name = file_part(level, slice.slice);
    if (!output().has(name)) return {};
    const PlainFile file = output().open(name);
    if (slice.bytes > file.size()) return {};
    std::vector<std::byte> bytes(slice.bytes);
    if (!file.read(slice.offset, bytes.data(), bytes.size())) return {};
    if (!is_packed()) return bytes;
    if (!is_sharded()) return unpacked(format().compression, number_bytes(), bytes, chunk_bytes(level));
    std::vector<std::byte> numbers(chunk_bytes(level));
    return unpack_blosc(bytes, numbers) ? numbers : std::vector<std::byte>{};
  }

  /// Writes the index of each shard of a level to its end.
  void write_indices(std::size_t level) {
    const Index slices = slices_of_file(level), all = levels_[level][0];
    for (Index first = 0; is_sharded() && first < all; first += slices) {
      std::vector<std::uint64_t> index(2 * slices, ~std::uint64_t{0});
      Index end = 0;
      for (Index z = first; z < std::min(first + slices, all); ++z) {
        const DoneSlice& place = place_of(level, z);
        index[2 * (z - first)] = place.offset, index[2 * (z - first) + 1] = place.bytes;
        end = std::max(end, place.offset + place.bytes);
      }
      const Index bytes = std::ssize(index) * sizeof index[0];
      const std::uint32_t sum = crc32c(std::as_bytes(std::span(index)));
      PlainFile file = output().open(file_part(level, first));
      file.write(end, index.data(), bytes);
      file.write(end + bytes, &sum, sizeof sum);
      file.shorten(end + bytes + sizeof sum);
    }
  }

  void write_slice(DoneSlice& slice, const void* stored) override {
    write_chunk(0, slice, {static_cast<const std::byte*>(stored), static_cast<std::size_t>(slice_bytes())});
  }

  std::vector<std::byte> stored(const DoneSlice& slice) override { return read_chunk(0, slice); }

  const DoneSlice& place_of(std::size_t level, Index z) const {
    return level == 0 ? slice(z) : smaller_[level][z];
  }

  std::vector<float> voxels(std::size_t level, Index z) {
    const std::vector<std::byte> bytes = read_chunk(level, place_of(level, z));
    require<FileError>(std::ssize(bytes) == chunk_bytes(level), path_.string(), ": slice ", z, " of level ",
                       level, " cannot be read back");
    std::vector<float> data(levels_[level][1] * levels_[level][2]);
    from_stored(format(), bytes.data(), data.size(), data.data());
    return data;
  }

  /// Makes a level. Each voxel is the mean of 2 x 2 x 2 voxels, or of fewer at the ends.
  void make_level(std::size_t level) {
    const Shape &n = levels_[level], &fine = levels_[level - 1];
    make_shards(level);
    smaller_[level].resize(n[0]);
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
      DoneSlice& made = smaller_[level][z];
      made.slice = z;
      if (format().type == VoxelType::float32)
        write_chunk(level, made, std::as_bytes(std::span(sum)));
      else
        write_chunk(level, made, quantised(format(), sum.data(), sum.size()));
    });
  }

  void write_text(const std::string& name, const std::string& text) {
    output().create(name).write(0, text.data(), text.size());
  }

  /// Writes a file of attributes, which keeps those that a user put into the file that it replaces.
  void write_attributes(const std::string& name, const std::string& text, const fs::path& folder) {
    std::error_code fault;
    const fs::path older = attributes_in(folder);
    const bool has_older = wrote(path_) && fs::is_regular_file(fs::symlink_status(older, fault));
    write_text(name, has_older
                         ? zarr_text::with_attributes_of(text_of_regular_file(older, "a text of Zarr"), text)
                         : text);
  }

  /// Writes the metadata of a level, and returns the steps to its files.
  std::vector<Output::Step> metadata_of(std::size_t level) {
    const std::string name = std::to_string(level), array = part(name), axes = part(name + "axes");
    const std::string text = zarr_text::array({slices_of_file(level), levels_[level][1], levels_[level][2]},
                                              levels_[level], format());
    if (is_sharded()) {
      write_attributes(array, text, path_ / name);
      return {{array, name + "/" + metadata}};
    }
    write_text(array, text);
    write_attributes(axes, zarr_text::dimensions(level), path_ / name);
    return {{array, name + "/.zarray"}, {axes, name + "/" + attributes}};
  }

  void complete(const std::string& report_json) override {
    for (std::size_t level = 1; level < levels_.size(); ++level) make_level(level);
    const std::string &root = is_sharded() ? metadata : attributes,
                      &other = is_sharded() ? attributes : metadata;
    write_attributes(part("due"), zarr_text::unfinished(format()), path_);
    write_attributes(attributes,
                     zarr_text::attributes(path_.stem().string(), levels_, format(), recipe_, report_json),
                     path_);
    std::vector<Output::Step> steps{{part("due"), root}, {"", other}};
    if (!is_sharded()) {
      write_text(part("group"), "{\"zarr_format\":2}");
      steps.push_back({part("group"), ".zgroup"});
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      write_indices(level);
      for (Output::Step& step : metadata_of(level)) steps.push_back(std::move(step));
      const std::string folder = std::to_string(level) + (is_sharded() ? "/c/" : "/");
      const Index slices = slices_of_file(level);
      for (Index z = 0; z < levels_[level][0]; z += slices)
        steps.push_back({file_part(level, z), folder + std::to_string(z / slices) + "/0/0"});
    }
    std::set<std::string> coming{root};
    for (const Output::Step& step : steps) coming.insert(step.name);
    const auto goes = wrote(path_) ? is_file_of_volume : is_file_of_other_zarr;
    for (const std::string& older : files_in(path_))
      if (goes(older) && !coming.contains(older)) steps.push_back({"", older});
    steps.push_back({attributes, root});
    output().publish(steps, path_.string());
  }

  fs::path path_;
  std::unique_ptr<MadeFolder> folder_;  // only the first rank has it
  Beginning beginning_;
  std::vector<Shape> levels_;
  std::vector<std::vector<DoneSlice>> smaller_;  // places in the levels; of the first one, `slice` has them
  std::string recipe_;
  std::mutex mutex_;
  std::map<std::string, Index> ends_;  // bytes that are taken of shards whose chunks are packed
  std::optional<Journal> journal_;     // the last member, since its thread uses the others
};

std::unique_ptr<VolumeWriter> create_ome_zarr(const Creation& c) {
  require<FileError>(
      c.continuation.ranks.is_alone() || c.format.compression == Compression::none || c.format.zarr == 2,
      c.path.string(),
      ": several ranks do not write one packed shard; leave out " + spelled("compression") + ", or give " +
          spelled("ome-zarr") + " 0.4");
  return std::make_unique<ZarrWriter>(c);
}

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
