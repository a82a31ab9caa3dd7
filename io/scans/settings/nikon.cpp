// Nikon XTEK: NAME.xtekct beside NAME_0001.tif, ... Geometry and sense of rotation as in CIL 21 and 26,
// NikonDataReader.py: the views are seen from behind the detector, and the sample turns clockwise. So views
// that are read as if they were seen from the source turn the other way. The frame of the file has x against
// the columns of the images, y along the beam and z up, against their rows.

#include <cmath>

#include "../../../core/error.hpp"
#include "../../../core/units.hpp"
#include "key_values.hpp"
#include "nikon_angles.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* hardening =
    "Nikon's correction of beam hardening and scatter; --beam-hardening corrects it here";
constexpr Field nikon_fields[] = {
    {"Name", "", Use::obeyed, "how the names of the images begin"},
    {"InputSeparator", "", Use::obeyed, "what follows in these names"},
    {"InputFolderName", "", Use::obeyed, "the folder of the images, below that of the file"},
    {"SrcToObject", "", Use::obeyed, "from source to axis"},
    {"SrcToDetector", "", Use::obeyed, "from source to detector"},
    {"DetectorPixelsX", "", Use::obeyed, "bins, which the images must have"},
    {"DetectorPixelsY", "", Use::obeyed, "rows, which the images must have"},
    {"DetectorPixelSizeX", "", Use::obeyed, "the pitch of bins"},
    {"DetectorPixelSizeY", "", Use::obeyed, "the pitch of rows"},
    {"DetectorOffsetX", "0", Use::obeyed, "the axis, to the other side"},
    {"DetectorOffsetY", "0", Use::obeyed, "the midplane"},
    {"ObjectOffsetX", "0", Use::obeyed, "the axis, before CentreOfRotation"},
    {"ObjectOffsetY", "0", Use::noted,
     "the height of the sample, which slices do not have; they count from the source"},
    {"ObjectRoll", "0", Use::obeyed, "the roll of the detector, before CentreOfRotation"},
    {"ObjectTilt", "0", Use::obeyed, "the tilt of the axis"},
    {"CentreOfRotationTop", "0", Use::obeyed, "the axis at the upper edge of the detector"},
    {"CentreOfRotationBottom", "0", Use::obeyed, "at the lower edge; if both differ, the detector is rolled"},
    {"ObjectOffsetXStart", "0", Use::noted, "an axis that moves; --view-shifts is for parallel beams only"},
    {"ObjectOffsetXEnd", "0", Use::noted, "an axis that moves; --view-shifts is for parallel beams only"},
    {"WhiteLevel", "", Use::obeyed, "the flat of images that are corrected"},
    {"Projections", "", Use::obeyed, "the number of views"},
    {"InitialAngle", "0", Use::obeyed, "the angle of the first view"},
    {"AngularStep", "", Use::obeyed, "from one view to the next"},
    {"AngleFile_Use", "False", Use::obeyed, "angles are those of NAME.ang, else of _ctdata.txt"},
    {"Pitch", "0", Use::refused, "a helix; only circles are reconstructed"},
    {"Units", "mm", Use::refused, "of lengths; mm are needed"},
    {"Scattering", "0", Use::noted, hardening},
    {"CoefX4", "0", Use::noted, hardening},
    {"CoefX3", "0", Use::noted, hardening},
    {"CoefX2", "0", Use::noted, hardening},
    {"CoefX1", "1", Use::noted, hardening},
    {"CoefX0", "0", Use::noted, hardening},
    {"BeamHardeningLUTFile", "", Use::noted, hardening}};

bool is_xtekct(const fs::path& path) { return in_lower_case(path.extension().string()) == ".xtekct"; }

/// Where the axis falls and how it leans. Newer files have ObjectOffsetX and ObjectRoll, older ones positions
/// in mm at the upper and at the lower edge of the detector.
void read_axis(const KeyValues& text, ScanSettings& found) {
  const auto number = [&](const char* key) { return text.number(key).value_or(0); };
  const double top = number("CentreOfRotationTop"), bottom = number("CentreOfRotationBottom"),
               offset = number("ObjectOffsetX"), shift = number("DetectorOffsetX"),
               rise = number("DetectorOffsetY");
  const double axis_mm =
      text.has("ObjectOffsetX") ? offset * *found.sdd_mm / *found.sod_mm : (top + bottom) / 2;
  const bool recorded = text.has("ObjectOffsetX") || text.has("CentreOfRotationTop") ||
                        text.has("CentreOfRotationBottom") || shift != 0;
  if (recorded) found.axis_offset = (axis_mm - shift) / *found.pixel_size_mm;
  if (shift != 0)
    found.axis_note =
        "the axis is moved by DetectorOffsetX, with the sign of CIL 21; --rotation-axis-auto finds where it "
        "was";
  if (rise != 0) {
    found.midplane_offset = rise / *found.row_pitch_mm;
    found.notes.emplace_back("the midplane is moved by DetectorOffsetY, with the sign of CIL 21");
  }
  const double height = static_cast<double>(found.rows.value_or(0)) * *found.row_pitch_mm;
  // the axis is turned by the roll first, and then tilted
  const double tilt = in_radians(number("ObjectTilt"));
  double roll = in_radians(number("ObjectRoll"));
  if (!text.has("ObjectRoll") && height > 0) roll = std::atan2(bottom - top, height);
  if (tilt != 0) found.tilt_deg = -in_degrees(std::asin(std::cos(roll) * std::sin(tilt)));
  if (roll != 0) found.roll_deg = in_degrees(std::atan2(std::sin(roll), std::cos(roll) * std::cos(tilt)));
}

/// The detector faces the beam, not the axis beside it: by how many bins that moves its ends.
void note_beam_beside_axis(const KeyValues& text, ScanSettings& found) {
  constexpr double said = 0.5;
  const double half = 0.5 * static_cast<double>(found.bins.value_or(0)) * *found.pixel_size_mm;
  const double turn = std::abs(text.number("ObjectOffsetX").value_or(0)) / *found.sod_mm;
  const double bins = turn * half * half / (*found.sdd_mm * *found.pixel_size_mm);
  if (bins > said)
    found.notes.push_back(text.name() + ": ObjectOffsetX = " + text.text("ObjectOffsetX") +
                          ": the axis is so far beside the beam that the ends of rows are wrong by " +
                          std::to_string(std::lround(bins)) + " bins");
}

void read_angles(const KeyValues& text, const fs::path& path, ScanSettings& found) {
  const std::optional<double> step = text.number("AngularStep");
  if (step) found.step_deg = -*step;
  found.first_deg = -text.number("InitialAngle").value_or(0);
  if (in_lower_case(text.text("AngleFile_Use")) == "true" && found.views)
    read_nikon_angles(path, text.text("Name"), found);
}

ScanSettings read_nikon(const fs::path& path) {
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
  read_axis(text, found);
  note_beam_beside_axis(text, found);
  read_angles(text, path, found);
  heed(nikon_fields, text, found.notes);
  if (const std::string name = text.text("Name"); !name.empty())
    found.prefix = name + text.text("InputSeparator");
  const std::string folder = text.text("InputFolderName");
  if (folder.find_first_of("\\/:") == std::string::npos && folder != "..") found.folder = folder;
  return found;
}

}  // namespace

extern const SettingsFormat nikon_settings{"Nikon XTEK", "*.xtekct", false,
                                           is_xtekct,    read_nikon, nikon_fields};

}  // namespace tandem::io
