// Volumes as MetaImage with the voxels in the same file, as ITK reads them (https://itk.org/Wiki/ITK/MetaIO).

#include <algorithm>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../files/text.hpp"
#include "flat_volume.hpp"
#include "tiff_part.hpp"

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

/// Lines "name = value" as facts, and what the comment says: "tandem 1.0; attenuation in 1/mm, 0 is A, 255 is
/// B".
SliceFacts facts_of(const std::string& head) {
  std::string facts;
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find(" = "); at != std::string::npos)
      facts += words(line.substr(0, at), ": ", line.substr(at + 3), '\n');
  return SliceFacts(facts);
}

/// The number behind some words of a comment.
std::optional<double> number_behind(const std::string& comment, const std::string& words_before) {
  const std::size_t at = comment.find(words_before);
  return at == std::string::npos
             ? std::nullopt
             : SliceFacts("v: " + comment.substr(at + words_before.size(), 16)).number("v");
}

VolumePlace place_in(const SliceFacts& facts, const Shape& n, bool in_mm, const std::string& where) {
  PlaceNumbers numbers{{"full_shape", {}},
                       {"region", {}},
                       {"pitch", facts.numbers("ElementSpacing")},
                       {"centre", facts.numbers("Offset")}};
  std::vector<double>&pitch = numbers["pitch"], &centre = numbers["centre"];
  require<FileError>(pitch.size() == 3 && centre.size() == 3, where,
                     ": three numbers of ElementSpacing and of Offset are needed");
  for (std::size_t axis = 0; axis < 3; ++axis)
    centre[axis] += 0.5 * static_cast<double>(n[2 - axis] - 1) * pitch[axis];
  std::reverse(pitch.begin(), pitch.end()), std::reverse(centre.begin(), centre.end());
  for (const Index count : n) {
    numbers["full_shape"].push_back(static_cast<double>(count));
    numbers["region"].insert(numbers["region"].end(), {0, static_cast<double>(count)});
  }
  return place_of(numbers, in_mm, n, where);
}

std::unique_ptr<VolumeSource> open_meta_image(const std::filesystem::path& path, bool) {
  const std::string head = head_of(path, "ObjectType = Image\nNDims = 3\n", "\nElementDataFile = LOCAL\n");
  const SliceFacts facts = facts_of(head);
  const std::string comment = facts.text("Comment"), type = facts.text("ElementType");
  if (!comment.starts_with("tandem ")) return nullptr;
  auto volume = std::make_unique<FlatSource>(path, static_cast<Index>(head.size()));
  volume->unit = comment.find("in 1/mm") == std::string::npos ? "1/pixel" : "1/mm";
  const std::vector<double> size = facts.numbers("DimSize");
  std::string shape = "shape:";
  for (std::size_t axis = size.size(); axis-- > 0;) shape += ' ' + shortest(size[axis]);
  volume->shape = tiff_part_of(shape, path).shape;
  volume->type = type == "MET_UCHAR"    ? PixelType::uint8
                 : type == "MET_USHORT" ? PixelType::uint16
                                        : PixelType::float32;
  volume->place = place_in(facts, volume->shape, volume->unit == "1/mm", path.string());
  volume->min = number_behind(comment, ", 0 is ");
  volume->max = number_behind(comment, volume->type == PixelType::uint8 ? ", 255 is " : ", 65535 is ");
  volume->require_size();
  return volume;
}

}  // namespace

VolumeKind meta_image() {
  return {.name = "mha",
          .title = "MetaImage",
          .endings = {".mha"},
          .types = {VoxelType::float32, VoxelType::uint16, VoxelType::uint8},
          .create = create_meta_image,
          .open = open_meta_image};
}

}  // namespace tandem::io::volumes
