#pragma once

// Text files that lie beside images and say how they were taken. Used only within io/.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../fields.hpp"
#include "../geometries/geometry_file.hpp"
#include "../scan_reader.hpp"

namespace tandem::io {

/// The contents of such a file. Lengths are in mm, and angles in degrees.
struct ScanSettings {
  std::string format;            ///< "Nikon XTEK"
  std::string prefix;            ///< how names of images begin, before their numbers; empty: any name
  std::filesystem::path folder;  ///< folder of the images within that of the file; empty: the same

  std::optional<Index> views;           ///< planned number of views
  std::string plan;                     ///< name of the file with this number; empty: this file
  bool goes_back = false;               ///< whether later images were taken on the way back
  Index first_number = 0;               ///< number of the first view in the names
  double first_deg = 0;                 ///< angle of the first view
  std::optional<double> step_deg;       ///< angle from one number to the next
  std::optional<double> arc_deg;        ///< in the place of steps: angle from the first view to the last one
  std::vector<double> degrees;          ///< in the place of steps and arc: angle of each planned view
  std::optional<ViewGeometry> vectors;  ///< in the place of all angles: views in the order of their names

  std::optional<Index> bins, rows;  ///< size of an image
  std::optional<double> pixel_size_mm, row_pitch_mm;
  std::optional<double> axis_bin, axis_offset;          ///< bin of the axis; or bins from the middle
  std::string axis_note;                                ///< what a user who takes this axis should know
  std::optional<double> midplane_row, midplane_offset;  ///< row of the midplane; or rows from the middle
  std::optional<double> roll_deg, tilt_deg;             ///< as in ScanInfo
  std::optional<double> sod_mm, sdd_mm;                 ///< distances of a cone beam
  std::optional<double> energy_kev, propagation_mm;

  std::optional<double> white_level;  ///< counts without a sample in images that are corrected by flats
  bool flats_name_views = false;      ///< whether a name of a flat ends with the number of the next view
  /// Images of the one series that are no views: darks come first, then flats, then views, then flats again.
  Index darks_before = 0, flats_around = 0;
  Index summed_darks = 1;  ///< number of darks whose sum is the image "darkend"
  std::vector<std::string> notes;
};

/// A format of such files. Each format has a file in this folder and a line in table.cpp.
struct SettingsFormat {
  std::string_view name;   ///< "Nikon XTEK"
  std::string_view files;  ///< "*.xtekct"; empty: as a format before
  bool only_named;         ///< whether it counts only if the user names it, and not just beside images
  bool (*recognises)(const std::filesystem::path& path);    ///< by the name, and if needed by the content
  ScanSettings (*read)(const std::filesystem::path& path);  ///< @throws FileError
  std::span<const Field> fields = {};
  /// Whether another file of the folder counts in its place. Null means never.
  bool (*yields)(const std::filesystem::path& path) = nullptr;
};

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
