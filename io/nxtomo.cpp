// NXtomo (manual.nexusformat.org, NXtomo) with the habits of Diamond and of the ESRF, and files that are
// NXtomo in content only: a stack with an image_key beside it.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>

#include "../core/error.hpp"
#include "frame_source.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

constexpr int max_depth = 4;       // /entry/instrument/detector/image_key
constexpr int max_links = 50'000;  // looked at; scans have hundreds
constexpr Index max_frames = 100'000'000;

struct Layout {
  std::string entry;               // "/entry1/tomo_entry"
  std::string data, keys, angles;  // data sets; keys and angles may be empty
  std::string detector;            // the group with the pixel sizes
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

/// Every link to a group down to `max_depth`, parents first; dangling links are passed over. Hard links may
/// form circles: what lies in a group is listed once.
std::vector<std::string> groups_of(const hdf5::File& file) {
  std::vector<std::string> found{"/"};
  std::set<decltype(file.identity(""))> entered;
  int links = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string group = found[i];  // `found` grows below
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

/// An entry that calls itself NXtomo. The data set is required here: without it the file is broken, not
/// foreign.
Layout in_form(const hdf5::File& file, const std::string& entry) {
  Layout layout{
      .entry = entry, .data = "", .keys = "", .angles = "", .detector = entry + "/instrument/detector"};
  std::vector<std::string> data{layout.detector + "/data", entry + "/data/data"};
  std::vector<std::string> keys{layout.detector + "/image_key_control", layout.detector + "/image_key",
                                entry + "/data/image_key", entry + "/instrument/image_key/image_key"};
  for (const std::string& name : file.names(entry + "/instrument")) {
    data.push_back(entry + "/instrument/" + name + "/data");
    keys.push_back(entry + "/instrument/" + name + "/image_key");
  }
  layout.data = first_of_rank(file, data, 3);
  if (layout.data
          .empty())  // the message then names what is there, but wrong, before what is not there at all
    layout.data = file.has(data[1]) && !file.has(data[0]) ? data[1] : data[0];
  layout.keys = first_of_rank(file, keys, 1);
  layout.angles = first_of_rank(file, {entry + "/sample/rotation_angle", entry + "/data/rotation_angle"}, 1);
  return layout;
}

/// A stack with an image_key beside it: /entry/instrument/NAME/image_key, then /entry/NAME for stack and
/// angles.
std::optional<Layout> in_content(const hdf5::File& file, const std::string& group) {
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
  return Layout{.entry = entry,
                .data = data,
                .keys = keys,
                .angles = first_of_rank(file, angles, 1),
                .detector = group};
}

std::optional<Layout> find_layout(const hdf5::File& file, std::vector<std::string>& notes) {
  const std::vector<std::string> groups = groups_of(file);
  std::vector<std::string> entries;
  for (const std::string& group : groups)
    if (file.text(join(group, "definition")) == "NXtomo") entries.push_back(group);
  if (entries.size() > 1)
    notes.push_back(std::to_string(entries.size()) + " NXtomo entries; only " + entries.front() + " is read");
  if (!entries.empty()) return in_form(file, entries.front() == "/" ? "" : entries.front());
  for (const std::string& group : groups)
    if (auto layout = in_content(file, group)) return layout;
  return std::nullopt;
}

/// The kind of each frame, as image_key has it: 0 projection, 1 flat, 2 dark, 3 invalid, -1 alignment.
std::vector<int> keys_of(const hdf5::File& file, const Layout& layout, Index frames,
                         std::vector<std::string>& notes) {
  require<FileError>(frames <= max_frames, file.name(), ": ", layout.data, ": claims ", frames,
                     " frames; the file is damaged");
  if (layout.keys.empty()) {
    notes.emplace_back("no image_key: every frame is taken for a projection");
    return std::vector<int>(static_cast<std::size_t>(frames), 0);
  }
  const hdf5::DataSet set = file.data_set(layout.keys);
  require<FileError>(set.size() == frames, set.where(), ": ", set.size(), " keys for ", frames, " frames in ",
                     layout.data, "; one a frame is needed");
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
  for (Index i = 0; i < static_cast<Index>(keys.size()); ++i) {
    if (keys[static_cast<std::size_t>(i)] != key) continue;
    if (!runs.empty() && runs.back().last == i)
      ++runs.back().last;
    else
      runs.push_back({i, i + 1});
  }
  return runs;
}

void read_angles_at(const hdf5::File& file, const Layout& layout, const std::vector<int>& keys,
                    Acquisition& acquisition) {
  acquisition.angles_where =
      file.name() + ": " + (layout.angles.empty() ? layout.entry + "/sample/rotation_angle" : layout.angles);
  if (layout.angles.empty()) return;
  const hdf5::DataSet set = file.data_set(layout.angles);
  const double factor = radians_per(set.text("units").value_or("deg"), set.where());
  std::vector<double> angles = set.numbers();
  for (double& angle : angles) angle *= factor;
  // one a frame by the standard; some write one a projection: open_scan checks the number
  if (angles.size() != keys.size()) {
    acquisition.angles = std::move(angles);
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == 0) acquisition.angles.push_back(angles[i]);
}

/// The numbers of views and flats among numbers of all frames.
PerFrame by_kind(const std::vector<double>& all, const std::vector<int>& keys) {
  PerFrame some;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == 0) some.views.push_back(all[i]);
    if (keys[i] == 1) some.flats.push_back(all[i]);
  }
  return some;
}

/// Frames come in the order of time, each with its count of the monitor if there is one.
void read_times(const hdf5::File& file, const Layout& layout, const std::vector<int>& keys, ScanInfo& info) {
  std::vector<double> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  info.times = by_kind(numbers, keys);
  const std::string control = layout.entry + "/control/data";
  if (!file.has(control)) return;
  const hdf5::DataSet set = file.data_set(control);
  if (set.size() == static_cast<Index>(keys.size()))
    info.monitor = by_kind(set.numbers(), keys);
  else
    info.notes.push_back(control + " is left out: it has " + std::to_string(set.size()) + " numbers for " +
                         std::to_string(keys.size()) + " frames");
}

/// Bins by which a line of a parallel beam is off where the beam of a source diverges: a ray to the edge of
/// the detector, half a width W from the middle, turns by W / 2 / sdd, and crosses W at most.
double off_by_bins(double width_mm, double sdd_mm, Index bins) {
  return 0.5 * static_cast<double>(bins) * (0.5 * width_mm / sdd_mm);
}

/// The distances from source and detector to the sample. Only a source that is near enough to be seen makes a
/// cone beam. NeXus counts distances along the beam, so that of the source may be below 0.
void read_distances(const hdf5::File& file, const Layout& layout, Index bins, Acquisition& acquisition) {
  ScanInfo& info = acquisition.info;
  const std::optional<double> detector = length_mm(file, layout.detector + "/distance", "m", info.notes);
  const std::string source = layout.entry + "/instrument/source/distance";
  const std::optional<double> value = file.number(source);
  const std::optional<double> unit =
      value ? mm_per(file.data_set(source).text("units").value_or("m")) : value;
  if (!value || !unit || *value == 0 || !std::isfinite(*value * *unit)) {
    info.propagation_mm = detector;
    return;
  }
  const double sod = std::abs(*value * *unit), sdd = sod + detector.value_or(0);
  if (detector && info.pixel_size_mm &&
      off_by_bins(*info.pixel_size_mm * static_cast<double>(bins), sdd, bins) > 1) {
    acquisition.kind = ConeBeam::kind;
    acquisition.sod_mm = sod, acquisition.sdd_mm = sdd;
    return;
  }
  info.propagation_mm = detector;
  std::ostringstream note;
  note << "the source is " << sod << " mm before the sample; the beam is taken as parallel";
  info.notes.push_back(note.str());
}

void read_geometry(const hdf5::File& file, const Layout& layout, Index bins, Acquisition& acquisition) {
  ScanInfo& info = acquisition.info;
  info.pixel_size_mm = length_mm(file, layout.detector + "/x_pixel_size", "m", info.notes);
  acquisition.row_pitch_mm = length_mm(file, layout.detector + "/y_pixel_size", "m", info.notes);
  for (const char* name : {"/x_rotation_axis_pixel_position", "/estimated_cor_from_motor"}) {
    const std::optional<double> offset = file.number(layout.detector + name);
    if (offset && !info.axis_bin) info.axis_bin = static_cast<double>(bins - 1) / 2 + *offset;
  }
  for (const std::string beam : {"/instrument/beam", "/beam"})
    if (!info.energy_kev)
      info.energy_kev = energy_kev(file, layout.entry + beam + "/incident_energy", info.notes);
  read_distances(file, layout, bins, acquisition);
  if (in_lower_case(file.text(layout.detector + "/field_of_view").value_or("")) == "half") {
    info.field_of_view = FieldOfView::doubled;
    info.notes.emplace_back("field_of_view Half: a half acquisition");
  }
}

/// Whether a detector is turned by half a turn about an axis of its transformations; empty if it has no such.
std::optional<bool> half_turn_about(const hdf5::File& file, const Layout& layout, const std::string& axis) {
  const std::optional<double> angle = file.number(layout.detector + "/transformations/" + axis);
  if (!angle) return std::nullopt;
  constexpr double turn = 360, rounding = 1e-3;
  return std::abs(std::abs(std::remainder(*angle, turn)) - turn / 2) < rounding;
}

/// Images that are mirrored on their way to the file are turned back, as nabu does. The flags of older files
/// say it plainly. In transformations, z is along the rows of the ESRF's frame, where rz flips columns and ry
/// flips rows; in NeXus' own frame ry flips columns and rx flips rows. An axis of their own tells which it
/// is.
void read_flips(const hdf5::File& file, const Layout& layout, Acquisition& found) {
  Orientation& turned = found.orientation;
  turned.flip_columns = file.flag(layout.detector + "/x_flipped");
  turned.flip_rows = file.flag(layout.detector + "/y_flipped");
  const auto rx = half_turn_about(file, layout, "rx"), ry = half_turn_about(file, layout, "ry"),
             rz = half_turn_about(file, layout, "rz");
  if (rz) {
    turned.flip_columns |= *rz;
    turned.flip_rows |= ry.value_or(false);
  } else if (rx) {
    turned.flip_columns |= ry.value_or(false);
    turned.flip_rows |= *rx;
  } else if (ry && *ry) {
    found.info.notes.emplace_back(
        "transformations/ry without rx or rz is left out: it flips rows or columns; give --orient");
  }
  if (turned.as_stored()) return;
  found.info.notes.push_back(
      std::string("the file says that its images are mirrored: they are turned back, ") +
      (turned.flip_rows && turned.flip_columns ? "flip-rows,flip-columns"
       : turned.flip_rows                      ? "flip-rows"
                                               : "flip-columns") +
      (turned.flip_columns && found.info.axis_bin
           ? "; the recorded axis is taken to count in the images as stored"
           : ""));
}

}  // namespace

std::optional<Acquisition> find_nxtomo(const hdf5::File& file, const OpenOptions&) {
  Acquisition acquisition;
  std::vector<std::string>& notes = acquisition.info.notes;
  const std::optional<Layout> layout = find_layout(file, notes);
  if (!layout) return std::nullopt;
  acquisition.info.format = "NXtomo";

  const auto data = std::make_shared<hdf5::DataSet>(file.data_set(layout->data));
  require<FileError>(data->shape().size() == 3, data->where(), ": has ", data->shape().size(),
                     " axes; 3 are needed (frame, row, bin)");
  data->require_stored();
  const std::vector<int> keys = keys_of(file, *layout, data->shape()[0], notes);
  const auto take = [&](int key, FrameSources& into) {
    std::vector<Range> runs = runs_of(keys, key);
    if (!runs.empty()) into.push_back(hdf5_frames(data, "theta:y:x", std::move(runs)));
  };
  take(0, acquisition.projections);
  take(1, acquisition.flats);
  take(2, acquisition.darks);
  if (const auto invalid = std::count(keys.begin(), keys.end(), 3))
    notes.push_back(std::to_string(invalid) + " invalid frames left out (image_key 3)");
  if (const auto alignment = std::count(keys.begin(), keys.end(), -1))
    notes.push_back(std::to_string(alignment) + " alignment frames left out (image_key -1)");

  read_angles_at(file, *layout, keys, acquisition);
  read_times(file, *layout, keys, acquisition.info);
  read_geometry(file, *layout, data->shape()[2], acquisition);
  read_flips(file, *layout, acquisition);
  return acquisition;
}

}  // namespace tandem::io
