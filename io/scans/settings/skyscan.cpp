// SkyScan (Bruker micro-CT): NAME.log beside NAME0000.tif, ... The group [Acquisition] has distances, steps
// and the pitch at the sample.

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr double parallel_mm = 1e5;  // instruments without a point source write 1e6 or more

constexpr const char* cut = "the images were cut; check the axis, and {midplane-row}";
constexpr Field skyscan_fields[] = {
    {"Filename Prefix", "", Use::obeyed, "how the names of the images begin"},
    {"Number Of Files", "", Use::obeyed, "the number of views"},
    {"Number Of Rows", "", Use::obeyed, "rows, which the images must have"},
    {"Number Of Columns", "", Use::obeyed, "bins, which the images must have"},
    {"Optical Axis (line)", "", Use::obeyed, "the midplane, counted from below"},
    {"Object to Source (mm)", "", Use::obeyed, "from source to axis"},
    {"Camera to Source (mm)", "", Use::obeyed, "from source to detector"},
    {"Image Pixel Size (um)", "", Use::obeyed, "the pitch at the sample"},
    {"Rotation Step (deg)", "", Use::obeyed, "from one view to the next"},
    {"Rotation Direction", "", Use::obeyed, "the sense of rotation, before Gantry direction"},
    {"Gantry direction", "", Use::obeyed, "the sense of rotation"},
    {"Scanning Start Angle", "0", Use::obeyed, "the angle of the first view"},
    {"Flat Field Correction", "OFF", Use::obeyed, "whether Reference Intensity is the flat"},
    {"Reference Intensity", "", Use::obeyed, "the flat of images that are corrected"},
    {"Scanning Trajectory", "ROUND", Use::refused, "only circles are reconstructed"},
    {"Image Rotation", "0", Use::noted,
     "degrees by which the camera is rolled; their sign is not known: try {detector-roll} with both signs, "
     "or find the roll of a parallel beam by center {roll}"},
    {"Image crop origin X", "0", Use::noted, cut},
    {"Image crop origin Y", "0", Use::noted, cut},
    {"Partial Width", "OFF", Use::noted, cut},
    {"Postalignment", "0", Use::noted,
     "bins by which another program moved the axis; {rotation-axis} auto finds it"},
    {"Number of connected scans", "1", Use::noted,
     "this is one of several scans along the axis, whose slices are joined afterwards"},
    {"Number Of Horizontal Offset Positions", "1", Use::noted,
     "images that were joined of several; check the axis and {file-type}"},
    {"Random Movement", "OFF", Use::noted, "images are taken for such that were moved back"},
    {"Camera X/Y Ratio", "1", Use::noted, "cells that are no squares; check {pixel-size}"},
    {"CameraXYRatio", "1", Use::noted, "cells that are no squares; check {pixel-size}"}};

bool is_log(const fs::path& path) {
  if (in_lower_case(path.extension().string()) != ".log" || path.stem().string().ends_with("_rec"))
    return false;
  const std::string text = start_of_text(path);
  return text.find("[acquisition]") != std::string::npos &&
         text.find("rotation step (deg)") != std::string::npos;
}

void read_distances(const KeyValues& text, ScanSettings& found) {
  const std::optional<double> sod = text.positive("Object to Source (mm)");
  const std::optional<double> pixel_um = text.positive("Image Pixel Size (um)");  // pitch at the sample
  if (pixel_um) found.pixel_size_mm = *pixel_um / 1000;
  if (!sod || *sod >= parallel_mm) return;
  found.sod_mm = sod;
  found.sdd_mm = text.positive("Camera to Source (mm)");
  require<FileError>(
      found.sdd_mm && found.pixel_size_mm, text.name(),
      ": has no Camera to Source (mm) or no Image Pixel Size (um); both are needed for a cone beam");
  *found.pixel_size_mm *= *found.sdd_mm / *found.sod_mm;
}

/// Reads the midplane. The file counts lines from the lower edge of the detector.
void read_midplane(const KeyValues& text, ScanSettings& found) {
  const std::optional<double> line = text.number("Optical Axis (line)");
  if (line && found.rows) found.midplane_row = *found.rows - 1 - *line;
}

/// Reads the angles. If neither key gives a direction, the sample turns as most do.
void read_angles(const KeyValues& text, ScanSettings& found) {
  const char* key = text.has("Rotation Direction") ? "Rotation Direction" : "Gantry direction";
  const std::string said = text.text(key);
  const double sense = in_lower_case(said) == "cw" ? 1 : -1;
  if (const auto step = text.positive("Rotation Step (deg)")) found.step_deg = sense * *step;
  found.first_deg = sense * text.number("Scanning Start Angle").value_or(0);
  found.notes.push_back((said.empty()
                             ? text.name() + " has no Rotation Direction; CC is taken"
                             : "the sense of rotation is taken from " + std::string(key) + " = " + said) +
                        ", for images as the source sees them; if slices are blurred, give " +
                        spelled("rotation-direction") + " -1");
}

/// The value of a key; "OFF (30)" becomes "OFF", since the number does not matter.
std::optional<std::string> first_word(const KeyValues& text, std::string_view key) {
  const std::string value = text.text(std::string(key));
  return key == "Random Movement" ? value.substr(0, value.find(' ')) : value;
}

ScanSettings read_skyscan(const fs::path& path) {
  const KeyValues text(path, '=');
  ScanSettings found;
  read_distances(text, found);
  found.bins = text.count("Number Of Columns");
  found.rows = text.count("Number Of Rows");
  read_midplane(text, found);
  found.views = text.count("Number Of Files");
  found.prefix = text.text("Filename Prefix");
  read_angles(text, found);
  if (in_lower_case(text.text("Flat Field Correction")) == "on")
    found.white_level = text.positive("Reference Intensity");
  heed(
      skyscan_fields, text.name(), [&](std::string_view key) { return first_word(text, key); }, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat skyscan_settings{"SkyScan", "*.log", false, is_log, read_skyscan, skyscan_fields};

}  // namespace tandem::io
