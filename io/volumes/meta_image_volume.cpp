// Volumes as MetaImage with the voxels in the same file, as ITK reads them (https://itk.org/Wiki/ITK/MetaIO).

#include <sstream>

#include "../../core/version.hpp"
#include "../files/text.hpp"
#include "flat_volume.hpp"

namespace tandem::io::volumes {

namespace {

const char* meta_image_type(VoxelType type) {
  return type == VoxelType::uint8 ? "MET_UCHAR" : type == VoxelType::uint16 ? "MET_USHORT" : "MET_FLOAT";
}

/// A comment, for which MetaIO has 255 bytes.
std::string comment_of(const VolumeFormat& form) {
  std::string text = std::string("tandem ") + TANDEM_VERSION + "; attenuation in " + form.unit();
  if (!is_integer(form.type)) return text;
  return text + ", 0 is " + fixed_width(form.min) + ", " +
         std::to_string(static_cast<int>(full_scale(form.type))) + " is " + fixed_width(form.max);
}

std::string meta_image_head(Shape n, const VolumeFormat& form) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(15);  // digits of places, without the last one, which is rounding
  const VolumeGrid unit{.size = {n[2], n[1], n[0]}, .pitch = {1, 1, 1}};
  const VolumeGrid g = form.place ? form.place->grid : unit;
  text << "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
       << "CompressedData = False\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = " << g.x(0) << ' ' << g.y(0)
       << ' ' << g.z(0) << "\nCenterOfRotation = 0 0 0\nElementSpacing = " << shortest(g.pitch[0]) << ' '
       << shortest(g.pitch[1]) << ' ' << shortest(g.pitch[2]) << "\nDimSize = " << n[2] << ' ' << n[1] << ' '
       << n[0] << "\nComment = " << comment_of(form) << "\nElementType = " << meta_image_type(form.type)
       << "\nElementDataFile = LOCAL\n";
  return text.str();
}

std::unique_ptr<VolumeWriter> create_meta_image(const Creation& c) {
  const auto head = [shape = c.shape](const FlatFrame::Known& known) {
    return meta_image_head(shape, known.format);
  };
  return create_flat_volume(c, {static_cast<Index>(meta_image_head(c.shape, c.format).size()), head});
}

}  // namespace

VolumeKind meta_image() {
  return {.name = "mha",
          .title = "MetaImage",
          .endings = {".mha"},
          .types = {VoxelType::float32, VoxelType::uint16, VoxelType::uint8},
          .create = create_meta_image};
}

}  // namespace tandem::io::volumes
