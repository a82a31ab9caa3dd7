// Raw files of the ESRF (BLISS). They have entries 1.1, 2.1, ... whose titles say what was taken, as
// nxtomomill reads them (nxtomomill, io/config).

#include "bliss.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include "../../../core/error.hpp"
#include "../../files/text.hpp"
#include "../recorded.hpp"
#include "../scan_facts.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

/// Fields below an entry N.1. CAMERA is the name of the camera.
constexpr Field bliss_fields[] = {
    {"technique/tomoconfig/rotation", "", Use::obeyed, "names the motor that turns"},
    {"technique/tomoconfig/rotation_is_clockwise", "0", Use::obeyed, "angles count backwards"},
    {"technique/tomoconfig/detector", "", Use::obeyed, "names the camera"},
    {"technique/tomoconfig/translation_y", "", Use::obeyed, "names the motor across the beam"},
    {"technique/tomoconfig/translation_z", "", Use::obeyed, "names the motor along the axis"},
    {"technique/tomoconfig/translation_x", "", Use::obeyed, "names the motor along the beam"},
    {"technique/tomoconfig/sample_x", "", Use::obeyed, "the same above the axis"},
    {"technique/tomoconfig/sample_y", "", Use::obeyed, "the same above the axis"},
    {"technique/scan/motor", "", Use::obeyed, "names the motor that turns"},
    {"technique/scan/energy", "", Use::obeyed, "energy of the photons"},
    {"technique/scan/sample_detector_distance", "", Use::obeyed, "from the sample to the detector"},
    {"technique/scan/source_sample_distance", "", Use::obeyed, "from the source to the sample"},
    {"technique/scan/effective_propagation_distance", "", Use::obeyed, "for phase retrieval"},
    {"technique/scan/propagation_distance", "", Use::obeyed, "for phase retrieval"},
    {"technique/scan/half_acquisition", "0", Use::obeyed, "whether the scan is a half acquisition"},
    {"technique/scan/field_of_view", "Full", Use::obeyed, "Half: the same in older files"},
    {"technique/optic/sample_pixel_size", "", Use::obeyed, "pitch at the sample"},
    {"technique/optic/optics_pixel_size", "", Use::obeyed, "pitch of the detector, of a cone beam"},
    {"technique/detector/CAMERA/flipping", "0", Use::obeyed, "images are turned back"},
    {"technique/detector/flipping", "0", Use::obeyed, "images are turned back"},
    {"instrument/CAMERA/acq_parameters/acq_expo_time", "", Use::obeyed,
     "counts are divided by it if it differs"},
    {"technique/scan/nb_scans", "1", Use::noted, "the scan is one of a series; only this one is read"},
    {"technique/proj/nb_turns", "1", Use::noted, "all views are taken, with the angles of all turns"},
    {"technique/proj/nb_loop", "1", Use::noted, "all views are taken for one scan"},
};

enum class EntryKind { settings, dark, flat, views, other };

struct BlissEntry {
  Index number;
  std::string path, title;
};

/// The entries N.1 with a title, by their numbers. N.2 and so on have slow counters of the same scan.
std::vector<BlissEntry> entries_of(const hdf5::File& file) {
  std::vector<BlissEntry> entries;
  for (const std::string& name : file.names("/")) {
    Index number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault != std::errc{} || std::string_view(end) != ".1") continue;
    if (const auto title = file.text("/" + name + "/title")) entries.push_back({number, "/" + name, *title});
  }
  std::sort(entries.begin(), entries.end(),
            [](const BlissEntry& a, const BlissEntry& b) { return a.number < b.number; });
  return entries;
}

EntryKind kind_of_entry(const std::string& given) {
  const std::string title = in_lower_case(given);
  if (title.find("tomo") != std::string::npos || title.starts_with("sequence")) return EntryKind::settings;
  if (title.starts_with("dark")) return EntryKind::dark;
  if (title.starts_with("ref") || title.starts_with("flat")) return EntryKind::flat;
  const bool steps = title.starts_with("ascan rot 0 ") || title.starts_with("ascan diffrz 0 180 ");
  return steps || title.starts_with("projections") ? EntryKind::views : EntryKind::other;
}

bool has_frames(const hdf5::File& file, const std::string& path) {
  const auto set = file.find(path);
  return set && set->shape().size() == 3;
}

/// The frames of an entry: those of the camera of the configuration, or else the data set of three axes among
/// its measurements.
std::string frames_in(const hdf5::File& file, const BlissEntry& entry, const BlissConfig& config,
                      std::vector<std::string>& notes) {
  const std::string group = entry.path + "/measurement";
  for (const std::string& camera : config.camera)
    for (const std::string& path : {group + "/" + camera, entry.path + "/instrument/" + camera + "/data"})
      if (has_frames(file, path)) return path;
  std::vector<std::string> cameras;
  std::set<std::optional<hdf5::Identity>> known;
  for (const std::string& name : file.names(group)) {
    const std::string path = group + "/" + name;
    if (const auto set = file.find(path); set && set->shape().size() == 3) {
      if (known.insert(file.identity(path)).second) cameras.push_back(path);
    } else if (!set && file.external_link(path)) {
      notes.push_back(path + " is left out: it " + file.why_unopened(path));
    }
  }
  require<FileError>(!cameras.empty(), file.name(), ": ", group, ": \"", entry.title,
                     "\" has no frames; a data set of 3 axes (frame, row, bin) is needed",
                     notes.empty() ? "" : "; " + notes.back());
  if (cameras.size() > 1)
    notes.push_back(cameras.front() + " and " + cameras[1] +
                    " have frames, and no technique/tomoconfig names a camera; the first one is read");
  return cameras.front();
}

/// The pitch of bins and of rows, which may be one number.
void read_pitch(const hdf5::File& file, const std::string& path, std::optional<double>& bin,
                std::optional<double>& row, std::vector<std::string>& notes) {
  const auto set = file.find(path);
  if (bin || !set) return;
  if (set->size() != 2) {
    bin = pitch_mm(file, path, "um", notes);
    return;
  }
  const std::vector<double> both = recorded_numbers(file, path, notes);
  const std::optional<double> mm = mm_per(set->text("units").value_or("um"));
  if (both.size() != 2 || !mm || both[0] <= 0 || both[1] <= 0) return;
  bin = both[0] * *mm, row = both[1] * *mm;
}

void read_technique(const hdf5::File& file, const BlissEntry& entry, Acquisition& found,
                    Distances& distances) {
  ScanInfo& info = found.info;
  const std::string group = entry.path + "/technique/";
  const auto length = [&](std::optional<double>& into, const char* key) {
    if (!into) into = length_mm(file, group + key, "mm", info.notes);
  };
  if (!info.energy_kev) info.energy_kev = energy_kev(file, group + "scan/energy", info.notes);
  length(info.propagation_mm, "scan/effective_propagation_distance");
  length(info.propagation_mm, "scan/propagation_distance");
  length(distances.to_detector, "scan/sample_detector_distance");
  length(distances.sod, "scan/source_sample_distance");
  read_pitch(file, group + "optic/sample_pixel_size", distances.bin_at_sample, distances.row_at_sample,
             info.notes);
  read_pitch(file, group + "optic/optics_pixel_size", distances.bin, distances.row, info.notes);
  const auto half = file.find(group + "scan/half_acquisition");
  const std::string view = in_lower_case(file.text(group + "scan/field_of_view").value_or(""));
  if (half ? !half->flag().value_or(false) : view != "half") return;
  if (!info.field_of_view) info.notes.emplace_back("half_acquisition: a half acquisition");
  info.field_of_view = FieldOfView::doubled;
}

/// Turns back images that the program of the camera mirrored, as nxtomomill and nabu do. There are two flags,
/// one for columns and one for rows.
void read_flips(const hdf5::File& file, const BlissEntry& entry, const std::string& camera,
                Acquisition& found) {
  for (const std::string& path : {entry.path + "/technique/detector/" + camera + "/flipping",
                                  entry.path + "/technique/detector/flipping"}) {
    const auto set = file.find(path);
    const std::vector<bool> flags = set ? set->flags(2) : std::vector<bool>{};
    if (flags.size() != 2) continue;
    if (!found.orientation.as_stored()) return;
    found.orientation.flip_columns = flags[0], found.orientation.flip_rows = flags[1];
    if (!found.orientation.as_stored())
      found.info.notes.push_back(path + ": the images are mirrored; they are turned back");
    return;
  }
}

/// All entries of the first scan of a file.
struct BlissScan {
  std::vector<BlissEntry> entries;
  BlissConfig config;
  std::vector<BlissFrames> views, flats, darks;
};

void add_frames(const hdf5::File& file, const BlissEntry& entry, EntryKind kind, BlissScan& scan,
                Acquisition& found) {
  const std::string path = frames_in(file, entry, scan.config, found.info.notes);
  auto frames = hdf5_frames(std::make_shared<hdf5::DataSet>(file.data_set(path)));
  const bool in_instrument = path.ends_with("/data");
  const std::string named = in_instrument ? path.substr(0, path.size() - 5) : path;
  const BlissFrames added{entry.path, named.substr(named.rfind('/') + 1), frames->shape()[0]};
  if (found.projections.empty() && found.flats.empty() && found.darks.empty())
    note_absolute_link(file, path, found.info.notes);
  (kind == EntryKind::dark ? scan.darks : kind == EntryKind::flat ? scan.flats : scan.views).push_back(added);
  (kind == EntryKind::dark   ? found.darks
   : kind == EntryKind::flat ? found.flats
                             : found.projections)
      .push_back(std::move(frames));
}

/// The entries up to the settings of a second scan, with what they say about motors.
BlissScan scan_in(const hdf5::File& file, Acquisition& found) {
  BlissScan scan;
  bool has_views = false;
  for (const BlissEntry& entry : entries_of(file)) {
    if (kind_of_entry(entry.title) == EntryKind::settings && has_views) {
      found.info.notes.push_back("another scan begins at " + entry.path + "; only the first one is read");
      break;
    }
    has_views |= kind_of_entry(entry.title) == EntryKind::views;
    read_bliss_config(file, entry.path, scan.config);
    scan.entries.push_back(entry);
  }
  return scan;
}

/// Leaves out entries of views that come again, as after a first try. @pre the pitch is known if it is
/// recorded
void leave_out_repeated(const hdf5::File& file, BlissScan& scan, Acquisition& found) {
  const double half_a_bin = 0.5 * found.info.pixel_size_mm.value_or(0);
  const std::vector<std::size_t> repeated =
      repeated_bliss_entries(file, scan.config, scan.views, half_a_bin, found.info.notes);
  for (auto k = repeated.rbegin(); k != repeated.rend(); ++k) {
    scan.views.erase(scan.views.begin() + *k);
    found.projections.erase(found.projections.begin() + *k);
  }
}

std::optional<Acquisition> find_bliss(const hdf5::File& file, const OpenOptions& options) {
  Acquisition found;
  std::vector<std::string>& notes = found.info.notes;
  BlissScan scan = scan_in(file, found);
  Distances distances;
  Index left_out = 0;
  for (const BlissEntry& entry : scan.entries) {
    const EntryKind kind = kind_of_entry(entry.title);
    read_technique(file, entry, found, distances);
    heed(bliss_fields, file.name() + ": " + entry.path, values_in(file, entry.path), notes);
    left_out += kind == EntryKind::other;
    if (kind != EntryKind::settings && kind != EntryKind::other) add_frames(file, entry, kind, scan, found);
  }
  if (found.projections.empty()) return std::nullopt;
  take_distances(distances, found);
  leave_out_repeated(file, scan, found);
  for (const BlissEntry& entry : scan.entries) read_flips(file, entry, scan.views.front().camera, found);
  take_exposures({"acq_expo_time", bliss_exposures(file, scan.views, notes),
                  bliss_exposures(file, scan.flats, notes), bliss_exposures(file, scan.darks, notes)},
                 found.info);
  read_bliss_frames(file, scan.config, scan.views, options, found);
  if (left_out > 0)
    notes.push_back(std::to_string(left_out) +
                    " entries with other titles than darks, references and projections are left out");
  return found;
}

}  // namespace

Layout bliss_layout() { return {.name = "BLISS", .needed = {}, .fields = bliss_fields, .find = find_bliss}; }

}  // namespace tandem::io
