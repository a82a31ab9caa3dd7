#include "ome_zarr.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../files/json.hpp"
#include "../files/text.hpp"
#include "../hdf5/packing.hpp"
#include "volume_kind.hpp"

namespace tandem::io::zarr_text {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Bytes of names that are not UTF-8 are replaced.
std::string text_of(const ordered_json& all) {
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A number, without a point if it is whole.
ordered_json number(double value) {
  constexpr double exact = 1e15;
  const bool is_whole = std::abs(value) < exact && value == std::floor(value);
  return is_whole ? ordered_json(floor_index(value)) : ordered_json(value);
}

/// What a text of the caller says; null if it is no JSON.
ordered_json said(const std::string& text) {
  const json all = json_of(text);
  return all.is_discarded() ? ordered_json() : ordered_json(all);
}

const char* zarr_type(VoxelType type) {
  return type == VoxelType::uint8     ? "|u1"
         : type == VoxelType::uint16  ? "<u2"
         : type == VoxelType::float16 ? "<f2"
                                      : "<f4";
}

/// The packing of packing.hpp in the words of numcodecs.
ordered_json compressor(Compression compression) {
  if (compression == Compression::zstd) return {{"id", "zstd"}, {"level", 1}};
  if (compression == Compression::blosc)
    return {{"id", "blosc"}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", 2}, {"blocksize", 0}};
  return {};
}

/// A codec, or another part of Zarr 3 that has a name and settings.
ordered_json codec(const char* name, const ordered_json& settings) {
  return {{"name", name}, {"configuration", settings}};
}

/// What is done to a chunk in Zarr 3. Blosc shuffles its bytes, which a filter does in Zarr 2.
ordered_json codecs(const VolumeFormat& format) {
  ordered_json all = ordered_json::array({codec("bytes", {{"endian", "little"}})});
  if (format.compression == Compression::none) return all;
  const BloscCodec blosc = blosc_codec(format.compression);
  all.push_back(codec("blosc", {{"cname", blosc.packer},
                                {"clevel", blosc.level},
                                {"shuffle", blosc.shuffles_bits ? "bitshuffle" : "shuffle"},
                                {"typesize", bytes_of(number_type(format.type))},
                                {"blocksize", 0}}));
  return all;
}

ordered_json filters(const VolumeFormat& format) {
  if (format.compression != Compression::zstd) return {};
  return ordered_json::array({{{"id", "shuffle"}, {"elementsize", bytes_of(number_type(format.type))}}});
}

/// Scale and place of a level, in the order (z, y, x). Without a place, the width of a voxel is 1.
ordered_json transformations(std::size_t level, const VolumeFormat& format) {
  const double factor = std::exp2(level);
  ordered_json scale, first;
  for (const std::size_t axis : {2, 1, 0}) {
    double pitch = 1, at = 0;
    if (format.place) {
      const VolumeGrid& g = format.place->grid;
      pitch = g.pitch[axis];
      at = axis == 0 ? g.x(0) : axis == 1 ? g.y(0) : g.z(0);
    }
    scale.push_back(number(factor * pitch));
    first.push_back(number(at + 0.5 * (factor - 1) * pitch));
  }
  return ordered_json::array({{{"type", "scale"}, {"scale", scale}},  //
                              {{"type", "translation"}, {"translation", first}}});
}

ordered_json about(const VolumeFormat& format, const std::string& recipe_json,
                   const std::string& report_json) {
  ordered_json all = {{"command", "recon"}, {"version", TANDEM_VERSION}, {"complete", true}};
  all["unit"] = format.unit();
  if (is_integer(format.type)) all["min"] = number(format.min), all["max"] = number(format.max);
  ordered_json scan = ordered_json::object();
  for (const auto& [name, value] : format.origin.texts()) scan[name] = value;
  if (format.origin.energy_kev) scan["energy_kev"] = number(*format.origin.energy_kev);
  all["scan"] = scan, all["recipe"] = said(recipe_json), all["report"] = said(report_json);
  return all;
}

/// The text "zarr.json" of a group.
std::string group(const ordered_json& attributes) {
  return text_of({{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}});
}

/// The attributes in a ".zattrs", or in a "zarr.json".
const json& attributes_of(const json& all) {
  return member(all, "zarr_format").is_null() ? all : member(all, "attributes");
}

}  // namespace

std::string array(const Shape& file, const Shape& n, const VolumeFormat& format) {
  const Shape slice{1, n[1], n[2]};
  if (format.zarr == 2)
    return text_of({{"zarr_format", 2},
                    {"shape", n},
                    {"chunks", slice},
                    {"dtype", zarr_type(format.type)},
                    {"fill_value", 0},
                    {"order", "C"},
                    {"compressor", compressor(format.compression)},
                    {"filters", filters(format)},
                    {"dimension_separator", "/"}});
  const ordered_json sum = {{"name", "crc32c"}};
  const ordered_json shard =
      codec("sharding_indexed", {{"chunk_shape", slice},
                                 {"codecs", codecs(format)},
                                 {"index_codecs", {codec("bytes", {{"endian", "little"}}), sum}},
                                 {"index_location", "end"}});
  return text_of({{"zarr_format", 3},
                  {"node_type", "array"},
                  {"shape", n},
                  {"data_type", name_of(format.type)},
                  {"chunk_grid", codec("regular", {{"chunk_shape", file}})},
                  {"chunk_key_encoding", codec("default", {{"separator", "/"}})},
                  {"fill_value", 0},
                  {"codecs", ordered_json::array({shard})},
                  {"attributes", ordered_json::object()},
                  {"dimension_names", {"z", "y", "x"}}});
}

std::string dimensions(std::size_t level) {
  const std::string of_level = level == 0 ? "" : std::to_string(level);
  return text_of({{"_ARRAY_DIMENSIONS", {"z" + of_level, "y" + of_level, "x" + of_level}}});
}

std::string attributes(const std::string& name, const std::vector<Shape>& levels, const VolumeFormat& format,
                       const std::string& recipe_json, const std::string& report_json) {
  ordered_json axes, data_sets;
  for (const char* axis : {"z", "y", "x"}) {
    axes.push_back({{"name", axis}, {"type", "space"}});
    if (format.place && format.place->in_mm) axes.back()["unit"] = "millimeter";
  }
  for (std::size_t level = 0; level < levels.size(); ++level)
    data_sets.push_back(
        {{"path", std::to_string(level)}, {"coordinateTransformations", transformations(level, format)}});
  ordered_json scales = ordered_json::object();
  if (format.zarr == 2) scales["version"] = "0.4";
  scales["name"] = name, scales["axes"] = axes, scales["datasets"] = data_sets, scales["type"] = "mean";
  const ordered_json own = about(format, recipe_json, report_json);
  if (format.zarr == 3)
    return group(
        {{"ome", {{"version", "0.5"}, {"multiscales", ordered_json::array({scales})}}}, {"tandem", own}});
  return text_of({{"multiscales", ordered_json::array({scales})}, {"tandem", own}});
}

std::string with_attributes_of(const std::string& older, const std::string& text) {
  ordered_json all = ordered_json::parse(text);
  const bool is_new = all.contains("zarr_format");
  ordered_json& to = is_new ? all["attributes"] : all;
  const json before = json_of(older);
  const auto keep = [&](const json& from, const char* but) {
    if (!from.is_object()) return;
    for (const auto& [name, value] : from.items()) {
      ordered_json& place = is_new && name == "omero" ? to["ome"] : to;
      if (!is_among(name, but) && !place.contains(name)) place[name] = value;
    }
  };
  const json& from = attributes_of(before);
  keep(from, "ome multiscales _ARRAY_DIMENSIONS");
  keep(member(from, "ome"), "version multiscales");
  return text_of(all);
}

std::string unfinished(const VolumeFormat& format) {
  const ordered_json own = {{"command", "recon"}, {"version", TANDEM_VERSION}, {"complete", false}};
  return format.zarr == 3 ? group({{"tandem", own}}) : text_of({{"tandem", own}});
}

bool is_own(const std::string& text) {
  return member(member(attributes_of(json_of(text)), "tandem"), "command") == "recon";
}

}  // namespace tandem::io::zarr_text
