// Volumes in Zarr 2 are read: chunk by chunk, and of chunks that are not packed the lines that are wanted.

#include "ome_zarr.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../files/json.hpp"
#include "../files/number_form.hpp"
#include "../files/stored_lines.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/chunk_filters.hpp"
#include "../hdf5/packing.hpp"
#include "flat_source.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double longest_axis = 1e9, largest_chunk = 1U << 31;  // voxels; bytes
constexpr Index longest_metadata = Index{16} << 20;             // bytes

/// The folder of a volume, from which its files do not lead out.
struct Root {
  fs::path folder;  ///< canonical; empty if files may lie anywhere

  void require_within(const fs::path& file) const {
    require<FileError>(folder.empty() || lies_within(file, folder), file.string(),
                       ": leads out of the folder of its volume; put the file there, or give " +
                           spelled("allow-external-files") + " if you trust the volume");
  }
};

json json_in(const fs::path& path, const Root& root) {
  root.require_within(path);
  json all = json_of(text_of_regular_file(path, "a text of Zarr", longest_metadata));
  require<FileError>(!all.is_discarded(), path.string(), ": is not JSON; the file is damaged");
  return all;
}

std::string text_in(const json& object, const char* name) {
  const json& found = member(object, name);
  return found.is_string() ? found.get<std::string>() : "";
}

std::optional<double> number_in(const json& object, const char* name) {
  const json& found = member(object, name);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

/// A list; an empty one if there is none.
const json& list_in(const json& object, const char* name) {
  static const json none = json::array();
  const json& found = member(object, name);
  return found.is_array() ? found : none;
}

/// A list of nothing but numbers.
std::vector<double> numbers_in(const json& object, const char* name) {
  const json& found = list_in(object, name);
  const bool fits = std::ranges::all_of(found, [](const json& item) { return item.is_number(); });
  return fits ? found.get<std::vector<double>>() : std::vector<double>{};
}

/// One array: a level.
struct Level {
  fs::path folder;
  Root root;
  Shape shape{}, chunk{};
  NumberForm form{};
  std::string packer;  ///< empty: chunks are not packed
  bool shuffled = false;
  double fill = 0;
  char separator = '.';
  bool is_whole = false;  ///< whether tandem wrote all its chunks

  Index chunk_bytes() const { return chunk[0] * chunk[1] * chunk[2] * form.bytes; }
};

Shape shape_in(const json& all, const char* name, const fs::path& path) {
  const std::vector<double> n = numbers_in(all, name);
  const bool fits = n.size() == 3 && std::ranges::all_of(n, [](double v) {
                      return v >= 1 && v <= longest_axis && v == std::floor(v);
                    });
  require<FileError>(fits, path.string(), ": ", name,
                     " is not three whole numbers above 0; an array with the axes z, y, x is needed");
  return {floor_index(n[0]), floor_index(n[1]), floor_index(n[2])};
}

std::optional<NumberForm> form_of(const std::string& type) {
  if (type.size() != 3 || std::string("<>|").find(type[0]) == std::string::npos || type[2] < '1' ||
      type[2] > '8')
    return {};
  const Index bytes = type[2] - '0';
  const bool swapped = type[0] == '>' && bytes > 1;
  if (type[1] == 'f') return number_form(NumberKind::real, bytes, swapped);
  if (type[1] == 'u') return number_form(NumberKind::natural, bytes, swapped);
  if (type[1] == 'i') return number_form(NumberKind::integer, bytes, swapped);
  return {};
}

void find_packing(const json& all, Level& level, const fs::path& path) {
  level.packer = text_in(member(all, "compressor"), "id");
  const bool known = level.packer.empty() || is_among(level.packer, "zstd blosc zlib");
  std::string others;
  for (const json& filter : list_in(all, "filters")) {
    const std::string name = text_in(filter, "id");
    if (name == "shuffle" && member(filter, "elementsize") == level.form.bytes && !level.packer.empty())
      level.shuffled = true;
    else
      others = name;
  }
  require<FileError>(known && others.empty(), path.string(), ": chunks are packed by ",
                     known ? others : level.packer, "; zstd, blosc or zlib is needed, or none");
}

/// The number that fills chunks that are not there.
double fill_of(const json& all) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr const char* name = "fill_value";
  if (const std::optional<double> number = number_in(all, name)) return *number;
  const std::string text = text_in(all, name);
  return text == "NaN"         ? std::numeric_limits<double>::quiet_NaN()
         : text == "Infinity"  ? infinite
         : text == "-Infinity" ? -infinite
                               : 0;
}

Level level_in(const fs::path& folder, const Root& root) {
  const fs::path path = folder / ".zarray";
  const json all = json_in(path, root);
  Level level;
  level.folder = folder, level.root = root;
  level.shape = shape_in(all, "shape", path), level.chunk = shape_in(all, "chunks", path);
  const std::string type = text_in(all, "dtype");
  const std::optional<NumberForm> form = form_of(type);
  require<FileError>(form.has_value(), path.string(), ": dtype \"", type,
                     "\"; integers or floats of up to 8 bytes are needed");
  level.form = *form;
  const double bytes = 1.0 * level.chunk[0] * level.chunk[1] * level.chunk[2] * level.form.bytes;
  require<FileError>(bytes <= largest_chunk, path.string(), ": a chunk has ", bytes,
                     " bytes; 2 GiB at most are read");
  require<FileError>(text_in(all, "order") != "F", path.string(), ": order \"F\"; \"C\" is needed");
  find_packing(all, level, path);
  if (text_in(all, "dimension_separator") == "/") level.separator = '/';
  level.fill = fill_of(all);
  return level;
}

/// The file of a chunk.
fs::path chunk_file(const Level& level, const std::array<Index, 3>& at) {
  std::string name = std::to_string(at[0]);
  for (const std::size_t axis : {1, 2}) name += level.separator + std::to_string(at[axis]);
  return level.folder / name;
}

/// The bytes in the file of a chunk; empty if there is none, which stands for the number that fills.
std::optional<Index> bytes_of_chunk(const Level& level, const fs::path& path) {
  std::error_code fault;
  const bool is_missing = fs::symlink_status(path, fault).type() == fs::file_type::not_found &&
                          fault == std::errc::no_such_file_or_directory;
  require<FileError>(!is_missing || !level.is_whole, path.string(),
                     ": is missing, although tandem wrote all chunks; the volume is damaged, make it again");
  if (is_missing) return std::nullopt;
  level.root.require_within(path);
  require_regular_file(path);
  const Index bytes = fs::file_size(path), due = level.chunk_bytes();
  require<FileError>(!level.packer.empty() || bytes == due, path.string(), ": has ", bytes, " bytes, not ",
                     due, "; the file is damaged");
  require<FileError>(bytes <= 2 * due + (1 << 16), path.string(), ": has ", bytes, " bytes, more than ", due,
                     " take; the file is damaged");
  return bytes;
}

/// Requires all chunks of a level that tandem wrote, which are slices.
void require_chunks(Level& level) {
  level.is_whole = level.separator == '/' && level.chunk == Shape{1, level.shape[1], level.shape[2]};
  if (!level.is_whole) return;  // another program has stored it anew
  parallel_for(level.shape[0], [&](Index slice) { bytes_of_chunk(level, chunk_file(level, {slice, 0, 0})); });
}

class ZarrSource final : public VolumeSource {
 public:
  explicit ZarrSource(std::vector<Level> levels) : levels_(std::move(levels)) {
    const Level& first = levels_.front();
    where = first.folder.string(), shape = first.shape, type = first.form.type;
    for (std::size_t k = 1; k < levels_.size(); ++k) {
      smaller.push_back(levels_[k].shape);
      require<FileError>(levels_[k].form.type == type, levels_[k].folder.string(),
                         ": its numbers are not of the type of the first level; the volume is damaged");
    }
  }

  std::size_t decoded_bytes() const override {
    constexpr std::size_t copies = 3;  // packed, unpacked, joined
    std::size_t bytes = 0;
    for (const Level& level : levels_)
      if (!level.packer.empty()) bytes = std::max<std::size_t>(bytes, level.chunk_bytes());
    return copies * bytes * thread_count();
  }

  void read_part(std::size_t number, Index slice, Range y, Range x, std::byte* out) const override {
    const Level& level = levels_[number];
    const Shape& c = level.chunk;
    for (Index cy = y.first / c[1]; cy * c[1] < y.last; ++cy)
      for (Index cx = x.first / c[2]; cx * c[2] < x.last; ++cx) {
        const Range rows{std::max(y.first, cy * c[1]), std::min(y.last, (cy + 1) * c[1])};
        const Range columns{std::max(x.first, cx * c[2]), std::min(x.last, (cx + 1) * c[2])};
        const std::array<Index, 3> part{1, rows.size(), columns.size()};
        const std::array<Index, 3> first{slice % c[0], rows.first % c[1], columns.first % c[2]};
        const std::array<Index, 3> corner{0, rows.first - y.first, columns.first - x.first};
        const std::array<Index, 3> whole{1, y.size(), x.size()};
        const std::array<Index, 3> at{slice / c[0], cy, cx};
        read_chunk(level, at, Lines(part, {c, first}, {whole, corner}), out);
      }
  }

 private:
  static void read_chunk(const Level& level, const std::array<Index, 3>& at, const Lines& lines,
                         std::byte* out) {
    const fs::path path = chunk_file(level, at);
    const std::optional<Index> bytes = bytes_of_chunk(level, path);
    if (!bytes) return fill(level, lines, out);
    std::vector<InputFile> files;
    files.emplace_back(path, path.string());
    if (level.packer.empty()) {
      const std::array<Extent, 1> extents{{{0, 0, *bytes}}};
      return read_lines({files, extents}, level.form, lines, out);
    }
    std::vector<std::byte> packed(*bytes);
    files[0].read(0, *bytes, packed.data());
    copy(level, unpacked_chunk(level, packed, path), lines, out);
  }

  static std::vector<std::byte> unpacked_chunk(const Level& level, const std::vector<std::byte>& packed,
                                               const fs::path& path) {
    const Index bytes = level.chunk_bytes();
    std::vector<std::byte> made(bytes);
    bool done = false;
    if (level.packer == "zlib") {
      done = chunk_filter(1)->undo(packed, {}, made) == made.size();
    } else if (level.packer == "blosc") {
      done = unpack_blosc(packed, made);
    } else {
      done = unpack_zstd(packed, made);
    }
    require<FileError>(done, path.string(), ": cannot be unpacked; the file is damaged");
    if (!level.shuffled) return made;
    std::vector<std::byte> joined(made.size());
    const std::array<unsigned, 1> width{static_cast<unsigned>(level.form.bytes)};
    chunk_filter(2)->undo(made, width, joined);
    return joined;
  }

  static void copy(const Level& level, const std::vector<std::byte>& chunk, const Lines& lines,
                   std::byte* out) {
    const Index pixel = bytes_of(level.form.type);
    for (Index k = 0; k < lines.size(); ++k) {
      const auto [from, to] = lines.at(k);
      const std::byte* first = chunk.data() + from * level.form.bytes;
      if (level.form.convert)
        level.form.convert(first, lines.length(), out + to * pixel);
      else
        std::memcpy(out + to * pixel, first, lines.length() * pixel);
    }
  }

  /// What a chunk that is not there stands for.
  static void fill(const Level& level, const Lines& lines, std::byte* out) {
    const auto whole = static_cast<std::uint32_t>(std::clamp(level.fill, 0.0, 4294967295.0));
    with_type(level.form.type, [&]<class T>(T) {
      const T value = std::is_same_v<T, float> ? static_cast<T>(level.fill) : static_cast<T>(whole);
      for (Index k = 0; k < lines.size(); ++k)
        for (Index i = lines.at(k).second; i < lines.at(k).second + lines.length(); ++i)
          std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    });
  }

  std::vector<Level> levels_;
};

/// The folders of the levels that the attributes name: within the volume.
std::vector<fs::path> folders_of(const fs::path& path, const json& data_sets) {
  std::vector<fs::path> folders;
  for (const json& one : data_sets) {
    const fs::path name = text_in(one, "path");
    const bool within = !name.empty() && name.is_relative() &&
                        std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
    require<FileError>(within, path.string(), ": its level \"", name.string(),
                       "\" is not within; the volume is damaged");
    folders.push_back(path / name);
  }
  require<FileError>(!folders.empty(), path.string(), ": .zattrs names no level; the volume is damaged");
  return folders;
}

/// The numbers of a transformation of a level, x first.
std::vector<double> transformation(const json& data_set, const char* type) {
  for (const json& one : list_in(data_set, "coordinateTransformations"))
    if (one.contains(type) && text_in(one, "type") == type) {
      std::vector<double> numbers = numbers_in(one, type);
      std::ranges::reverse(numbers);
      return numbers;
    }
  return {};
}

bool is_in_mm(const json& scale) {
  const json& axes = member(scale, "axes");
  return axes.is_array() &&
         std::ranges::all_of(axes, [](const json& axis) { return text_in(axis, "unit") == "millimeter"; });
}

/// What tandem says of its volume beside OME-Zarr.
void take_own(const json& own, VolumeSource& volume) {
  volume.min = number_in(own, "min"), volume.max = number_in(own, "max");
  if (const std::string unit = text_in(own, "unit"); !unit.empty()) volume.unit = unit;
  if (own.contains("recipe")) volume.recipe = own["recipe"].dump();
}

std::unique_ptr<VolumeSource> multiscale(const fs::path& path, const Root& root) {
  const json attributes = json_in(path / ".zattrs", root);
  const json& own = member(attributes, "tandem");
  const json& complete = member(own, "complete");
  require<FileError>(complete != false, path.string(), ": ", not_finished);
  const json& scales = list_in(attributes, "multiscales");
  const json& scale = scales.empty() ? scales : scales.front();
  const json& sets = member(scale, "datasets");
  require<FileError>(sets.is_array(), path.string(),
                     ": .zattrs has no multiscales; an OME-Zarr 0.4 is needed");
  std::vector<Level> levels;
  for (const fs::path& folder : folders_of(path, sets)) levels.push_back(level_in(folder, root));
  if (complete == true)
    for (Level& level : levels) require_chunks(level);
  auto volume = std::make_unique<ZarrSource>(std::move(levels));
  volume->where = path.string();
  const std::vector<double> pitch = transformation(sets.front(), "scale");
  std::vector<double> first = transformation(sets.front(), "translation");
  if (pitch.size() == 3) {
    if (first.size() != 3) first = {0, 0, 0};
    volume->place = place_from(volume->shape, pitch, first, is_in_mm(scale), path.string());
    volume->unit = volume->place->unit();
  }
  take_own(own, *volume);
  return volume;
}

}  // namespace

bool is_zarr(const fs::path& path) {
  std::error_code fault;
  if (in_lower_case(path.extension().string()) == ".zarr") return fs::is_directory(path, fault);
  constexpr std::array names{".zarray", ".zattrs", ".zgroup", "zarr.json"};
  return std::ranges::any_of(names, [&](const char* name) { return fs::exists(path / name, fault); });
}

std::unique_ptr<VolumeSource> open_zarr(const fs::path& path, bool any_external) {
  if (!is_zarr(path)) return nullptr;
  std::error_code fault;
  const Root root{any_external ? fs::path() : fs::canonical(path, fault)};
  require<FileError>(!fs::exists(path / "zarr.json", fault), path.string(),
                     ": is a Zarr 3; a Zarr 2, such as OME-Zarr 0.4, is needed");
  std::unique_ptr<VolumeSource> volume;
  if (fs::exists(path / ".zarray", fault))
    volume = std::make_unique<ZarrSource>(std::vector{level_in(path, root)});
  else
    volume = multiscale(path, root);
  volume->reconstruction = true;
  return volume;
}

}  // namespace tandem::io
