// GE and Waygate phoenix datos|x: NAME.pca beside NAME00001.tif, ... There is no public description of the
// format. Keys and units are as in files that are published with scans, and as in two public readers of them
// (University of Helsinki, Hereon), which take the same distances, pitches, steps and white level.

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* turned = "the scanner's program would turn the images; see {orient}";
constexpr const char* not_a_circle = "only circles of the source are read";
constexpr Field phoenix_fields[] = {
    {"Geometry/FOD", "", Use::obeyed, "from source to axis"},
    {"Geometry/FDD", "", Use::obeyed, "from source to detector"},
    {"Geometry/VoxelSizeX", "", Use::obeyed, "the pitch of bins at the axis, before PixelsizeX"},
    {"Geometry/VoxelSizeY", "", Use::obeyed, "the pitch of rows at the axis, before PixelsizeY"},
    {"Detector/PixelsizeX", "", Use::obeyed, "the pitch of bins"},
    {"Detector/PixelsizeY", "", Use::obeyed, "the pitch of rows"},
    {"Image/DimX", "", Use::obeyed, "bins, which the images must have"},
    {"Image/DimY", "", Use::obeyed, "rows, which the images must have"},
    {"Image/FreeRay", "", Use::obeyed, "the flat of images that are corrected"},
    {"CT/NumberImages", "", Use::obeyed, "the number of views"},
    {"CT/RotationSector", "", Use::obeyed, "the arc of the views, without its end"},
    {"Geometry/CalibValue", "0", Use::noted,
     "where the axis falls; its unit and sign are not known: {rotation-axis} auto finds the axis"},
    {"Geometry/DetectorRot", "0", Use::noted,
     "the roll of the detector; its sign is not known, see {detector-roll}"},
    {"Geometry/Tilt", "0", Use::noted, "the tilt of the axis; its sign is not known, see {axis-tilt}"},
    {"Geometry/Oblique", "0", Use::refused, not_a_circle},
    {"CT/NoRotation", "0", Use::refused, not_a_circle},
    {"Trajectory/Active", "0", Use::refused, not_a_circle},
    {"SectorScan/Active", "0", Use::noted, "check the angles, and give {arc} if there are fewer"},
    {"Multiscan/Active", "0", Use::noted,
     "this is one of several scans along the axis, whose slices are joined afterwards"},
    {"VSensor/NumTiles", "1", Use::noted, "images that were joined of several; check the axis"},
    {"Image/Rotation", "0", Use::noted, turned},
    {"Image/MirrorX", "0", Use::noted, turned},
    {"Image/MirrorY", "0", Use::noted, turned}};

bool is_pca(const fs::path& path) {
  return in_lower_case(path.extension().string()) == ".pca" &&
         start_of_text(path).find("[geometry]") != std::string::npos;
}

ScanSettings read_phoenix(const fs::path& path) {
  const KeyValues text(path, '=');
  ScanSettings found;
  found.sod_mm = text.positive("Geometry/FOD");
  found.sdd_mm = text.positive("Geometry/FDD");
  require<FileError>(found.sod_mm && found.sdd_mm, text.name(),
                     ": has no FOD or no FDD in [Geometry]; both are needed");
  const auto pitch = [&](const std::string& axis) {
    const std::optional<double> voxel = text.positive("Geometry/VoxelSize" + axis);
    return voxel ? std::optional(*voxel * *found.sdd_mm / *found.sod_mm)
                 : text.positive("Detector/Pixelsize" + axis);
  };
  found.pixel_size_mm = pitch("X");
  found.row_pitch_mm = pitch("Y");
  found.bins = text.count("Image/DimX");
  found.rows = text.count("Image/DimY");
  found.white_level = text.positive("Image/FreeRay");
  found.views = text.count("CT/NumberImages");
  found.first_number = 1;
  const std::optional<double> arc = text.number("CT/RotationSector");
  if (arc && *arc != 0 && found.views) found.step_deg = *arc / (*found.views);
  found.notes.push_back(text.name() +
                        " does not say which way the sample turns; if slices are blurred, give " +
                        spelled("rotation-direction") + " -1");
  heed(phoenix_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat phoenix_settings{"phoenix datos|x", "*.pca",       false, is_pca,
                                             read_phoenix,      phoenix_fields};

}  // namespace tandem::io
