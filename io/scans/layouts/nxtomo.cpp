// NXtomo (manual.nexusformat.org, NXtomo) with the habits of Diamond and of the ESRF, and files that are
// NXtomo in content only, with an image_key beside a stack.

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "../recorded.hpp"
#include "layout.hpp"
#include "nxtomo.hpp"

namespace tandem::io {

namespace {

constexpr int max_depth = 4;       // /entry/instrument/detector/image_key
constexpr int max_links = 50'000;  // most links that are looked at; scans have hundreds
constexpr Index max_frames = 100'000'000;

/// Fields below the entry; the group of the detector may have another name.
constexpr Field nxtomo_fields[] = {
    {"instrument/detector/x_pixel_size", "", Use::obeyed,
     "pitch of bins; of a parallel beam, if no other is"},
    {"instrument/detector/y_pixel_size", "", Use::obeyed, "pitch of rows"},
    {"sample/x_pixel_size", "", Use::obeyed, "pitch of bins at the sample: of a parallel beam"},
    {"sample/y_pixel_size", "", Use::obeyed, "pitch of rows at the sample"},
    {"instrument/detector/distance", "", Use::obeyed, "from the sample to the detector"},
    {"instrument/source/distance", "", Use::obeyed, "from the source to the sample"},
    {"sample/propagation_distance", "", Use::obeyed, "for phase retrieval"},
    {"instrument/beam/incident_energy", "", Use::obeyed, "energy of the photons"},
    {"instrument/detector/x_rotation_axis_pixel_position", "", Use::obeyed,
     "the axis, in bins from the middle"},
    {"instrument/detector/estimated_cor_from_motor", "", Use::obeyed, "the same in older files"},
    {"instrument/detector/half_acquisition", "0", Use::obeyed, "whether the scan is a half acquisition"},
    {"instrument/detector/field_of_view", "Full", Use::obeyed, "Half: the same in older files"},
    {"instrument/detector/x_flipped", "0", Use::obeyed, "images are turned back"},
    {"instrument/detector/y_flipped", "0", Use::obeyed, "images are turned back"},
    {"instrument/detector/transformations/rx", "0", Use::obeyed, "half a turn: images are turned back"},
    {"instrument/detector/transformations/ry", "0", Use::obeyed, "half a turn: images are turned back"},
    {"instrument/detector/transformations/rz", "0", Use::obeyed, "half a turn: images are turned back"},
    {"instrument/detector/image_key_control", "", Use::obeyed, "the kind of each frame"},
    {"instrument/detector/image_key", "", Use::obeyed, "the kind of each frame"},
    {"instrument/detector/sequence_number", "", Use::obeyed, "the order in which frames were taken"},
    {"instrument/detector/tomo_n", "", Use::obeyed, "a note says if fewer views are there"},
    {"instrument/detector/count_time", "", Use::obeyed, "counts are divided by it where it differs"},
    {"control/data", "", Use::obeyed, "by {normalize-monitor}"},
    {"sample/rotation_angle", "", Use::obeyed, "the angle of each frame"},
    {"sample/x_translation", "0", Use::obeyed, "across the beam (version 1: along it); views are moved back"},
    {"sample/y_translation", "0", Use::obeyed,
     "along the axis (version 1: across the beam); views stand where it was"},
    {"sample/z_translation", "0", Use::obeyed,
     "along the beam (version 1: along the axis); noted if it moves"},
    {"instrument/detector/y_rotation_axis_pixel_position", "0", Use::noted,
     "the axis is taken to lie along the columns; if it lies along the rows, give {orient} transpose"},
    {"instrument/detector/polar_angle", "0", Use::noted, "the detector is taken to face the beam"},
    {"instrument/detector/azimuthal_angle", "0", Use::noted, "the detector is taken to face the beam"},
    {"instrument/detector/rotation_z", "0", Use::noted,
     "the detector is taken to stand upright; give {detector-roll}"},
    {"sample/transformations/rx", "0", Use::noted, "the axis is taken to be upright; give {axis-tilt}"},
    {"sample/transformations/ry", "0", Use::noted, "the axis is taken to be upright; give {axis-tilt}"},
    {"sample/transformations/rz", "0", Use::noted, "the axis is taken to be upright; give {detector-roll}"},
    {"instrument/detector/transformations/tx", "0", Use::noted, "the detector is taken to stand where it is"},
    {"instrument/detector/transformations/ty", "0", Use::noted, "the detector is taken to stand where it is"},
    {"instrument/detector/transformations/tz", "0", Use::noted, "the detector is taken to stand where it is"},
    {"instrument/detector/flatfield_applied", "0", Use::noted,
     "if its frames are transmissions already, leave flats out"},
    {"group_size", "1", Use::noted, "the scan is one of a series; only this one is read"},
};

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? group + name : group + "/" + name;
}

bool has_rank(const hdf5::File& file, const std::string& path, std::size_t rank) {
  const std::optional<hdf5::DataSet> found = file.find(path);
  return found && found->shape().size() == rank;
}

std::string first_of_rank(const hdf5::File& file, const std::vector<std::string>& paths, std::size_t rank) {
  for (const std::string& path : paths)
    if (has_rank(file, path, rank)) return path;
  return "";
}

/// All groups down to `max_depth`, parents first, without links to nothing. Hard links may form circles, so
/// the contents of a group are listed once.
std::vector<std::string> groups_of(const hdf5::File& file) {
  std::vector<std::string> found{"/"};
  std::set<decltype(file.identity(""))> entered;
  int links = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string group = found[i];  // a copy, since `found` grows below
    if (group != "/" && std::count(group.begin(), group.end(), '/') >= max_depth) continue;
    if (!entered.insert(file.identity(group)).second) continue;
    for (const std::string& name : file.names(group)) {
      require<FileError>(++links <= max_links, file.name(), ": has more than ", max_links,
                         " links in its first ", max_depth,
                         " levels; such a file is not searched for a scan");
      if (file.is_group(join(group, name))) found.push_back(join(group, name));
    }
  }
  return found;
}

/// The paths of an entry that calls itself NXtomo. The data set is required here, since without it the file
/// is damaged, and not of another layout.
NXtomoPlaces in_form(const hdf5::File& file, const std::string& entry) {
  NXtomoPlaces places{
      .entry = entry, .data = "", .keys = "", .angles = "", .detector = entry + "/instrument/detector"};
  std::vector<std::string> data{places.detector + "/data", entry + "/data/data"};
  std::vector<std::string> keys{places.detector + "/image_key_control", places.detector + "/image_key",
                                entry + "/data/image_key", entry + "/instrument/image_key/image_key"};
  for (const std::string& name : file.names(entry + "/instrument")) {
    data.push_back(entry + "/instrument/" + name + "/data");
    keys.push_back(entry + "/instrument/" + name + "/image_key");
  }
  places.data = first_of_rank(file, data, 3);
  if (places.data
          .empty())  // the message then names what is there, but wrong, before what is not there at all
    places.data = file.has(data[1]) && !file.has(data[0]) ? data[1] : data[0];
  places.keys = first_of_rank(file, keys, 1);
  if (places.keys.empty())  // without keys flats would be views
    for (const std::string& path : keys)
      if (places.keys.empty() && file.external_link(path)) places.keys = path;
  places.angles = first_of_rank(file, {entry + "/sample/rotation_angle", entry + "/data/rotation_angle"}, 1);
  return places;
}

/// The paths of a stack with an image_key beside it: /entry/instrument/NAME/image_key, and /entry/NAME for
/// stack and angles.
std::optional<NXtomoPlaces> in_content(const hdf5::File& file, const std::string& group) {
  const std::string keys = group + "/image_key";
  if (!has_rank(file, keys, 1)) return std::nullopt;
  const auto instrument = group.rfind("/instrument/");
  const std::string entry = group.substr(0, instrument == std::string::npos ? group.rfind('/') : instrument);
  const std::string shown = join(entry, group.substr(group.rfind('/') + 1));
  const std::string data = first_of_rank(file, {join(shown, "data"), join(group, "data")}, 3);
  if (data.empty()) return std::nullopt;
  std::vector<std::string> angles{entry + "/sample/rotation_angle", shown + "/rotation_angle"};
  for (const std::string& name : file.names(shown))
    if (name.find("theta") != std::string::npos || name.find("angle") != std::string::npos)
      angles.push_back(join(shown, name));
  return NXtomoPlaces{.entry = entry,
                      .data = data,
                      .keys = keys,
                      .angles = first_of_rank(file, angles, 1),
                      .detector = group};
}

std::optional<NXtomoPlaces> find_places(const hdf5::File& file, std::vector<std::string>& notes) {
  const std::vector<std::string> groups = groups_of(file);
  std::vector<std::string> entries;
  for (const std::string& group : groups)
    if (file.text(join(group, "definition")) == "NXtomo") entries.push_back(group);
  if (entries.size() > 1)
    notes.push_back(std::to_string(entries.size()) + " NXtomo entries; only " + entries.front() + " is read");
  if (!entries.empty()) return in_form(file, entries.front() == "/" ? "" : entries.front());
  for (const std::string& group : groups)
    if (auto places = in_content(file, group)) return places;
  return std::nullopt;
}

/// The kind of each frame, from image_key: 0 projection, 1 flat, 2 dark, 3 invalid, -1 alignment.
std::vector<int> keys_of(const hdf5::File& file, const NXtomoPlaces& places, Index frames,
                         std::vector<std::string>& notes) {
  require<FileError>(frames <= max_frames, file.name(), ": ", places.data, ": claims ", frames,
                     " frames; the file is damaged");
  if (places.keys.empty()) {
    notes.emplace_back("no image_key: every frame is taken for a projection");
    return std::vector<int>(frames, 0);
  }
  const hdf5::DataSet set = file.data_set(places.keys);
  require<FileError>(set.size() == frames, set.where(), ": ", set.size(), " keys for ", frames, " frames in ",
                     places.data, "; one a frame is needed");
  std::vector<int> keys;
  for (double key : set.numbers()) {
    require<FileError>(key >= -1 && key <= 3 && key == std::floor(key), set.where(), ": frame ", keys.size(),
                       " has key ", key,
                       "; 0 (projection), 1 (flat), 2 (dark), 3 (invalid) or -1 (alignment) is needed");
    keys.push_back(static_cast<int>(key));
  }
  return keys;
}

std::vector<Range> runs_of(const std::vector<int>& keys, int key) {
  std::vector<Range> runs;
  for (Index i = 0; i < std::ssize(keys); ++i) {
    if (keys[i] != key) continue;
    if (!runs.empty() && runs.back().last == i)
      ++runs.back().last;
    else
      runs.push_back({i, i + 1});
  }
  return runs;
}

/// An entry with its frames.
struct NXtomoEntry {
  NXtomoPlaces places;
  std::vector<int> keys;
  Acquisition found;
};

std::optional<NXtomoEntry> entry_in(const hdf5::File& file) {
  NXtomoEntry entry;
  std::vector<std::string>& notes = entry.found.info.notes;
  const std::optional<NXtomoPlaces> places = find_places(file, notes);
  if (!places) return std::nullopt;
  entry.places = *places;
  const auto data = std::make_shared<hdf5::DataSet>(file.data_set(places->data));
  require<FileError>(data->shape().size() == 3, data->where(), ": has ", data->shape().size(),
                     " axes; 3 are needed (frame, row, bin)");
  data->require_stored();
  note_absolute_link(file, places->data, notes);
  entry.keys = keys_of(file, *places, data->shape()[0], notes);
  const auto take = [&](int key, FrameSources& into) {
    std::vector<Range> runs = runs_of(entry.keys, key);
    if (!runs.empty()) into.push_back(hdf5_frames(data, "theta:y:x", std::move(runs)));
  };
  take(0, entry.found.projections);
  take(1, entry.found.flats);
  take(2, entry.found.darks);
  return entry;
}

void note_left_out(const hdf5::File& file, NXtomoEntry& entry) {
  std::vector<std::string>& notes = entry.found.info.notes;
  if (const auto invalid = std::ranges::count(entry.keys, 3))
    notes.push_back(std::to_string(invalid) + " invalid frames left out (image_key 3)");
  if (const auto alignment = std::ranges::count(entry.keys, -1))
    notes.push_back(std::to_string(alignment) + " alignment frames left out (image_key -1)");
  const auto planned = recorded_number(file, entry.places.detector + "/tomo_n", notes);
  const auto views = std::ranges::count(entry.keys, 0);
  if (planned && views < *planned)
    notes.push_back(std::to_string(views) + " of the " +
                    std::to_string(floor_index(std::min(*planned, 1e9))) +
                    " planned views are there (tomo_n)");
}

FrameSources nxtomo_frames(const hdf5::File& file, FrameKind kind) {
  std::optional<NXtomoEntry> entry = entry_in(file);
  if (!entry) return {};
  return std::move(kind == FrameKind::flat ? entry->found.flats : entry->found.darks);
}

std::optional<Acquisition> find_nxtomo(const hdf5::File& file, const OpenOptions& options) {
  std::optional<NXtomoEntry> entry = entry_in(file);
  if (!entry) return std::nullopt;
  note_left_out(file, *entry);
  require<FileError>(!entry->found.projections.empty(), file.name(), ": has 0 views; at least 1 is needed");
  read_nxtomo_geometry(file, entry->places, entry->found);
  heed(nxtomo_fields, file.name(), values_in(file, entry->places.entry), entry->found.info.notes);
  read_nxtomo_frames(file, entry->places, entry->keys, options, entry->found);
  return std::move(entry->found);
}

}  // namespace

Layout nxtomo_layout() {
  return {.name = "NXtomo",
          .needed = {"an entry with definition NXtomo", "an NXtomo image_key", "an NXtomo image_key"},
          .fields = nxtomo_fields,
          .find = find_nxtomo,
          .frames = nxtomo_frames};
}

}  // namespace tandem::io
