#include <algorithm>
#include <array>
#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

extern const SettingsFormat flexray_settings, nikon_settings, skyscan_settings, phoenix_settings,
    north_star_settings, diondo_settings, yxlon_settings, tomcat_settings, esrf_settings, astra_settings;

std::span<const SettingsFormat> settings_formats() {
  static const std::array all{flexray_settings,    nikon_settings,  skyscan_settings, phoenix_settings,
                              north_star_settings, diondo_settings, yxlon_settings,   tomcat_settings,
                              esrf_settings,       astra_settings};
  return all;
}

std::string settings_files() { return joined(settings_formats(), ", ", &SettingsFormat::files); }

const SettingsFormat* settings_format_of(const fs::path& path) {
  const auto all = settings_formats();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SettingsFormat& format) { return format.recognises(path); });
  return found == all.end() ? nullptr : &*found;
}

ScanSettings read_settings(const fs::path& path) {
  const SettingsFormat* format = settings_format_of(path);
  ScanSettings found = format->read(path);
  found.format = format->name;
  const auto within = [&](const char* what, const std::optional<double>& value, double most) {
    require<FileError>(!value || std::abs(*value) <= most, path.string(), ": ", what, " of ",
                       value.value_or(0), "; at most ", most, " is plausible, the file is damaged");
  };
  within("an axis or a midplane at a bin or row", found.axis_bin, 1e9);
  within("an axis or a midplane at a bin or row", found.axis_offset, 1e9);
  within("an axis or a midplane at a bin or row", found.midplane_row, 1e9);
  for (const std::optional<double>& length :
       {found.sod_mm, found.sdd_mm, found.pixel_size_mm, found.row_pitch_mm})
    within("a length, in mm,", length, 1e9);
  within("a step, in degrees,", found.step_deg, 3600);
  within("an angle, in degrees,", found.first_deg, 1e6);
  require<FileError>(!found.sod_mm || !found.sdd_mm || *found.sdd_mm > *found.sod_mm, path.string(),
                     ": from source to detector ", found.sdd_mm.value_or(0), " mm, to the axis ",
                     found.sod_mm.value_or(0), " mm; the detector must lie behind the axis");
  return found;
}

fs::path image_folder_of(const fs::path& path, const ScanSettings& settings) {
  const fs::path own = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code fault;
  return !settings.folder.empty() && fs::is_directory(own / settings.folder, fault) ? own / settings.folder
                                                                                    : own;
}

std::vector<fs::path> settings_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::error_code fault;
    if (!entry.is_regular_file(fault) || entry.path().filename().string().starts_with('.')) continue;
    const SettingsFormat* format = settings_format_of(entry.path());
    const bool counts = format && !format->only_named && !(format->yields && format->yields(entry.path()));
    if (counts) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tandem::io
