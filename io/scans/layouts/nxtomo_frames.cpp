// What an NXtomo file has for each frame: angles, times, monitor, exposures and translations.

#include <algorithm>
#include <numeric>

#include "../../files/text.hpp"
#include "../recorded.hpp"
#include "../scan_facts.hpp"
#include "nxtomo.hpp"

namespace tandem::io {

namespace {

void read_angles(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                 Acquisition& found) {
  const std::string usual = places.entry + "/sample/rotation_angle";
  found.angles_where = file.name() + ": " + (places.angles.empty() ? usual : places.angles);
  if (places.angles.empty() && file.external_link(usual))
    found.angles_where += ", which " + file.why_unopened(usual);
  if (places.angles.empty()) return;
  const hdf5::DataSet set = file.data_set(places.angles);
  const std::optional<std::string> unit = set.text("units");
  const double factor = radians_per(unit.value_or("deg"), set.where());
  found.angles_have_unit = unit.has_value();
  std::vector<double> angles = set.numbers();
  for (double& angle : angles) angle *= factor;
  // the standard has one for each frame, and some files have one for each projection; open_scan checks the
  // number
  if (angles.size() != keys.size()) {
    found.angles = std::move(angles);
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == 0) found.angles.push_back(angles[i]);
}

std::vector<double> of_kind(const std::vector<double>& all, const std::vector<int>& keys, int kind) {
  std::vector<double> some;
  for (std::size_t i = 0; i < std::min(all.size(), keys.size()); ++i)
    if (keys[i] == kind) some.push_back(all[i]);
  return some;
}

PerFrame by_kind(const std::vector<double>& all, const std::vector<int>& keys) {
  return {of_kind(all, keys, 0), of_kind(all, keys, 1)};
}

/// Sets the times of frames: their sequence numbers, or else their times.
void read_times(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                ScanInfo& info) {
  std::vector<double> numbers = recorded_numbers(file, places.detector + "/sequence_number", info.notes);
  if (numbers.size() != keys.size()) {
    numbers.resize(keys.size());
    std::iota(numbers.begin(), numbers.end(), 0.0);
  }
  info.times = by_kind(numbers, keys);
}

void read_exposures(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                    ScanInfo& info) {
  const std::string path = places.detector + "/count_time";
  const std::vector<double> times = recorded_of_frames(file, path, std::ssize(keys), info.notes);
  take_exposures({path, of_kind(times, keys, 0), of_kind(times, keys, 1), of_kind(times, keys, 2)}, info);
}

/// Reads the monitor. The current of a ring is multiplied by the times of exposure; counts depend on these
/// already.
void read_monitor(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                  ScanInfo& info) {
  const std::string path = places.entry + "/control/data";
  if (!file.has(path)) return;
  std::vector<double> monitor = recorded_numbers(file, path, info.notes);
  if (monitor.size() != keys.size()) {
    if (!monitor.empty())
      info.notes.push_back(path + " is left out: it has " + std::to_string(monitor.size()) + " numbers for " +
                           std::to_string(keys.size()) + " frames");
    return;
  }
  info.monitor = by_kind(monitor, keys);
  const std::string unit = in_lower_case(file.data_set(path).text("units").value_or(""));
  if (info.exposures.views.empty() || (unit != "a" && unit != "ma" && !unit.starts_with("amp"))) return;
  for (std::size_t k = 0; k < info.monitor.views.size(); ++k)
    info.monitor.views[k] *= info.exposures.views[k];
  for (std::size_t k = 0; k < info.monitor.flats.size(); ++k)
    info.monitor.flats[k] *= info.exposures.flats[k];
}

/// The position of the sample in each view, in mm; empty if the file does not say it.
std::vector<double> positions_mm(const hdf5::File& file, const std::string& path,
                                 const std::vector<int>& keys, std::vector<std::string>& notes) {
  std::vector<double> all = recorded_numbers(file, path, notes);
  if (all.size() < 2) return {};
  const std::string unit = file.data_set(path).text("units").value_or("m");
  const std::optional<double> mm = mm_per(unit);
  const std::size_t views = std::ranges::count(keys, 0);
  if (all.size() == keys.size()) all = of_kind(all, keys, 0);
  if (!mm || all.size() != views) {
    notes.push_back(path + " is left out: " +
                    (mm ? "it has neither a number of each frame nor one of each view"
                        : "units = \"" + unit + "\" is no length"));
    return {};
  }
  for (double& value : all) value *= *mm;
  return all;
}

void read_translations(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                       const OpenOptions& options, Acquisition& found) {
  const auto motion = [&](char letter) {
    const std::string path = places.entry + "/sample/" + letter + "_translation";
    return Motion{path, positions_mm(file, path, keys, found.info.notes)};
  };
  const Motion x = motion('x'), y = motion('y'), z = motion('z');
  const bool nexus = nxtomo_frame_of(file, places) == NXtomoFrame::nexus;
  take_motions(nexus ? Motions{x, y, z} : Motions{y, z, x}, options, found);
}

}  // namespace

void read_nxtomo_frames(const hdf5::File& file, const NXtomoPlaces& places, const std::vector<int>& keys,
                        const OpenOptions& options, Acquisition& found) {
  read_angles(file, places, keys, found);
  read_times(file, places, keys, found.info);
  read_exposures(file, places, keys, found.info);
  read_monitor(file, places, keys, found.info);
  read_translations(file, places, keys, options, found);
}

}  // namespace tandem::io
