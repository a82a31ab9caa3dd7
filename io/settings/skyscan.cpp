// SkyScan (Bruker micro-CT): NAME.log beside NAME0000.tif, ... Distances, steps and the pitch at the sample
// are those of the group [Acquisition].

#include "../../core/error.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr double parallel_mm = 1e5;  // instruments without a point source write 1e6 or more

bool is_log(const fs::path& path) {
  if (in_lower_case(path.extension().string()) != ".log" || path.stem().string().ends_with("_rec"))
    return false;
  const std::string text = start_of_text(path);
  return text.find("[acquisition]") != std::string::npos &&
         text.find("rotation step (deg)") != std::string::npos;
}

void read_distances(const KeyValues& text, ScanSettings& found) {
  const std::optional<double> sod = text.positive("Object to Source (mm)");
  const std::optional<double> pixel_um = text.positive("Image Pixel Size (um)");  // at the sample
  if (pixel_um) found.pixel_size_mm = *pixel_um / 1000;
  if (!sod || *sod >= parallel_mm) return;
  found.sod_mm = sod;
  found.sdd_mm = text.positive("Camera to Source (mm)");
  require<FileError>(
      found.sdd_mm && found.pixel_size_mm, text.name(),
      ": has no Camera to Source (mm) or no Image Pixel Size (um); both are needed for a cone beam");
  *found.pixel_size_mm *= *found.sdd_mm / *found.sod_mm;
}

/// Lines are counted from the lower edge of the detector.
void read_midplane(const KeyValues& text, ScanSettings& found) {
  const std::optional<double> line = text.number("Optical Axis (line)");
  if (line && found.rows) found.midplane_row = static_cast<double>(*found.rows - 1) - *line;
}

ScanSettings read(const fs::path& path) {
  const KeyValues text(path, '=');
  ScanSettings found;
  read_distances(text, found);
  found.bins = text.count("Number Of Columns");
  found.rows = text.count("Number Of Rows");
  read_midplane(text, found);
  found.views = text.count("Number Of Files");
  found.prefix = text.text("Filename Prefix");
  const bool clockwise = in_lower_case(text.text("Rotation Direction")) == "cw";
  if (const auto step = text.positive("Rotation Step (deg)")) found.step_deg = clockwise ? *step : -*step;
  if (in_lower_case(text.text("Flat Field Correction")) == "on")
    found.white_level = text.positive("Reference Intensity");
  found.notes.push_back(
      std::string("the sense of rotation is taken from Rotation Direction = ") + (clockwise ? "CW" : "CC") +
      ", for images as the source sees them; if slices are blurred, " + "give --rotation-direction -1");
  return found;
}

}  // namespace

extern const SettingsFormat skyscan_settings{"SkyScan", "*.log", false, is_log, read};

}  // namespace tandem::io
