// Motors of BLISS files: which one turns, which ones move the sample, and times of exposure. Names and their
// order are those of nxtomomill (settings, converter/hdf5).

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/text.hpp"
#include "../angular_range.hpp"
#include "../recorded.hpp"
#include "../scan_facts.hpp"
#include "bliss.hpp"

namespace tandem::io {

namespace {

constexpr Index most_names = 64;

/// The names in a data set of texts, or in one text '["a", "b"]'.
std::vector<std::string> names_at(const hdf5::File& file, const std::string& path) {
  const std::optional<hdf5::DataSet> set = file.find(path);
  std::vector<std::string> names;
  if (!set || set->holds_numbers()) return names;
  for (const std::string& text : set->texts(most_names)) {
    std::istringstream pieces(text);
    for (std::string piece; std::getline(pieces, piece, ',');)
      if (const auto name = trimmed(piece, " \t\r\n[]()'\""); !name.empty()) names.emplace_back(name);
  }
  return names;
}

bool is_true(const hdf5::File& file, const std::string& path) {
  const std::optional<hdf5::DataSet> set = file.find(path);
  if (!set) return false;
  if (const auto flag = set->flag()) return *flag;
  const std::string text = in_lower_case(std::string(trimmed(set->text().value_or(""))));
  return text == "true" || text == "1";
}

/// The position of a motor in each frame, from the measurements, or one position from the positioners. There
/// may be one more position after the last frame.
std::vector<double> positions_of(const hdf5::File& file, const BlissFrames& entry, const std::string& motor,
                                 double per_unit(const std::string& unit, const std::string& where),
                                 const std::string& default_unit) {
  for (const char* group : {"/measurement/", "/instrument/positioners/"}) {
    const std::optional<hdf5::DataSet> set = file.find(entry.path + group + motor);
    if (!set || !set->holds_numbers() || set->shape().size() > 1) continue;
    const Index count = set->size();
    if (count != 1 && count != entry.count && count != entry.count + 1) continue;
    std::vector<double> values = set->numbers();
    values.resize(entry.count, values.front());
    const double unit = per_unit(set->text("units").value_or(default_unit), set->where());
    for (double& value : values) value *= unit;
    return values;
  }
  return {};
}

double mm_or_zero(const std::string& unit, const std::string&) { return mm_per(unit).value_or(0); }

double span_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(values);
  return most - least;
}

/// The motors with "rot" or "rz" in their names, except translations, and their positions in the views. Two
/// names of one motor count once.
std::map<std::string, std::vector<double>> turning_motors(const hdf5::File& file, const BlissFrames& entry) {
  constexpr std::array translations{"xrot", "yrot", "zrot", "hrz"};
  std::map<std::string, std::vector<double>> motors;
  for (const std::string& name : file.names(entry.path + "/measurement")) {
    if (name.find("rot") == std::string::npos && name.find("rz") == std::string::npos) continue;
    if (std::ranges::find(translations, name) != translations.end()) continue;
    const auto set = file.find(entry.path + "/measurement/" + name);
    if (!set || set->shape().size() != 1 || mm_per(set->text("units").value_or(""))) continue;
    std::vector<double> values = positions_of(file, entry, name, radians_per, "deg");
    const bool alias = std::ranges::any_of(motors, [&](const auto& other) { return other.second == values; });
    if (!values.empty() && !alias) motors[name] = std::move(values);
  }
  return motors;
}

/// The motor that turns by far the most, if there is no configuration. @throws FileError if two do
std::vector<std::string> guessed_rotation(const hdf5::File& file, const std::vector<BlissFrames>& views,
                                          bool needed) {
  const BlissFrames& most = *std::ranges::max_element(views, {}, &BlissFrames::count);
  const std::map<std::string, std::vector<double>> motors = turning_motors(file, most);
  double widest = 0;
  for (const auto& [name, values] : motors) widest = std::max(widest, span_of(values));
  std::vector<std::string> names;
  for (const auto& [name, values] : motors)
    if (motors.size() == 1 || span_of(values) > widest / 2) names.push_back(name);
  require<FileError>(names.size() <= 1 || !needed, file.name(), ": ", most.path,
                     "/measurement: ", names.empty() ? "" : names.front(), " and ",
                     names.empty() ? "" : names.back(),
                     " may both be the rotation, and no technique/tomoconfig tells which; give " +
                         spelled("angles") + " FILE or " + spelled("arc") + " DEG");
  return names;
}

/// The motor of `technique/scan/motor`, which is a list such as "rotation", "hrsrot", ...
std::vector<std::string> rotation_in_technique(const hdf5::File& file, const std::string& entry) {
  for (const char* path : {"/technique/scan/motor", "/technique/proj/motor"}) {
    const std::vector<std::string> names = names_at(file, entry + path);
    const auto found = std::ranges::find(names, "rotation");
    if (found != names.end() && found + 1 != names.end()) return {*(found + 1)};
  }
  return {};
}

/// The angles of an entry, rad, by the first motor that has them; empty if none has. An alias may be there
/// that did not move.
std::vector<double> angles_of(const hdf5::File& file, const BlissFrames& entry,
                              const std::vector<std::string>& motors) {
  for (const std::string& motor : motors) {
    std::vector<double> angles = positions_of(file, entry, motor, radians_per, "deg");
    if (!angles.empty() && (entry.count == 1 || span_of(angles) > 0)) return angles;
  }
  return {};
}

void read_angles(const hdf5::File& file, const BlissConfig& config, const std::vector<BlissFrames>& views,
                 const OpenOptions& options, Acquisition& found) {
  const bool given = !options.angles.empty() || options.arc_deg;
  const std::vector<std::string> motors =
      config.rotation.empty() ? guessed_rotation(file, views, !given) : config.rotation;
  found.angles_where = file.name() + ": " + views.front().path + "/measurement: positions of " +
                       (motors.empty() ? "a rotation motor" : motors.front());
  for (const BlissFrames& entry : views)
    for (const double angle : angles_of(file, entry, motors))
      found.angles.push_back(config.clockwise ? -angle : angle);
  if (config.clockwise && !given)
    found.info.notes.emplace_back("rotation_is_clockwise: angles count backwards");
}

/// The sum of the motions of the stages below and above the axis; empty if neither is known in all views.
Motion motion_of(const hdf5::File& file, const std::vector<BlissFrames>& views,
                 const std::vector<std::string>& below, const std::vector<std::string>& above) {
  Motion motion;
  for (const BlissFrames& entry : views) {
    std::vector<double> sum(entry.count, 0.0);
    for (const auto* motors : {&below, &above})
      for (const std::string& motor : *motors) {
        const std::vector<double> positions = positions_of(file, entry, motor, mm_or_zero, "mm");
        for (std::size_t k = 0; k < positions.size(); ++k) sum[k] += positions[k];
        if (positions.empty()) continue;
        if (motion.where.find(motor) == std::string::npos)
          motion.where += (motion.where.empty() ? "" : " + ") + motor;
        break;
      }
    motion.positions_mm.insert(motion.positions_mm.end(), sum.begin(), sum.end());
  }
  return motion;
}

/// The motors along the axis.
std::vector<std::string> motors_up(const BlissConfig& config) {
  return config.up.empty() ? std::vector<std::string>{"sz", "difftz", "hrz", "pz", "ntz", "samtz", "mrsz"}
                           : config.up;
}

/// Notes the translation across the beam, which nxtomomill takes as the position of the axis. That is right
/// only if its zero was set with the axis in the middle of the detector, so it is not obeyed.
void note_stage_aside(const Motion& across, ScanInfo& info) {
  if (info.axis_bin || !info.pixel_size_mm || across.positions_mm.empty()) return;
  const double bins = across.positions_mm.front() / *info.pixel_size_mm;
  constexpr double seen = 0.5;
  if (std::abs(bins) <= seen) return;
  info.notes.push_back(words(across.where, " stands ", bins,
                             " bins aside: if its zero is the middle of the detector, the axis is as far "
                             "from the middle; it is not moved, give " +
                                 spelled("rotation-axis")));
}

}  // namespace

std::vector<std::size_t> repeated_bliss_entries(const hdf5::File& file, const BlissConfig& config,
                                                const std::vector<BlissFrames>& views, double same_height_mm,
                                                std::vector<std::string>& notes) {
  if (views.size() < 2) return {};
  const std::vector<std::string> motors =
      config.rotation.empty() ? guessed_rotation(file, views, false) : config.rotation;
  std::vector<AngularRange> ranges;
  std::vector<double> heights_mm;
  for (const BlissFrames& entry : views) {
    ranges.emplace_back(angles_of(file, entry, motors));
    heights_mm.push_back(motion_of(file, {entry}, motors_up(config), {}).positions_mm.front());
  }
  std::vector<std::size_t> repeated;
  for (std::size_t k = 0; k < views.size(); ++k)
    for (std::size_t later = k + 1; later < views.size(); ++later) {
      const bool same_height = std::abs(heights_mm[k] - heights_mm[later]) <= same_height_mm;
      if (!same_height || !ranges[later].repeats(ranges[k])) continue;
      const std::string both = words(views[k].path, " (", ranges[k].in_degrees(), ") and ", views[later].path,
                                     " (", ranges[later].in_degrees(), ") have views of the same angles; ");
      require<FileError>(ranges[later].covers(ranges[k]), file.name(), ": ", both,
                         "make an NXtomo of the entries that are one scan");
      notes.push_back(both + "the last is taken, and " + views[k].path + " is left out");
      repeated.push_back(k);
      break;
    }
  return repeated;
}

void read_bliss_config(const hdf5::File& file, const std::string& entry, BlissConfig& config) {
  const std::string group = entry + "/technique/tomoconfig/";
  const auto take = [&](const char* key, std::vector<std::string>& names) {
    if (names.empty()) names = names_at(file, group + key);
  };
  take("rotation", config.rotation);
  if (config.rotation.empty()) config.rotation = rotation_in_technique(file, entry);
  take("detector", config.camera);
  take("translation_x", config.along), take("translation_y", config.across), take("translation_z", config.up);
  take("sample_x", config.sample_along), take("sample_y", config.sample_across);
  config.clockwise |= is_true(file, group + "rotation_is_clockwise");
}

void read_bliss_frames(const hdf5::File& file, const BlissConfig& config,
                       const std::vector<BlissFrames>& views, const OpenOptions& options,
                       Acquisition& found) {
  read_angles(file, config, views, options, found);
  const std::vector<std::string> across =
      config.across.empty() ? std::vector<std::string>{"yrot", "diffty", "hry"} : config.across;
  const Motions motions{motion_of(file, views, across, config.sample_across),
                        motion_of(file, views, motors_up(config), {}),
                        motion_of(file, views, config.along, config.sample_along)};
  note_stage_aside(motions.across, found.info);
  take_motions(motions, options, found);
}

std::vector<double> bliss_exposures(const hdf5::File& file, const std::vector<BlissFrames>& entries,
                                    std::vector<std::string>& notes) {
  std::vector<double> all;
  for (const BlissFrames& entry : entries) {
    std::vector<double> own;
    for (const std::string& path :
         {"/instrument/" + entry.camera + "/acq_parameters/acq_expo_time", std::string("/acq_expo_time"),
          std::string("/measurement/acq_expo_time"), "/instrument/" + entry.camera + "/acq_expo_time"})
      if (own.empty()) own = recorded_of_frames(file, entry.path + path, entry.count, notes);
    if (own.empty()) return {};
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace tandem::io
