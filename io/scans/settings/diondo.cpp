// Diondo: an XML beside a folder "Projection" with images. Keys, units and the sense of rotation are as in
// TIGRE 2 and 3, DiondoDataLoader.py.

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* no_circle = "only circles are reconstructed";
constexpr Field diondo_fields[] = {
    {"SourceObjectDist", "", Use::obeyed, "from source to axis"},
    {"SourceDetectorDist", "", Use::obeyed, "from source to detector"},
    {"ProjectionPixelSizeX", "", Use::obeyed, "the pitch of bins"},
    {"ProjectionPixelSizeY", "", Use::obeyed, "the pitch of rows"},
    {"ProjectionDimX", "", Use::obeyed, "bins, which the images must have"},
    {"ProjectionDimY", "", Use::obeyed, "rows, which the images must have"},
    {"ProjectionCount", "", Use::obeyed, "the number of views"},
    {"ProjectionCountPer360deg", "", Use::obeyed, "how many of them are a turn; else all are"},
    {"ProjectionCenterOffsetX", "0", Use::noted,
     "where the axis falls; its sign is not known: {rotation-axis} auto finds the axis"},
    {"HelixMode", "false", Use::refused, no_circle},
    {"Laminography", "false", Use::refused, no_circle}};

bool is_diondo(const fs::path& path) {
  if (in_lower_case(path.extension().string()) != ".xml") return false;
  const std::string text = start_of_text(path);
  return text.find("<geometrie>") != std::string::npos ||
         text.find("<projectiondimx>") != std::string::npos || text.find("<helixmode>") != std::string::npos;
}

ScanSettings read_diondo(const fs::path& path) {
  const KeyValues text = KeyValues::of_xml(path);
  ScanSettings found;
  found.folder = "Projection";
  found.sod_mm = text.positive("SourceObjectDist");
  found.sdd_mm = text.positive("SourceDetectorDist");
  require<FileError>(found.sod_mm && found.sdd_mm, text.name(),
                     ": has no SourceObjectDist or no SourceDetectorDist; the file is damaged");
  found.pixel_size_mm = text.positive("ProjectionPixelSizeX");
  found.row_pitch_mm = text.positive("ProjectionPixelSizeY");
  found.bins = text.count("ProjectionDimX");
  found.rows = text.count("ProjectionDimY");
  found.views = text.count("ProjectionCount");
  const std::optional<Index> turn = text.count("ProjectionCountPer360deg");
  if (turn || found.views) found.step_deg = -360.0 / turn.value_or(found.views.value_or(1));
  found.white_level = 65535;
  found.notes.push_back(text.name() +
                        " has no white level: images are taken to be corrected, to 65535; give " +
                        spelled("flats") + " if they are not");
  heed(diondo_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat diondo_settings{"Diondo", "*.xml", false, is_diondo, read_diondo, diondo_fields};

}  // namespace tandem::io
