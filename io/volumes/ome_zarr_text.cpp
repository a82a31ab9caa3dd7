#include "ome_zarr.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "../../core/version.hpp"
#include "../files/json.hpp"
#include "../files/text.hpp"

namespace tandem::io::zarr_text {

namespace {

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    std::array<char, 8> code{};
    if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      all += code.data();
      continue;
    }
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + '"';
}

/// Adds an item to a list of JSON.
void add(std::string& items, const std::string& item) {
  if (!items.empty()) items += ',';
  items += item;
}

std::string list(const std::array<double, 3>& v) {
  return words('[', shortest(v[0]), ',', shortest(v[1]), ',', shortest(v[2]), ']');
}

const char* zarr_type(VoxelType type) {
  return type == VoxelType::uint8     ? "|u1"
         : type == VoxelType::uint16  ? "<u2"
         : type == VoxelType::float16 ? "<f2"
                                      : "<f4";
}

/// The packing of packing.hpp in the words of numcodecs.
std::string codecs(const VolumeFormat& format) {
  if (format.compression == Compression::zstd)
    return words(R"("compressor":{"id":"zstd","level":1},"filters":[{"id":"shuffle","elementsize":)",
                 bytes_of(number_type(format.type)), "}]");
  if (format.compression == Compression::blosc)
    return R"("compressor":{"id":"blosc","cname":"lz4","clevel":5,"shuffle":2,"blocksize":0},"filters":null)";
  return R"("compressor":null,"filters":null)";
}

/// Scale and place of a level, in the order (z, y, x). Without a place, the width of a voxel is 1.
std::string transformations(std::size_t level, const VolumeFormat& format) {
  const double factor = std::exp2(level);
  std::array<double, 3> scale{factor, factor, factor}, first{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t axis = 2 - i;
    double pitch = 1, at = 0;
    if (format.place) {
      const VolumeGrid& g = format.place->grid;
      pitch = g.pitch[axis];
      at = axis == 0 ? g.x(0) : axis == 1 ? g.y(0) : g.z(0);
    }
    scale[i] = factor * pitch;
    first[i] = at + 0.5 * (factor - 1) * pitch;
  }
  return words(R"([{"type":"scale","scale":)", list(scale), R"(},{"type":"translation","translation":)",
               list(first), "}]");
}

std::string origin_text(const ScanOrigin& origin) {
  std::string items;
  for (const auto& [name, value] : origin.texts()) add(items, words(quoted(name), ':', quoted(value)));
  if (origin.energy_kev) add(items, words("\"energy_kev\":", shortest(*origin.energy_kev)));
  return words('{', items, '}');
}

std::string about(const VolumeFormat& format, const std::string& recipe_json,
                  const std::string& report_json) {
  std::string range;
  if (is_integer(format.type))
    range = words(R"("min":)", shortest<double>(format.min), R"(,"max":)", shortest<double>(format.max), ',');
  return words(mark, R"(,"version":")", TANDEM_VERSION, R"(","complete":true,"unit":)", quoted(format.unit()),
               ',', range, R"("scan":)", origin_text(format.origin), R"(,"recipe":)", recipe_json,
               R"(,"report":)", report_json, '}');
}

}  // namespace

std::string array(Shape n, const VolumeFormat& format) {
  const std::string area = words(n[1], ',', n[2], ']');
  return words(R"({"zarr_format":2,"shape":[)", n[0], ',', area, R"(,"chunks":[1,)", area, R"(,"dtype":")",
               zarr_type(format.type), R"(","fill_value":0,"order":"C",)", codecs(format),
               R"(,"dimension_separator":"/"})");
}

std::string dimensions(std::size_t level) {
  const std::string of_level = level == 0 ? "" : std::to_string(level);
  std::string names;
  for (const char* axis : {"z", "y", "x"}) add(names, words('"', axis, of_level, '"'));
  return words(R"({"_ARRAY_DIMENSIONS":[)", names, "]}");
}

std::string attributes(const std::string& name, const std::vector<Shape>& levels, const VolumeFormat& format,
                       const std::string& recipe_json, const std::string& report_json) {
  const char* unit = format.place && format.place->in_mm ? R"(,"unit":"millimeter")" : "";
  std::string axes, datasets;
  for (const char* axis : {"z", "y", "x"})
    add(axes, words(R"({"name":")", axis, R"(","type":"space")", unit, '}'));
  for (std::size_t level = 0; level < levels.size(); ++level)
    add(datasets, words(R"({"path":")", level, R"(","coordinateTransformations":)",
                        transformations(level, format), '}'));
  return words(R"({"multiscales":[{"version":"0.4","name":)", quoted(name), R"(,"axes":[)", axes,
               R"(],"datasets":[)", datasets, R"(],"type":"mean"}],)",
               about(format, recipe_json, report_json), '}');
}

std::string with_attributes_of(const std::string& older, std::string text) {
  const std::optional<Json> was = Json::of(older), is = Json::of(text);
  for (std::size_t k = 0; was && is && k < was->names().size(); ++k) {
    const std::string& name = was->names()[k];
    if (name == "multiscales" || is->find(name)) continue;
    const Range value = was->items()[k].place();
    text.back() = ',';  // in the place of the last brace
    text += words(quoted(name), ':', older.substr(value.first, value.size()), '}');
  }
  return text;
}

std::string unfinished() {
  return words('{', mark, R"(,"version":")", TANDEM_VERSION, R"(","complete":false}})");
}

}  // namespace tandem::io::zarr_text
