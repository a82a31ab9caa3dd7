#include "ome_zarr_level.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../files/checksum.hpp"
#include "../files/json.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double longest_axis = 1e9, largest_chunk = 1U << 31;  // voxels; bytes
constexpr double most_chunks = 1U << 22;                        // chunks of a shard
constexpr Index longest_metadata = Index{16} << 20;             // bytes
constexpr Index checksum_bytes = sizeof(std::uint32_t), place_bytes = 2 * sizeof(std::uint64_t);

double product(const Shape& n) { return 1.0 * n[0] * n[1] * n[2]; }

Shape shape_in(const json& all, const char* name, const fs::path& path) {
  const std::vector<double> n = numbers_at(all, name);
  const bool fits = n.size() == 3 && std::ranges::all_of(n, [](double v) {
                      return v >= 1 && v <= longest_axis && v == std::floor(v);
                    });
  require<FileError>(fits, path.string(), ": ", name,
                     " is not three whole numbers above 0; an array with the axes z, y, x is needed");
  return {floor_index(n[0]), floor_index(n[1]), floor_index(n[2])};
}

/// The type "<f4" of Zarr 2, or "float32" of Zarr 3.
void set_form(ZarrLevel& level, const std::string& type, bool high_first, const fs::path& path) {
  constexpr std::string_view letters = "uif";
  constexpr std::array names{"uint", "int", "float"};
  constexpr std::array kinds{NumberKind::natural, NumberKind::integer, NumberKind::real};
  std::optional<NumberForm> form;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const bool is_old = type.size() == 3 && std::string_view("<>|").find(type[0]) != std::string::npos &&
                        type[1] == letters[k] && type[2] >= '1' && type[2] <= '8';
    const Index bytes = is_old ? type[2] - '0' : 0;
    if (is_old) form = number_form(kinds[k], bytes, type[0] == '>' && bytes > 1);
    for (const Index width : {1, 2, 4, 8})
      if (type == names[k] + std::to_string(8 * width))
        form = number_form(kinds[k], width, high_first && width > 1);
  }
  require<FileError>(form.has_value(), path.string(), ": dtype \"", type,
                     "\"; integers or floats of up to 8 bytes are needed");
  level.form = *form;
}

/// Takes what was done to a chunk: a codec of Zarr 3, or a filter or the compressor of Zarr 2, in this order.
void take_packing(ZarrLevel& level, std::string name, const json& settings, const fs::path& path) {
  if (name.starts_with("numcodecs.")) name = name.substr(name.find('.') + 1);
  const bool is_last = !level.packer.empty() || level.has_checksum;
  if (name == "shuffle" && !is_last && !level.shuffled && member(settings, "elementsize") == level.form.bytes)
    level.shuffled = true;
  else if (is_among(name, "zstd blosc zlib gzip") && !is_last)
    level.packer = name;
  else if (name == "crc32c" && !level.has_checksum)
    level.has_checksum = true;
  else
    require<FileError>(false, path.string(), ": chunks are packed by ", name,
                       "; zstd, blosc, gzip or zlib is needed, or none");
}

/// The number that fills chunks that are not there.
double fill_of(const json& all, const fs::path& path) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr const char* name = "fill_value";
  if (const std::optional<double> number = number_at(all, name)) return *number;
  const std::string text = text_at(all, name);
  require<FileError>(text.empty() || is_among(text, "NaN Infinity -Infinity"), path.string(),
                     ": fill_value \"", text, "\" is no number");
  return text.empty()          ? 0
         : text == "NaN"       ? std::numeric_limits<double>::quiet_NaN()
         : text.front() == '-' ? -infinite
                               : infinite;
}

void take_zarr_2(ZarrLevel& level, const json& all, const fs::path& path) {
  level.chunk = shape_in(all, "chunks", path);
  set_form(level, text_at(all, "dtype"), false, path);
  require<FileError>(text_at(all, "order") != "F", path.string(), ": order \"F\"; \"C\" is needed");
  for (const json& filter : list_at(all, "filters")) take_packing(level, text_at(filter, "id"), filter, path);
  if (const json& packer = member(all, "compressor"); packer.is_object())
    take_packing(level, text_at(packer, "id"), packer, path);
  if (text_at(all, "dimension_separator") == "/") level.separator = '/';
}

/// The settings of an extension point of Zarr 3. @throws FileError unless it has this name
const json& settings_of(const json& point, const std::string& name, const fs::path& path) {
  const std::string has = point.is_string() ? point.get<std::string>() : text_at(point, "name");
  require<FileError>(has == name, path.string(), ": has \"", has, "\" where \"", name, "\" is needed");
  return member(point, "configuration");
}

/// Takes the codecs of a chunk: "bytes", and then what packs them.
void take_codecs(ZarrLevel& level, const json& codecs, const std::string& type, const fs::path& path) {
  const json first = codecs.empty() ? json() : codecs.front();
  set_form(level, type, text_at(settings_of(first, "bytes", path), "endian") == "big", path);
  for (std::size_t k = 1; k < codecs.size(); ++k)
    take_packing(level, text_at(codecs[k], "name"), member(codecs[k], "configuration"), path);
}

/// Takes a shard, whose shape is that of the chunks so far, and its index.
void take_shard(ZarrLevel& level, const json& shard, const fs::path& path) {
  const Shape whole = level.chunk;
  level.is_sharded = true;
  level.chunk = shape_in(shard, "chunk_shape", path);
  for (std::size_t axis = 0; axis < 3; ++axis) level.per_file[axis] = whole[axis] / level.chunk[axis];
  for (std::size_t axis = 0; axis < 3; ++axis)
    require<FileError>(whole[axis] % level.chunk[axis] == 0, path.string(), ": a shard has ", whole[axis],
                       " voxels along ", "zyx"[axis], ", which are not whole chunks of ", level.chunk[axis]);
  require<FileError>(product(level.per_file) <= most_chunks, path.string(), ": a shard has ",
                     product(level.per_file), " chunks; ", most_chunks, " at most are read");
  level.index_is_first = text_at(shard, "index_location") == "start";
  ZarrLevel index;  // its numbers may have a checksum, and no packing
  take_codecs(index, list_at(shard, "index_codecs"), "uint64", path);
  require<FileError>(index.packer.empty() && !index.shuffled, path.string(),
                     ": the index of its shards is packed; it must not be");
  require<FileError>(index.form.convert == number_form(NumberKind::natural, 8, false)->convert, path.string(),
                     ": the index of its shards is not little-endian");
  level.index_has_checksum = index.has_checksum;
}

void take_zarr_3(ZarrLevel& level, const json& all, const fs::path& path) {
  const std::string type = text_at(all, "data_type");
  level.chunk = shape_in(settings_of(member(all, "chunk_grid"), "regular", path), "chunk_shape", path);
  require<FileError>(list_at(all, "storage_transformers").empty(), path.string(),
                     ": has storage transformers, which are not read");
  const json& key = member(all, "chunk_key_encoding");
  const bool is_old = text_at(key, "name") == "v2";
  const std::string separator = text_at(settings_of(key, is_old ? "v2" : "default", path), "separator");
  level.separator = separator == "." || (separator.empty() && is_old) ? '.' : '/';
  if (!is_old) level.prefix = std::string("c") + level.separator;
  const json& codecs = list_at(all, "codecs");
  if (codecs.size() != 1 || text_at(codecs.front(), "name") != "sharding_indexed")
    return take_codecs(level, codecs, type, path);
  const json& shard = member(codecs.front(), "configuration");
  take_shard(level, shard, path);
  take_codecs(level, list_at(shard, "codecs"), type, path);
}

/// The file of a chunk.
fs::path file_of(const ZarrLevel& level, const Shape& chunk) {
  std::string name = level.prefix;
  for (const std::size_t axis : {0, 1, 2}) {
    if (axis > 0) name += level.separator;
    name += std::to_string(chunk[axis] / level.per_file[axis]);
  }
  return level.folder / name;
}

/// @throws FileError unless a chunk can have this number of bytes
void require_chunk_bytes(const ZarrLevel& level, Index bytes, const fs::path& path) {
  const Index due = level.chunk_bytes() + (level.has_checksum ? checksum_bytes : 0);
  const char* subject = level.is_sharded ? ": a chunk has " : ": has ";
  require<FileError>(!level.packer.empty() || bytes == due, path.string(), subject, bytes, " bytes, not ",
                     due, "; the file is damaged");
  require<FileError>(bytes <= 2 * due + (1 << 16), path.string(), subject, bytes, " bytes, more than ", due,
                     " take; the file is damaged");
}

/// Requires chunks that lie in the range of bytes and do not overlap.
void require_apart(std::vector<Range> chunks, Range within, const fs::path& path) {
  std::ranges::sort(chunks, {}, &Range::first);
  Index end = within.first;
  for (const Range& chunk : chunks) {
    require<FileError>(end <= chunk.first && chunk.last <= within.last, path.string(),
                       ": its index names bytes ", chunk.first, ":", chunk.last, ", where ", end, ":",
                       within.last, " are free; the file is damaged");
    end = chunk.last;
  }
}

/// Reads the index of a shard: offset and size of each chunk.
std::vector<std::optional<Extent>> index_of(const ZarrLevel& level, const InputFile& file, Index bytes,
                                            const fs::path& path) {
  const Index count = floor_index(product(level.per_file));
  const Index own = count * place_bytes + (level.index_has_checksum ? checksum_bytes : 0);
  require<FileError>(own <= bytes, path.string(), ": has ", bytes, " bytes, fewer than the ", own,
                     " of its index; the file is damaged");
  std::vector<std::byte> index(own);
  const Index at = level.index_is_first ? 0 : bytes - own;
  file.read(at, own, index.data());
  require<FileError>(!level.index_has_checksum || has_crc32c(index), path.string(),
                     ": its index does not have the checksum that it was written with; the file is damaged");
  std::vector<std::optional<Extent>> chunks(count);
  std::vector<Range> ranges;
  for (Index k = 0; k < count; ++k) {
    std::array<std::uint64_t, 2> entry{};
    std::memcpy(entry.data(), index.data() + k * place_bytes, place_bytes);
    if (entry[0] == ~std::uint64_t{0} && entry[1] == entry[0]) continue;
    const auto most = static_cast<std::uint64_t>(bytes);
    require<FileError>(entry[0] <= most && entry[1] <= most - entry[0], path.string(), ": its index names ",
                       entry[1], " bytes at ", entry[0], " of ", bytes, "; the file is damaged");
    const auto first = static_cast<Index>(entry[0]), size = static_cast<Index>(entry[1]);
    require_chunk_bytes(level, size, path);
    chunks[k] = Extent{0, first, size};
    ranges.push_back({first, first + size});
  }
  const Range free = level.index_is_first ? Range{own, bytes} : Range{0, at};
  require_apart(std::move(ranges), free, path);
  return chunks;
}

}  // namespace

void ZarrRoot::require_within(const fs::path& file) const {
  require<FileError>(folder.empty() || lies_within(file, folder), file.string(),
                     ": leads out of the folder of its volume; put the file there, or give " +
                         spelled("allow-external-files") + " if you trust the volume");
}

json ZarrRoot::json_in(const fs::path& path) const {
  require_within(path);
  json all = json_of(text_of_regular_file(path, "a text of Zarr", longest_metadata));
  require<FileError>(!all.is_discarded(), path.string(), ": is not JSON; the file is damaged");
  return all;
}

bool is_zarr_3(const fs::path& folder) {
  std::error_code fault;
  return fs::exists(folder / "zarr.json", fault);
}

ZarrLevel zarr_level(const fs::path& folder, const ZarrRoot& root) {
  const bool is_new = is_zarr_3(folder);
  const fs::path path = folder / (is_new ? "zarr.json" : ".zarray");
  const json all = root.json_in(path);
  ZarrLevel level;
  level.folder = folder, level.root = root;
  level.shape = shape_in(all, "shape", path);
  (is_new ? take_zarr_3 : take_zarr_2)(level, all, path);
  const double bytes = product(level.chunk) * level.form.bytes;
  require<FileError>(bytes <= largest_chunk, path.string(), ": a chunk has ", bytes,
                     " bytes; 2 GiB at most are read");
  level.fill = fill_of(all, path);
  return level;
}

ZarrFile open_zarr_file(const ZarrLevel& level, const Shape& chunk) {
  ZarrFile made{file_of(level, chunk), {}, {}};
  const fs::path& path = made.path;
  std::error_code fault;
  const bool is_missing = fs::symlink_status(path, fault).type() == fs::file_type::not_found &&
                          fault == std::errc::no_such_file_or_directory;
  require<FileError>(!is_missing || !level.is_whole, path.string(),
                     ": is missing, although tandem wrote all chunks; the volume is damaged, make it again");
  if (is_missing) return made;
  level.root.require_within(path);
  require_regular_file(path);
  const Index bytes = fs::file_size(path);
  made.file.emplace_back(path, path.string());
  if (level.is_sharded) {
    made.chunks = index_of(level, made.file[0], bytes, path);
  } else {
    require_chunk_bytes(level, bytes, path);
    made.chunks.emplace_back(Extent{0, 0, bytes});
  }
  return made;
}

void require_zarr_chunks(ZarrLevel& level) {
  const Index slices = level.per_file[0];
  level.is_whole = level.separator == '/' && level.chunk == Shape{1, level.shape[1], level.shape[2]} &&
                   level.per_file == Shape{slices, 1, 1};
  if (!level.is_whole) return;  // another program has stored it anew
  parallel_for(ceil_div(level.shape[0], slices), [&](Index k) {
    const ZarrFile file = open_zarr_file(level, {k * slices, 0, 0});
    const Index due = std::min(slices, level.shape[0] - k * slices);
    require<FileError>(std::all_of(file.chunks.begin(), file.chunks.begin() + due,
                                   [](const auto& chunk) { return chunk.has_value(); }),
                       file.path.string(),
                       ": lacks a slice, although tandem wrote all; the volume is damaged, make it again");
  });
}

}  // namespace tandem::io
