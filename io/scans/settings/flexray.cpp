// FlexRay scanners (TESCAN XRE, CWI): "scan settings.txt" and "data settings XRE.txt".

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* settings_name = "scan settings.txt";
constexpr const char* xre_name = "data settings xre.txt";

constexpr Field flexray_fields[] = {
    {"SOD", "", Use::obeyed, "from source to axis"},
    {"SDD", "", Use::obeyed, "from source to detector"},
    {"Binned pixel size", "", Use::obeyed, "the pitch, before Pixel size"},
    {"Pixel size", "", Use::obeyed, "the pitch"},
    {"VC", "", Use::obeyed, "the midplane"},
    {"HC", "", Use::obeyed, "the axis that was planned"},
    {"COR", "", Use::obeyed, "the axis that was planned, before HC"},
    {"number projections", "0", Use::obeyed, "the number of views, if there are not more images"},
    {"Start angle", "", Use::obeyed, "the angle of the first view"},
    {"Last angle", "", Use::obeyed, "the angle of the last view"},
    {"Direction", "1", Use::obeyed, "the sense of rotation"},
    {"Tilt", "0", Use::noted,
     "the lean of the axis; its sign is not known, see {axis-tilt} and {detector-roll}"},
    {"import binning", "1", Use::noted,
     "the scanner's program would bin the images; see {binning}, and check the pixel size"},
    {"Original number of columns", "0", Use::noted,
     "images that were joined of several; check the axis and {file-type}"}};

/// The file beside `path` whose name in lower case is `lower_name`; empty if there is none.
fs::path beside(const fs::path& path, const std::string& lower_name) {
  std::error_code fault;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(path.has_parent_path() ? path.parent_path() : fs::path("."), fault))
    if (in_lower_case(entry.path().filename().string()) == lower_name) return entry.path();
  return {};
}

bool is_flexray(const fs::path& path) {
  const std::string name = in_lower_case(path.filename().string());
  return name == settings_name || name == xre_name;
}

bool flexray_yields(const fs::path& path) {
  return in_lower_case(path.filename().string()) == xre_name && !beside(path, settings_name).empty();
}

void read_geometry(const KeyValues& text, ScanSettings& found) {
  const auto first = [](std::optional<double>& into, const std::optional<double>& value) {
    if (!into) into = value;
  };
  first(found.sod_mm, text.positive("SOD"));
  first(found.sdd_mm, text.positive("SDD"));
  first(found.pixel_size_mm, text.positive("Binned pixel size"));
  first(found.pixel_size_mm, text.positive("Pixel size"));
  first(found.midplane_row, text.number("VC"));
}

/// Reads the angles. Views lie on the arc, with one at each end. The sense of rotation is that of tandem if
/// Direction is
/// 1. A plan of 0 views belongs to a scan that was not begun.
void read_angles(const fs::path& path, const KeyValues& xre, ScanSettings& found) {
  found.plan = path.filename().string();
  if (xre.number("number projections") != 0) found.views = xre.count("number projections");
  found.axis_bin = xre.number("COR");
  const std::optional<double> first = xre.number("Start angle"), last = xre.number("Last angle");
  if (!first || !last) return;
  const double sense = xre.number("Direction").value_or(1) < 0 ? -1 : 1;
  found.first_deg = sense * *first;
  found.arc_deg = sense * (*last - *first);
}

ScanSettings read_flexray(const fs::path& path) {
  ScanSettings found;
  const bool is_xre = in_lower_case(path.filename().string()) == xre_name;
  const fs::path xre = is_xre ? path : beside(path, xre_name);
  if (!is_xre) {
    const KeyValues text(path, ':');
    read_geometry(text, found);
    found.axis_bin = text.number("HC");
  }
  if (!xre.empty()) {
    const KeyValues text(xre, '=');
    const std::optional<double> planned = found.axis_bin;
    read_geometry(text, found);
    read_angles(xre, text, found);
    if (!found.axis_bin) found.axis_bin = planned;
    heed(flexray_fields, text, found.notes);
  }
  if (found.axis_bin)
    found.axis_note = "the axis is the one that the scanner planned (COR); " + spelled("rotation-axis") +
                      " auto finds where it was";
  return found;
}

}  // namespace

extern const SettingsFormat flexray_settings{"FlexRay",     "scan settings.txt, data settings XRE.txt",
                                             false,         is_flexray,
                                             read_flexray,  flexray_fields,
                                             flexray_yields};

}  // namespace tandem::io
