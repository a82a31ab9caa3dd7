// Volumes in Zarr are read: chunk by chunk, and of chunks that are not packed the lines that are wanted.

#include "ome_zarr.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../files/checksum.hpp"
#include "../files/json.hpp"
#include "../files/stored_lines.hpp"
#include "../files/text.hpp"
#include "../hdf5/chunk_filters.hpp"
#include "../hdf5/packing.hpp"
#include "flat_source.hpp"
#include "ome_zarr_level.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class ZarrSource final : public VolumeSource {
 public:
  explicit ZarrSource(std::vector<ZarrLevel> levels) : levels_(std::move(levels)) {
    const ZarrLevel& first = levels_.front();
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
    for (const ZarrLevel& level : levels_)
      if (!level.is_plain()) bytes = std::max<std::size_t>(bytes, level.chunk_bytes());
    return copies * bytes * thread_count();
  }

  void read_part(std::size_t number, Index slice, Range y, Range x, std::byte* out) const override {
    const ZarrLevel& level = levels_[number];
    const Shape &c = level.chunk, &n = level.per_file;
    std::map<std::pair<Index, Index>, ZarrFile> files;
    for (Index cy = y.first / c[1]; cy * c[1] < y.last; ++cy)
      for (Index cx = x.first / c[2]; cx * c[2] < x.last; ++cx) {
        const Range rows{std::max(y.first, cy * c[1]), std::min(y.last, (cy + 1) * c[1])};
        const Range columns{std::max(x.first, cx * c[2]), std::min(x.last, (cx + 1) * c[2])};
        const std::array<Index, 3> part{1, rows.size(), columns.size()};
        const std::array<Index, 3> first{slice % c[0], rows.first % c[1], columns.first % c[2]};
        const std::array<Index, 3> corner{0, rows.first - y.first, columns.first - x.first};
        const std::array<Index, 3> whole{1, y.size(), x.size()};
        const Shape at{slice / c[0], cy, cx};
        ZarrFile& file = files[{cy / n[1], cx / n[2]}];
        if (file.path.empty()) file = open_zarr_file(level, at);
        const Index k = (at[0] % n[0] * n[1] + at[1] % n[1]) * n[2] + at[2] % n[2];
        read_chunk(level, file, k, Lines(part, {c, first}, {whole, corner}), out);
        if (!level.is_sharded) files.clear();
      }
  }

 private:
  static void read_chunk(const ZarrLevel& level, const ZarrFile& from, Index chunk, const Lines& lines,
                         std::byte* out) {
    const std::optional<Extent> place = from.file.empty() ? std::nullopt : from.chunks[chunk];
    if (!place) return fill(level, lines, out);
    if (level.is_plain()) return read_lines({from.file, {&*place, 1}}, level.form, lines, out);
    std::vector<std::byte> packed(place->bytes);
    from.file[0].read(place->offset, place->bytes, packed.data());
    copy(level, unpacked_chunk(level, packed, from.path), lines, out);
  }

  static std::vector<std::byte> unpacked_chunk(const ZarrLevel& level, std::vector<std::byte>& packed,
                                               const fs::path& path) {
    if (level.has_checksum) {
      require<FileError>(has_crc32c(packed), path.string(),
                         ": a chunk does not have the checksum that it was written with; it is damaged");
      packed.resize(packed.size() - sizeof(std::uint32_t));
    }
    std::vector<std::byte> made(level.chunk_bytes());
    if (level.packer.empty()) made.swap(packed);
    const bool done = level.packer.empty()      ? true
                      : level.packer == "zlib"  ? chunk_filter(1)->undo(packed, {}, made) == made.size()
                      : level.packer == "gzip"  ? unpack_gzip(packed, made)
                      : level.packer == "blosc" ? unpack_blosc(packed, made)
                                                : unpack_zstd(packed, made);
    require<FileError>(done, path.string(), ": cannot be unpacked; the file is damaged");
    if (!level.shuffled) return made;
    std::vector<std::byte> joined(made.size());
    const std::array<unsigned, 1> width{static_cast<unsigned>(level.form.bytes)};
    chunk_filter(2)->undo(made, width, joined);
    return joined;
  }

  static void copy(const ZarrLevel& level, const std::vector<std::byte>& chunk, const Lines& lines,
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
  static void fill(const ZarrLevel& level, const Lines& lines, std::byte* out) {
    const auto whole = static_cast<std::uint32_t>(std::clamp(level.fill, 0.0, 4294967295.0));
    with_type(level.form.type, [&]<class T>(T) {
      const T value = std::is_same_v<T, float> ? static_cast<T>(level.fill) : static_cast<T>(whole);
      for (Index k = 0; k < lines.size(); ++k)
        for (Index i = lines.at(k).second; i < lines.at(k).second + lines.length(); ++i)
          std::memcpy(out + i * sizeof(T), &value, sizeof(T));
    });
  }

  std::vector<ZarrLevel> levels_;
};

/// The folders of the levels that the attributes name: within the volume.
std::vector<fs::path> folders_of(const fs::path& path, const json& data_sets) {
  std::vector<fs::path> folders;
  for (const json& one : data_sets) {
    const fs::path name = text_at(one, "path");
    const bool within = !name.empty() && name.is_relative() &&
                        std::ranges::none_of(name, [](const fs::path& part) { return part == ".."; });
    require<FileError>(within, path.string(), ": its level \"", name.string(),
                       "\" is not within; the volume is damaged");
    folders.push_back(path / name);
  }
  require<FileError>(!folders.empty(), path.string(), ": names no level; the volume is damaged");
  return folders;
}

/// The numbers of a transformation of a level, x first.
std::vector<double> transformation(const json& data_set, const char* type) {
  for (const json& one : list_at(data_set, "coordinateTransformations"))
    if (one.contains(type) && text_at(one, "type") == type) {
      std::vector<double> numbers = numbers_at(one, type);
      std::ranges::reverse(numbers);
      return numbers;
    }
  return {};
}

bool is_in_mm(const json& scale) {
  const json& axes = member(scale, "axes");
  return axes.is_array() &&
         std::ranges::all_of(axes, [](const json& axis) { return text_at(axis, "unit") == "millimeter"; });
}

/// What tandem says of its volume beside OME-Zarr.
void take_own(const json& own, VolumeSource& volume) {
  volume.min = number_at(own, "min"), volume.max = number_at(own, "max");
  if (const std::string unit = text_at(own, "unit"); !unit.empty()) volume.unit = unit;
  if (own.contains("recipe")) volume.recipe = own["recipe"].dump();
}

std::unique_ptr<VolumeSource> multiscale(const fs::path& path, const json& attributes, const ZarrRoot& root) {
  const json& own = member(attributes, "tandem");
  const json& complete = member(own, "complete");
  require<FileError>(complete != false, path.string(), ": ", not_finished);
  const json& ome = member(attributes, "ome");  // in Zarr 3
  const json& scales = list_at(ome.is_null() ? attributes : ome, "multiscales");
  const json& scale = scales.empty() ? scales : scales.front();
  const json& sets = member(scale, "datasets");
  require<FileError>(sets.is_array(), path.string(),
                     ": has no multiscales; an OME-Zarr 0.4 or 0.5 is needed");
  std::vector<ZarrLevel> levels;
  for (const fs::path& folder : folders_of(path, sets)) levels.push_back(zarr_level(folder, root));
  if (complete == true)
    for (ZarrLevel& level : levels) require_zarr_chunks(level);
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
  const ZarrRoot root{any_external ? fs::path() : fs::canonical(path, fault)};
  const std::string name = is_zarr_3(path)                       ? "zarr.json"
                           : fs::exists(path / ".zarray", fault) ? ".zarray"
                                                                 : ".zattrs";
  const json all = root.json_in(path / name);
  std::unique_ptr<VolumeSource> volume;
  if (name == ".zarray" || text_at(all, "node_type") == "array")
    volume = std::make_unique<ZarrSource>(std::vector{zarr_level(path, root)});
  else
    volume = multiscale(path, name == "zarr.json" ? member(all, "attributes") : all, root);
  volume->reconstruction = true;
  return volume;
}

}  // namespace tandem::io
