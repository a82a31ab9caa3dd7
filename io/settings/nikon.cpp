// Nikon XTEK: NAME.xtekct beside NAME_0001.tif, ... Geometry and sense of rotation as in CIL 26,
// NikonDataReader.py: the views are seen from behind the detector, and the sample turns clockwise. So views
// that are read as if they were seen from the source turn the other way.

#include <cmath>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

bool is_xtekct(const fs::path& path) { return in_lower_case(path.extension().string()) == ".xtekct"; }

/// Where the axis falls, in mm from the middle of the detector. Newer files have ObjectOffsetX, older ones
/// the positions at the upper and the lower edge of the detector.
std::optional<double> axis_offset_mm(const KeyValues& text, double magnification) {
  if (const auto offset = text.number("ObjectOffsetX")) return *offset * magnification;
  const std::optional<double> top = text.number("CentreOfRotationTop"),
                              bottom = text.number("CentreOfRotationBottom");
  if (!top && !bottom) return std::nullopt;
  return (top.value_or(0) + bottom.value_or(0)) / 2;
}

void note_tilts(const KeyValues& text, ScanSettings& found) {
  for (const char* key : {"ObjectTilt", "ObjectRoll"})
    if (const auto angle = text.number(key); angle && *angle != 0)
      found.notes.push_back(text.name() + ": " + key + " = " + text.text(key) + " deg is left out");
}

ScanSettings read(const fs::path& path) {
  const KeyValues text(path, '=');
  ScanSettings found;
  const auto needed = [&](const char* key) {
    const std::optional<double> value = text.positive(key);
    require<FileError>(value.has_value(), text.name(), ": has no ", key, "; the file is damaged");
    return *value;
  };
  found.sod_mm = needed("SrcToObject");
  found.sdd_mm = needed("SrcToDetector");
  found.pixel_size_mm = needed("DetectorPixelSizeX");
  found.row_pitch_mm = needed("DetectorPixelSizeY");
  found.bins = text.count("DetectorPixelsX");
  found.rows = text.count("DetectorPixelsY");
  found.views = text.count("Projections");
  found.first_number = 1;
  found.white_level = text.positive("WhiteLevel");
  if (const auto step = text.number("AngularStep")) found.step_deg = -*step;
  found.first_deg = -text.number("InitialAngle").value_or(0);
  if (const auto mm = axis_offset_mm(text, *found.sdd_mm / *found.sod_mm))
    found.axis_offset = *mm / *found.pixel_size_mm;
  note_tilts(text, found);
  if (const std::string name = text.text("Name"); !name.empty())
    found.prefix = name + text.text("InputSeparator");
  const std::string folder = text.text("InputFolderName");
  if (folder.find_first_of("\\/:") == std::string::npos && folder != "..") found.folder = folder;
  return found;
}

}  // namespace

extern const SettingsFormat nikon_settings{"Nikon XTEK", "*.xtekct", false, is_xtekct, read};

}  // namespace tandem::io
