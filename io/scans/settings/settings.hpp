#pragma once

// Text files that lie beside images and say how they were taken. Used only within io/.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../../geometry/beams/flexible.hpp"
#include "../fields.hpp"
#include "../scan_reader.hpp"

namespace tandem::io {

/// What such a file says. Lengths are in mm, angles in degrees.
struct ScanSettings {
  std::string format;            ///< "Nikon XTEK"
  std::string prefix;            ///< of the names of images, before their numbers; empty: of any name
  std::filesystem::path folder;  ///< of the images, below that of the file; empty: that one

  std::optional<Index> views;         ///< that were planned
  std::string plan;                   ///< the name of the file that says so; empty: this one
  bool goes_back = false;             ///< images with later numbers were taken on the way back
  Index first_number = 0;             ///< of the first view, in the names
  double first_deg = 0;               ///< its angle
  std::optional<double> step_deg;     ///< from one number to the next
  std::optional<double> arc_deg;      ///< in its place: from the first view to the last one
  std::vector<double> degrees;        ///< in the place of both: the angle of each view that was planned
  std::vector<FlexibleView> vectors;  ///< of views in the order of their names, in the place of all the rest

  std::optional<Index> bins, rows;  ///< of an image
  std::optional<double> pixel_size_mm, row_pitch_mm;
  std::optional<double> axis_bin, axis_offset;          ///< in bins; or from the middle of the detector
  std::string axis_note;                                ///< what the user should know who takes that axis
  std::optional<double> midplane_row, midplane_offset;  ///< in rows; or from the middle
  std::optional<double> roll_deg, tilt_deg;             ///< as ScanInfo has them
  std::optional<double> sod_mm, sdd_mm;                 ///< of a cone beam
  std::optional<double> energy_kev, propagation_mm;

  std::optional<double> white_level;  ///< counts without a sample in images that are corrected by flats
  bool flats_name_views = false;      ///< the last number in the name of a flat is that of the view after it
  Index summed_darks = 1;             ///< the image "darkend" is the sum of so many
  std::vector<std::string> notes;
};

/// A format of such files. Each has a file in this folder and a line in table.cpp.
struct SettingsFormat {
  std::string_view name;   ///< "Nikon XTEK"
  std::string_view files;  ///< "*.xtekct"
  bool only_named;         ///< it counts only if the user gives its name, not for lying beside images
  bool (*recognises)(const std::filesystem::path& path);    ///< by name, and by content where that is needed
  ScanSettings (*read)(const std::filesystem::path& path);  ///< @throws FileError
  std::span<const Field> fields = {};
  /// Whether another file of the folder counts in its place. Null: never.
  bool (*yields)(const std::filesystem::path& path) = nullptr;
};

/// All formats.
std::span<const SettingsFormat> settings_formats();

/// The names of the files of all formats, as messages list them.
std::string settings_files();

/// The format of a file; null if it is none of these.
const SettingsFormat* settings_format_of(const std::filesystem::path& path);

/// Reads a file of settings, and checks what all formats share. @throws FileError
ScanSettings read_settings(const std::filesystem::path& path);

/// The folder of the images that a file of settings describes.
std::filesystem::path image_folder_of(const std::filesystem::path& path, const ScanSettings& settings);

/// The files of a folder that say how its images were taken, in alphabetical order.
std::vector<std::filesystem::path> settings_in(const std::filesystem::path& folder);

}  // namespace tandem::io
