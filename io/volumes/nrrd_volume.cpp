// Volumes as NRRD with the voxels in the same file (https://teem.sourceforge.net/nrrd/format.html, NRRD0004).

#include <sstream>

#include "../../core/version.hpp"
#include "../files/text.hpp"
#include "flat_volume.hpp"

namespace tandem::io::volumes {

namespace {

const char* nrrd_type(VoxelType type) {
  return type == VoxelType::uint8 ? "uint8" : type == VoxelType::uint16 ? "uint16" : "float";
}

/// Writes where voxels lie in space, x first. Axes have no anatomical meaning.
void put_place(std::ostream& to, const VolumePlace& place) {
  const VolumeGrid& g = place.grid;
  const auto& p = g.pitch;
  to << "space dimension: 3\nspace directions: (" << shortest(p[0]) << ",0,0) (0," << shortest(p[1])
     << ",0) (0,0," << shortest(p[2]) << ")\nspace origin: (" << g.x(0) << ',' << g.y(0) << ',' << g.z(0)
     << ")\n";
  if (place.in_mm) to << "space units: \"mm\" \"mm\" \"mm\"\n";
}

std::string nrrd_head(Shape n, const VolumeFormat& form, const std::string& recipe) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(15);  // digits of places, without the last one, which is rounding
  text << "NRRD0004\n# tandem " << TANDEM_VERSION << "\ntype: " << nrrd_type(form.type)
       << "\ndimension: 3\nsizes: " << n[2] << ' ' << n[1] << ' ' << n[0]
       << "\nencoding: raw\nendian: little\n";
  if (form.place) put_place(text, *form.place);
  if (is_integer(form.type))
    text << "old min: " << fixed_width(form.min) << "\nold max: " << fixed_width(form.max) << '\n';
  text << "sample units: \"" << form.unit() << "\"\n";
  for (const auto& [name, value] : volume_facts(n, form, recipe))
    if (name != "min" && name != "max") text << "tandem_" << name << ":=" << value << '\n';
  text << '\n';
  return text.str();
}

std::unique_ptr<VolumeWriter> create_nrrd(const Creation& c) {
  const auto head = [shape = c.shape, recipe = c.recipe](const FlatFrame::Known& known) {
    return nrrd_head(shape, known.format, recipe);
  };
  const auto bytes = static_cast<Index>(nrrd_head(c.shape, c.format, c.recipe).size());
  return create_flat_volume(c, {bytes, head});
}

}  // namespace

VolumeKind nrrd() {
  return {.name = "nrrd",
          .title = "NRRD",
          .endings = {".nrrd"},
          .types = {VoxelType::float32, VoxelType::uint16, VoxelType::uint8},
          .create = create_nrrd};
}

}  // namespace tandem::io::volumes
