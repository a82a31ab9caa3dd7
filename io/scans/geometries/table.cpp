#include <algorithm>
#include <array>

#include "../../../core/error.hpp"
#include "../../files/input_file.hpp"
#include "../../files/text.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

extern const GeometryFormat astra_arrays, astra_text, rtk_geometry, leap_geometry;

std::span<const GeometryFormat> geometry_formats() {
  static const std::array all{rtk_geometry, leap_geometry, astra_arrays, astra_text};
  return all;
}

std::string geometry_files() {
  std::vector<std::string> files;
  for (const GeometryFormat& format : geometry_formats())
    files.push_back(std::string(format.files) + " of " + std::string(format.name));
  return alternatives(files);
}

GeometryName geometry_named(const std::string& text) {
  for (const auto& [ending, parallel] : {std::pair{":parallel", true}, {":cone", false}})
    if (text.ends_with(ending) && text != ending)  // ":cone" alone is a name
      return {text.substr(0, text.size() - std::string_view(ending).size()), parallel};
  return {text};
}

ViewGeometry read_geometry_file(const GeometryName& name) {
  const std::filesystem::path& path = name.path;
  require_regular_file(path);
  const auto all = geometry_formats();
  const auto format =
      std::ranges::find_if(all, [&](const GeometryFormat& each) { return each.recognises(path); });
  require<FileError>(format != all.end(), path.string(), ": is no list of views; a file ", geometry_files(),
                     " is needed");
  ViewGeometry found = format->read(path);
  require<FileError>(!found.views.empty(), path.string(), ": has no views; at least 1 is needed");
  decide_rays(found, name.parallel);
  return found;
}

std::string geometry_text(const std::filesystem::path& path, const Scan& scan) {
  const std::string ending = words("*", in_lower_case(path.extension().string()));
  for (const GeometryFormat& format : geometry_formats()) {
    const std::string_view files = format.files;
    const std::size_t at = files.find(ending);
    const bool whole = at != std::string_view::npos && ending.size() > 1 &&
                       (at + ending.size() == files.size() || files[at + ending.size()] == ',');
    if (!whole) continue;
    require<GeometryError>(!is_curved(scan) || format.knows_curved, path.string(), ": ", format.name,
                           " has no curved detectors in such a file; give a name such as *.xml");
    return format.text(scan);
  }
  throw FileError(path.string() + ": the ending names no format; give a name such as " + geometry_files());
}

}  // namespace tandem::io
