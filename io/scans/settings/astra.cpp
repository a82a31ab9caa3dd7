// Vectors of ASTRA for a cone beam, NAME.geom beside the images, as CWI publishes its scans.

#include "../../files/text.hpp"
#include "../geometries/geometry_file.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

ScanSettings read_astra(const std::filesystem::path& path) {
  ScanSettings found;
  found.vectors = vectors_in_text(path);
  found.notes.push_back(path.string() +
                        ": its lengths are taken as mm; line k belongs to image k in the order of the names");
  return found;
}

bool is_geom(const std::filesystem::path& path) {
  return in_lower_case(path.extension().string()) == ".geom";
}

}  // namespace

extern const SettingsFormat astra_settings{"ASTRA", "*.geom", true, is_geom, read_astra};

}  // namespace tandem::io
