// YXLON (Comet): ScanParameter.xml beside a folder "Projections" or "Projektionen". Keys, units and signs are
// as in TIGRE 3, YXLONDataLoader.py: distances and offsets count in bins of PixelPitch.

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* leaning = "the detector leans in a way that is not known; see {detector-roll}";
constexpr Field yxlon_fields[] = {
    {"ScanTrajectory/Fod", "", Use::obeyed, "from source to axis"},
    {"ScanTrajectory/Fdd", "", Use::obeyed, "from source to detector"},
    {"ScanTrajectory/PixelPitch", "", Use::obeyed, "the unit of both, and of offsets"},
    {"ScanTrajectory/NumberOfProjections", "", Use::obeyed, "the number of views"},
    {"ScanTrajectory/StartAngle", "0", Use::obeyed, "the angle of the first view"},
    {"ScanTrajectory/Rotation", "", Use::obeyed, "the arc of the views, without its end"},
    {"PixelSize/Width", "", Use::obeyed, "the pitch of bins"},
    {"PixelSize/Height", "", Use::obeyed, "the pitch of rows"},
    {"ProjectionSize/Width", "", Use::obeyed, "bins, which the images must have"},
    {"ProjectionSize/Height", "", Use::obeyed, "rows, which the images must have"},
    {"ProjectionBitdepth", "", Use::obeyed, "the flat of images that are corrected: the largest number"},
    {"HorizontalDetectorOffset", "0", Use::obeyed, "the axis"},
    {"VerticalDetectorOffset", "0", Use::obeyed, "the midplane"},
    {"ScanTrajectory/YoCenter", "0", Use::noted,
     "the axis beside the beam; its sign is not known: {rotation-axis} auto finds the axis"},
    {"DetectorTiltA", "0", Use::noted, leaning},
    {"DetectorTiltB", "0", Use::noted, leaning},
    {"DetectorTiltC", "0", Use::noted, leaning},
    {"DetectorOrientation", "original", Use::noted, "images may be turned; see {orient}"},
    {"DetectorFlipDirections", "none", Use::noted, "images may be mirrored; see {orient}"}};

bool is_yxlon(const fs::path& path) {
  return in_lower_case(path.extension().string()) == ".xml" &&
         start_of_text(path).find("<conebeamscanparameter") != std::string::npos;
}

ScanSettings read_yxlon(const fs::path& path) {
  const KeyValues text = KeyValues::of_xml(path);
  require<FileError>(start_of_text(path).find("circletrajectory") != std::string::npos, text.name(),
                     ": its ScanTrajectory is no CircleTrajectory; only circles are reconstructed");
  const auto in_bins = [&](const char* key) {
    const std::optional<double> pitch = text.positive("ScanTrajectory/PixelPitch");
    const std::optional<double> bins = text.positive(std::string("ScanTrajectory/") + key);
    require<FileError>(pitch && bins, text.name(), ": has no ", key,
                       " or no PixelPitch; the file is damaged");
    return *bins * *pitch;
  };
  ScanSettings found;
  std::error_code fault;
  for (const char* name : {"Projections", "Projektionen"})
    if (fs::is_directory(path.parent_path() / name, fault)) found.folder = name;
  found.sod_mm = in_bins("Fod");
  found.sdd_mm = in_bins("Fdd");
  found.pixel_size_mm = text.positive("PixelSize/Width");
  found.row_pitch_mm = text.positive("PixelSize/Height");
  found.bins = text.count("ProjectionSize/Width");
  found.rows = text.count("ProjectionSize/Height");
  found.views = text.count("ScanTrajectory/NumberOfProjections");
  found.first_deg = text.number("ScanTrajectory/StartAngle").value_or(0);
  if (const auto arc = text.number("ScanTrajectory/Rotation"); arc && found.views)
    found.step_deg = -*arc / (*found.views);
  if (const auto bits = text.count("ProjectionBitdepth"); bits && *bits <= 16)
    found.white_level = (1 << *bits) - 1;
  found.axis_offset = text.number("HorizontalDetectorOffset");
  found.midplane_offset = text.number("VerticalDetectorOffset");
  if (found.axis_offset.value_or(0) != 0)
    found.axis_note = "the axis is moved by HorizontalDetectorOffset, with the sign of TIGRE 3; " +
                      spelled("rotation-axis") + " auto finds where it was";
  heed(yxlon_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat yxlon_settings{"YXLON",  "ScanParameter.xml", false,
                                           is_yxlon, read_yxlon,          yxlon_fields};

}  // namespace tandem::io
