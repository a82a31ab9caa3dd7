// Nikon XTEK: NAME.xtekct beside NAME_0001.tif, ... Geometry and sense of rotation are as in CIL 21 and 26,
// NikonDataReader.py. The views are seen from behind the detector, and the sample turns clockwise. Here views
// are read as if they were seen from the source, and so they turn the other way. In the frame of the file, x
// is against the columns of the images, y is along the beam, and z is up, against their rows.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/spelled.hpp"
#include "../../../core/units.hpp"
#include "../../files/text_file.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* hardening =
    "Nikon's correction of beam hardening and scatter; {beam-hardening} corrects it here";
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
    {"ObjectOffsetXStart", "0", Use::noted, "an axis that moves; solvers take {view-shifts}"},
    {"ObjectOffsetXEnd", "0", Use::noted, "an axis that moves; solvers take {view-shifts}"},
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

/// Reads where the axis falls and how it leans. Newer files have ObjectOffsetX and ObjectRoll. Older files
/// have positions in mm at the upper and at the lower edge of the detector.
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
    found.axis_note = "the axis is moved by DetectorOffsetX, with the sign of CIL 21; " +
                      spelled("rotation-axis") + " auto finds where it was";
  if (rise != 0) {
    found.midplane_offset = rise / *found.row_pitch_mm;
    found.notes.emplace_back("the midplane is moved by DetectorOffsetY, with the sign of CIL 21");
  }
  const double height = found.rows.value_or(0) * *found.row_pitch_mm;
  // the axis is turned by the roll first, and then tilted
  const double tilt = in_radians(number("ObjectTilt"));
  double roll = in_radians(number("ObjectRoll"));
  if (!text.has("ObjectRoll") && height > 0) roll = std::atan2(bottom - top, height);
  if (tilt != 0) found.tilt_deg = -in_degrees(std::asin(std::cos(roll) * std::sin(tilt)));
  if (roll != 0) found.roll_deg = in_degrees(std::atan2(std::sin(roll), std::cos(roll) * std::cos(tilt)));
}

/// Notes by how many bins the ends of the detector are moved, because it faces the beam and not the axis
/// beside it.
void note_beam_beside_axis(const KeyValues& text, ScanSettings& found) {
  constexpr double said = 0.5;
  const double half = 0.5 * found.bins.value_or(0) * *found.pixel_size_mm;
  const double turn = std::abs(text.number("ObjectOffsetX").value_or(0)) / *found.sod_mm;
  const double bins = turn * half * half / (*found.sdd_mm * *found.pixel_size_mm);
  if (bins > said)
    found.notes.push_back(text.name() + ": ObjectOffsetX = " + text.text("ObjectOffsetX") +
                          ": the axis is so far beside the beam that the ends of rows are wrong by " +
                          std::to_string(std::lround(bins)) + " bins");
}

constexpr Index longest_of_angles = Index{1} << 26;  // bytes of a list of angles

/// The file of angles, and the number of lines of its head.
struct AngleFile {
  fs::path path;
  int head;
};

std::optional<AngleFile> angle_file(const fs::path& beside, const std::string& name) {
  const fs::path folder = beside.parent_path();
  std::error_code fault;
  for (const AngleFile& file :
       {AngleFile{folder / (name + ".ang"), 1}, AngleFile{folder / (name + "_ctdata.txt"), 3},
        AngleFile{folder / "_ctdata.txt", 3}})
    if (fs::is_regular_file(file.path, fault)) return file;
  return std::nullopt;
}

/// The angles in lines with the number of a view, from 1, and its angle in degrees: "1: 0.25", or "1
/// 0.25 3.5" with a time. Empty unless each view has one.
std::vector<double> angles_in(const AngleFile& file, Index views) {
  std::istringstream text(text_of_regular_file(file.path, "a list of angles", longest_of_angles));
  std::vector<double> angles(views, std::nan(""));
  std::string line;
  for (int k = 0; std::getline(text, line); ++k) {
    if (k < file.head) continue;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == ':' || c == ',' || c == '\r'; }, ' ');
    std::istringstream words(line);
    std::string first, second;
    if (!(words >> first >> second)) continue;
    const std::optional<double> number = finite_number(first), angle = finite_number(second);
    if (!number || !angle || *number < 1 || *number > views) return {};
    angles[floor_index(*number) - 1] = *angle;
  }
  const bool all = std::all_of(angles.begin(), angles.end(), [](double a) { return std::isfinite(a); });
  return all ? angles : std::vector<double>();
}

/// Takes the angles of the views from NAME.ang, else from NAME_ctdata.txt or _ctdata.txt, beside the file of
/// settings. They begin at `first_deg` and have the sense of `step_deg`. A note says from which file they
/// are, or that there are none. `found` has the number of views already. @throws FileError
void read_nikon_angles(const fs::path& beside, const std::string& name, ScanSettings& found) {
  constexpr double most_views = 1e6;
  const std::optional<AngleFile> file = angle_file(beside, name);
  const bool plausible = file && (*found.views) <= most_views;
  const std::vector<double> angles = plausible ? angles_in(*file, *found.views) : std::vector<double>();
  if (angles.empty()) {
    found.notes.push_back(beside.string() + ": AngleFile_Use = True, but " +
                          (file ? file->path.string() + " has no angle for each of its views"
                                : "there is no " + name + ".ang and no _ctdata.txt") +
                          "; equal steps of AngularStep are taken");
    return;
  }
  std::vector<double> turned{0};
  for (std::size_t k = 1; k < angles.size(); ++k)
    turned.push_back(turned.back() + std::remainder(angles[k] - angles[k - 1], 360.0));
  const double sense = turned.back() * found.step_deg.value_or(-1) > 0 ? 1 : -1;
  for (const double turn : turned) found.degrees.push_back(found.first_deg + sense * turn);
  if (!found.step_deg) found.step_deg = -360.0 / angles.size();
  found.notes.push_back("the angles are those of " + file->path.string() + " (AngleFile_Use)");
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
