// TOMCAT at the SLS (PSI): NAME.log beside NAME0001.tif, ... The images are one series: darks, flats, views,
// and flats again, and only the log says how many of each. Order and keys are as in the beamline's own logs
// and in dxchange (reader.py, read_sls_tomcat).

#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Field tomcat_fields[] = {
    {"File Prefix", "", Use::obeyed, "how the names of the images begin"},
    {"Number of projections", "", Use::obeyed, "the number of views, which come behind darks and flats"},
    {"Number of darks", "0", Use::obeyed, "the first images are darks"},
    {"Number of flats", "0", Use::obeyed, "as many flats come before the views and behind them"},
    {"Rot Y min position [deg]", "", Use::obeyed, "the angle of the first view"},
    {"Rot Y max position [deg]", "", Use::obeyed, "the angle of the last view"},
    {"Actual pixel size [um]", "", Use::obeyed, "the pitch at the sample"},
    {"Beam energy [keV]", "", Use::obeyed, "energy of the photons"},
    {"Number of inter-flats", "0", Use::refused,
     "flats lie among the views, and the log does not say where; keep views, flats and darks in folders, and "
     "give {flats} and {darks}"},
    {"Inner scan flag", "0", Use::noted, "all views are taken for one scan"},
    {"Rotation axis position", "Standard", Use::noted,
     "the axis stood aside, as for a half acquisition; give {rotation-axis} auto"}};

bool is_tomcat(const fs::path& path) {
  if (in_lower_case(path.extension().string()) != ".log") return false;
  const std::string text = start_of_text(path);
  return text.find("number of darks") != std::string::npos && text.find("rot y min") != std::string::npos;
}

ScanSettings read_tomcat(const fs::path& path) {
  const KeyValues text(path, ':');
  ScanSettings found;
  const auto number_of = [&](const char* key) {
    return text.number(key) == 0 ? Index{0} : text.count(key).value_or(0);
  };
  found.prefix = text.text("File Prefix");
  found.views = text.count("Number of projections");
  found.darks_before = number_of("Number of darks");
  found.flats_around = number_of("Number of flats");
  const std::optional<double> first = text.number("Rot Y min position [deg]"),
                              last = text.number("Rot Y max position [deg]");
  if (first && last && found.views.value_or(0) > 1) {
    found.first_deg = *first;
    found.step_deg = (*last - *first) / (*found.views - 1);
    found.notes.push_back(text.name() +
                          ": does not say which way the sample turns; if slices are mirrored, give " +
                          spelled("rotation-direction") + " -1");
  }
  if (const auto pixel_um = text.positive("Actual pixel size [um]")) found.pixel_size_mm = *pixel_um / 1000;
  found.energy_kev = text.positive("Beam energy [keV]");
  heed(tomcat_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat tomcat_settings{"TOMCAT", "", false, is_tomcat, read_tomcat, tomcat_fields};

}  // namespace tandem::io
