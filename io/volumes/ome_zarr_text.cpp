#include "ome_zarr.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../files/json.hpp"

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

}  // namespace

std::string array(Shape n, const VolumeFormat& format) {
  return text_of({{"zarr_format", 2},
                  {"shape", n},
                  {"chunks", {1, n[1], n[2]}},
                  {"dtype", zarr_type(format.type)},
                  {"fill_value", 0},
                  {"order", "C"},
                  {"compressor", compressor(format.compression)},
                  {"filters", filters(format)},
                  {"dimension_separator", "/"}});
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
  const ordered_json scales = {
      {"version", "0.4"}, {"name", name}, {"axes", axes}, {"datasets", data_sets}, {"type", "mean"}};
  return text_of(
      {{"multiscales", ordered_json::array({scales})}, {"tandem", about(format, recipe_json, report_json)}});
}

std::string with_attributes_of(const std::string& older, std::string text) {
  json kept = json_of(older);
  if (!kept.is_object()) return text;
  const json newer = json_of(text);
  kept.erase("multiscales");
  for (const auto& [name, value] : newer.items()) kept.erase(name);
  if (kept.empty()) return text;
  text.back() = ',';  // in the place of the last brace
  return text + kept.dump().substr(1);
}

std::string unfinished() {
  return text_of({{"tandem", {{"command", "recon"}, {"version", TANDEM_VERSION}, {"complete", false}}}});
}

bool is_own(const std::string& text) { return member(member(json_of(text), "tandem"), "command") == "recon"; }

}  // namespace tandem::io::zarr_text
