#include "volume_place.hpp"

#include <cmath>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../files/text.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

constexpr double alike = 1e-3;  // voxels
constexpr double most_voxels = 1e12;

/// Values in the order x, y, z of the library, in the order z, y, x of files.
template <class T>
std::vector<double> slowest_first(const std::array<T, 3>& xyz) {
  return {1.0 * xyz[2], 1.0 * xyz[1], 1.0 * xyz[0]};
}

Index whole_number(double value, const std::string& what) {
  require<FileError>(value >= 0 && value <= most_voxels && value == std::floor(value), what, " = ", value,
                     "; a number of voxels is needed");
  return floor_index(value);
}

double finite(double value, const std::string& what) {
  require<FileError>(std::isfinite(value), what, " = ", value, "; a finite length is needed");
  return value;
}

}  // namespace

VolumePlace whole_place(const VolumeGrid& grid, bool in_mm) { return {grid, in_mm, grid.size, {}}; }

std::string difference(const VolumePlace& a, const VolumePlace& b) {
  if (a.in_mm != b.in_mm) return words("it is in ", a.unit(), ", not in ", b.unit());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto edge = [&](const VolumeGrid& g, double side) {
      return g.centre[i] + side * g.pitch[i] * g.size[i];
    };
    const double away = std::max(std::abs(edge(a.grid, -0.5) - edge(b.grid, -0.5)),
                                 std::abs(edge(a.grid, 0.5) - edge(b.grid, 0.5)));
    if (away > alike * b.grid.pitch[i])
      return words("along ", "xyz"[i], " its ", a.grid.size[i], " voxels of ", a.grid.pitch[i], ' ',
                   a.unit_of_length(), " lie around ", a.grid.centre[i], ", not ", b.grid.size[i], " of ",
                   b.grid.pitch[i], " around ", b.grid.centre[i]);
  }
  return {};
}

PlaceNumbers numbers_of(const VolumePlace& place) {
  PlaceNumbers all{{"pitch", slowest_first(place.grid.pitch)},
                   {"centre", slowest_first(place.grid.centre)},
                   {"full_shape", slowest_first(place.full_size)},
                   {"region", {}}};
  for (const std::size_t i : {2, 1, 0}) {
    all["region"].push_back(place.first[i]);
    all["region"].push_back(place.first[i] + place.grid.size[i]);
  }
  return all;
}

VolumePlace place_of(const PlaceNumbers& numbers, bool in_mm, Shape shape, const std::string& where) {
  const auto number = [&](const char* name, std::size_t count, std::size_t k) {
    const auto found = numbers.find(name);
    const std::size_t there = found == numbers.end() ? 0 : found->second.size();
    require<FileError>(there == count, where, ": ", name, " has ", there, " numbers; ", count, " are needed");
    return found->second[k];
  };
  VolumePlace place{.grid = {.size = {shape[2], shape[1], shape[0]}}, .in_mm = in_mm};
  for (std::size_t i = 0; i < 3; ++i) {
    place.grid.pitch[i] = finite(number("pitch", 3, 2 - i), where + ": pitch");
    require<FileError>(place.grid.pitch[i] > 0, where, ": pitch = ", place.grid.pitch[i],
                       "; a length above 0 is needed");
    place.grid.centre[i] = finite(number("centre", 3, 2 - i), where + ": centre");
    place.full_size[i] = whole_number(number("full_shape", 3, 2 - i), where + ": full_shape");
    place.first[i] = whole_number(number("region", 6, 4 - 2 * i), where + ": region");
    const Index last = whole_number(number("region", 6, 5 - 2 * i), where + ": region");
    require<FileError>(last - place.first[i] == place.grid.size[i] && last <= place.full_size[i], where,
                       ": the region ", place.first[i], ":", last, " along ", "xyz"[i], " for ",
                       place.grid.size[i], " voxels of ", place.full_size[i], "; the file is damaged");
  }
  return place;
}

}  // namespace tandem::io
