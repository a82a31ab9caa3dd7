#include "report_page.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/names.hpp"
#include "../../pipeline/watch/live.hpp"
#include "../command.hpp"
#include "../runs/stage_words.hpp"
#include "page_text.hpp"
#include "preview.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

std::string base64(const std::string& bytes) {
  constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (at + k < bytes.size() ? static_cast<unsigned char>(bytes[at + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += at + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

json volume_json(const VolumeView& view) {
  std::vector<std::span<const float>> greys;
  for (const MiddlePlane& plane : view.planes) greys.emplace_back(plane.picture.grey);
  const auto [black, white] = joint_window(greys);
  json list = json::array();
  for (const MiddlePlane& plane : view.planes)
    list.push_back({{"axis", std::string(1, plane.axis)},
                    {"index", plane.index},
                    {"count", plane.count},
                    {"width", plane.width},
                    {"height", plane.height},
                    {"png", "data:image/png;base64," + base64(io::png_of(plane.picture, black, white))}});
  const Histogram& h = view.histogram;
  return {{"planes", list},
          {"black", black},
          {"white", white},
          {"unit", view.unit},
          {"histogram",
           {{"low", h.low},
            {"high", h.high},
            {"counts", h.counts},
            {"below", h.below},
            {"above", h.above},
            {"not_finite", h.not_finite},
            {"slices", h.slices}}}};
}

/// A histogram over the grey range of a slice, widened by half of it on both sides.
Histogram around(const std::vector<float>& slice) {
  constexpr std::size_t parts = 160;
  const auto [low, high] = joint_window({slice});
  const float margin = 0.5F * (high - low);
  return {low - margin, high + margin, std::vector<Index>(parts)};
}

void add(const std::vector<float>& slice, Histogram& to) {
  const float parts = to.counts.size();
  for (const float value : slice) {
    const float part = parts * (value - to.low) / (to.high - to.low);
    if (!std::isfinite(value))
      ++to.not_finite;
    else if (part < 0)
      ++to.below;
    else if (part >= parts)
      ++to.above;
    else
      ++row_of(to.counts, part);
  }
  ++to.slices;
}

}  // namespace

std::string with_data(const std::string& page, const std::vector<std::pair<std::string, json>>& data) {
  std::string text;
  std::size_t from = 0;
  for (const auto& [name, value] : data) {
    const std::string mark = "{{" + name + "}}";
    const std::size_t at = page.find(mark, from);
    text += page.substr(from, at - from);
    for (const char letter : text_of(value)) letter == '<' ? text += "\\u003c" : text += letter;
    from = at + mark.size();
  }
  return text + page.substr(from);
}

VolumeView view_of(io::VolumeReader& volume, ProgressLine& progress) {
  const auto [nz, ny, nx] = volume.shape();
  const auto place = volume.place();
  const std::array<double, 3> pitch = place ? place->grid.pitch : std::array<double, 3>{1, 1, 1};
  const auto length = [&](std::size_t axis, Index count) { return pitch[axis] * count; };
  std::vector<float> slice(nx * ny), along_y, along_x;
  volume.read({nz / 2, nz / 2 + 1}, slice.data());
  VolumeView view{{{'z', nz / 2, nz, pipeline::shrunk(slice, nx, ny), length(0, nx), length(1, ny)}},
                  around(slice),
                  volume.unit()};
  if (nz < fewest_slices) {
    add(slice, view.histogram);
    return view;
  }
  const Index step = ceil_div(nz, pipeline::live_side);
  for (Index z = 0; z < nz; z += step) {
    progress("read", z, nz);
    volume.read({z, z + 1}, slice.data());
    add(slice, view.histogram);
    along_y.insert(along_y.end(), slice.begin() + ny / 2 * nx, slice.begin() + (ny / 2 + 1) * nx);
    for (Index y = 0; y < ny; ++y) along_x.push_back(slice[y * nx + nx / 2]);
  }
  const Index lines = ceil_div(nz, step);
  view.planes.push_back(
      {'y', ny / 2, ny, pipeline::shrunk(along_y, nx, lines), length(0, nx), length(2, nz)});
  view.planes.push_back(
      {'x', nx / 2, nx, pipeline::shrunk(along_x, ny, lines), length(1, ny), length(2, nz)});
  return view;
}

std::string report_page(const json& report, const VolumeView& view, const std::string& missing) {
  json pictures = view.planes.empty() ? json{{"missing", missing}} : volume_json(view);
  pictures["parts"] = stage_words();
  return with_data(report_page_text, {{"report", report}, {"volume", pictures}});
}

}  // namespace tandem::apps
