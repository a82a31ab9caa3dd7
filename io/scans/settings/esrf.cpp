// Scans of the ESRF in EDF: NAME.info, or NAME.xml, beside NAME0000.edf, ... Keys are as in tomoscan,
// edfscan.py: Distance in mm, PixelSize in microns, Energy in keV.

#include <string>

#include "../../../core/error.hpp"
#include "../frame_source.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Field esrf_fields[] = {
    {"TOMO_N", "", Use::obeyed, "the number of views; images from it on were taken on the way back"},
    {"ScanRange", "", Use::obeyed, "the arc of the views, without its end"},
    {"Dim_1", "", Use::obeyed, "bins, which the images must have"},
    {"Dim_2", "", Use::obeyed, "rows, which the images must have"},
    {"PixelSize", "", Use::obeyed, "the pitch"},
    {"Energy", "", Use::obeyed, "of the photons"},
    {"Distance", "", Use::obeyed, "from sample to detector"},
    {"REF_ON", "", Use::obeyed, "how many views lie between flats: by the numbers in their names"},
    {"DARK_N", "1", Use::obeyed, "how many darks darkend is the sum of"},
    {"REF_N", "", Use::obeyed, "how many flats a set has: by their names"}};

bool is_xml(const fs::path& path) { return in_lower_case(path.extension().string()) == ".xml"; }

bool is_esrf(const fs::path& path) {
  if (in_lower_case(path.extension().string()) == ".info")
    return start_of_text(path).find("tomo_n") != std::string::npos;
  return is_xml(path) && start_of_text(path).find("<tomo_n") != std::string::npos;
}

bool esrf_yields(const fs::path& path) {
  std::error_code fault;
  return is_xml(path) && fs::exists(fs::path(path).replace_extension(".info"), fault);
}

/// A length in the unit that XML has beside it, or else in the usual unit.
std::optional<double> esrf_length_mm(const KeyValues& text, const std::string& key,
                                     const std::string& usual) {
  const std::optional<double> length = text.positive(key);
  const std::string written = text.text(key + "@unit"), unit = written.empty() ? usual : written;
  const std::optional<double> mm = mm_per(unit);
  require<FileError>(!length || mm, text.name(), ": ", key, ": unit = \"", unit,
                     "\" is no length; mm or micron is needed");
  return length ? std::optional(*length * *mm) : std::nullopt;
}

/// Reads the settings. The angle of image k is k ScanRange / TOMO_N. Images from TOMO_N on were taken on the
/// way back. FTomo adds up the darks at the end of a scan in one image.
ScanSettings read_esrf(const fs::path& path) {
  const KeyValues text = is_xml(path) ? KeyValues::of_xml(path) : KeyValues(path, '=');
  ScanSettings found;
  found.views = text.count("TOMO_N");
  const std::optional<double> arc = text.number("ScanRange");
  if (arc && *arc != 0 && found.views) found.step_deg = *arc / (*found.views);
  found.bins = text.count("Dim_1");
  found.rows = text.count("Dim_2");
  found.pixel_size_mm = esrf_length_mm(text, "PixelSize", "micron");
  const std::string unit = text.text("Energy@unit");
  require<FileError>(unit.empty() || in_lower_case(unit) == "kev", text.name(), ": Energy: unit = \"", unit,
                     "\"; keV is needed");
  found.energy_kev = text.positive("Energy");
  found.propagation_mm = esrf_length_mm(text, "Distance", "mm");
  found.goes_back = true;
  found.flats_name_views = true;
  found.summed_darks = text.count("DARK_N").value_or(1);
  heed(esrf_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat esrf_settings{"ESRF",    "*.info, *.xml", false,      is_esrf,
                                          read_esrf, esrf_fields,     esrf_yields};

}  // namespace tandem::io
