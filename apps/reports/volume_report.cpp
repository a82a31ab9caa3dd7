#include "volume_report.hpp"

#include <sstream>

#include "../runs/lines.hpp"

namespace tandem::apps {

using nlohmann::json;

namespace {

template <class T>
json slowest_first(const std::array<T, 3>& xyz) {
  return {xyz[2], xyz[1], xyz[0]};
}

/// A quantity of three axes as text, in one number where they agree.
std::string words(const json& zyx) {
  const auto z = rounded(zyx[0]), y = rounded(zyx[1]), x = rounded(zyx[2]);
  return z == y && y == x ? x : z + " x " + y + " x " + x;
}

}  // namespace

json place_json(const io::VolumePlace& place) {
  json region = json::array();
  for (const std::size_t i : {2, 1, 0})
    region.push_back({place.first[i], place.first[i] + place.grid.size[i]});
  return {{"pitch_mm", place.in_mm ? json(place.grid.pitch[0]) : json(nullptr)},
          {"unit", place.unit()},
          {"unit_of_length", place.unit_of_length()},
          {"pitch", slowest_first(place.grid.pitch)},
          {"centre", slowest_first(place.grid.centre)},
          {"full_shape", slowest_first(place.full_size)},
          {"region", region}};
}

std::string words_of_place(const json& r) {
  const std::string unit = ' ' + r["unit_of_length"].get<std::string>();
  std::ostringstream text;
  text << "pitch " << words(r["pitch"]) << unit;
  if (r["centre"] != json({0.0, 0.0, 0.0}))
    text << "\ncentre    " << words(r["centre"]) << unit << " (z, y, x)";
  if (r["shape"] != r["full_shape"]) {
    const json& region = r["region"];
    text << "\nregion   ";
    for (const std::size_t i : {0, 1, 2})
      text << ' ' << "zyx"[i] << ' ' << region[i][0] << ':' << region[i][1];
    text << " of " << words(r["full_shape"]) << " (z, y, x)";
  }
  return text.str();
}

}  // namespace tandem::apps
