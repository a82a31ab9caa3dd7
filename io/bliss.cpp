// Raw files of the ESRF (BLISS): entries 1.1, 2.1, ... whose titles say what was taken, as nxtomomill reads
// them (nxtomomill, io/config).

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "../core/error.hpp"
#include "frame_source.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

enum class Part { settings, dark, flat, views, other };

struct Entry {
  Index number;
  std::string path, title;
};

/// Entries N.1 with a title, by their numbers. N.2 and so on have slow counters of the same scan.
std::vector<Entry> entries_of(const hdf5::File& file) {
  std::vector<Entry> entries;
  for (const std::string& name : file.names("/")) {
    Index number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault != std::errc{} || std::string_view(end) != ".1") continue;
    if (const auto title = file.text("/" + name + "/title")) entries.push_back({number, "/" + name, *title});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.number < b.number; });
  return entries;
}

Part part_of(const std::string& given) {
  const std::string title = in_lower_case(given);
  if (title.find("tomo") != std::string::npos || title.starts_with("sequence")) return Part::settings;
  if (title.starts_with("dark")) return Part::dark;
  if (title.starts_with("ref") || title.starts_with("flat")) return Part::flat;
  return title.starts_with("projections") ? Part::views : Part::other;
}

/// The frames of an entry: the data set of three axes among its measurements.
std::string frames_in(const hdf5::File& file, const Entry& entry) {
  const std::string group = entry.path + "/measurement";
  for (const std::string& name : file.names(group))
    if (const auto set = file.find(group + "/" + name); set && set->shape().size() == 3)
      return group + "/" + name;
  throw FileError(file.name() + ": " + group + ": \"" + entry.title +
                  "\" has no frames; a data set of 3 axes (frame, row, bin) is needed");
}

/// The positions of the rotation motor, one a frame; its name has "rot" or "rz" in it.
void add_angles(const hdf5::File& file, const Entry& entry, Index frames, Acquisition& found) {
  const std::string group = entry.path + "/measurement";
  found.angles_where = file.name() + ": " + group + ": positions of a rotation motor";
  for (const std::string& name : file.names(group)) {
    if (name.find("rot") == std::string::npos && name.find("rz") == std::string::npos) continue;
    const auto set = file.find(group + "/" + name);
    if (!set || set->shape().size() != 1 || set->size() != frames) continue;
    found.angles_where = set->where();
    const double unit = radians_per(set->text("units").value_or("deg"), set->where());
    for (const double angle : set->numbers()) found.angles.push_back(angle * unit);
    return;
  }
}

void read_technique(const hdf5::File& file, const Entry& entry, Acquisition& found) {
  ScanInfo& info = found.info;
  const std::string group = entry.path + "/technique/";
  if (!info.energy_kev) info.energy_kev = energy_kev(file, group + "scan/energy", info.notes);
  if (!info.propagation_mm)
    info.propagation_mm = length_mm(file, group + "scan/sample_detector_distance", "mm", info.notes);
  if (!info.pixel_size_mm)
    info.pixel_size_mm = length_mm(file, group + "optic/sample_pixel_size", "um", info.notes);
}

}  // namespace

std::optional<Acquisition> find_bliss(const hdf5::File& file, const OpenOptions&) {
  const std::vector<Entry> entries = entries_of(file);
  Acquisition found;
  found.info.format = "BLISS";
  Index left_out = 0;
  for (const Entry& entry : entries) {
    const Part part = part_of(entry.title);
    if (part == Part::settings && !found.projections.empty()) {
      found.info.notes.push_back("another scan begins at " + entry.path + "; only the first one is read");
      break;
    }
    read_technique(file, entry, found);
    left_out += part == Part::other;
    if (part == Part::settings || part == Part::other) continue;
    auto frames = hdf5_frames(std::make_shared<hdf5::DataSet>(file.data_set(frames_in(file, entry))));
    if (part == Part::views) add_angles(file, entry, frames->shape()[0], found);
    (part == Part::dark   ? found.darks
     : part == Part::flat ? found.flats
                          : found.projections)
        .push_back(std::move(frames));
  }
  if (found.projections.empty()) return std::nullopt;
  if (left_out > 0)
    found.info.notes.push_back(std::to_string(left_out) +
                               " entries with other titles than darks, references and "
                               "projections are left out");
  return found;
}

}  // namespace tandem::io
