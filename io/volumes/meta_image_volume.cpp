// Volumes as MetaImage, as ITK reads them (https://itk.org/Wiki/ITK/MetaIO): voxels are written into the same
// file, and are read from another one too (*.mhd).

#include <sstream>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../files/text.hpp"
#include "flat_source.hpp"
#include "flat_volume.hpp"

namespace tandem::io {

namespace {

constexpr TypeNames meta_image_types{"MET_UCHAR", "MET_CHAR", "MET_USHORT", "MET_SHORT",
                                     "MET_UINT",  "MET_INT",  "MET_FLOAT",  "MET_DOUBLE"};

/// A comment, for which MetaIO has 255 bytes.
std::string comment_of(const VolumeFormat& form) {
  std::string text = std::string("tandem ") + TANDEM_VERSION + "; attenuation in " + form.unit();
  if (!is_integer(form.type)) return text;
  return text + ", 0 is " + fixed_width(form.min) + ", " + std::to_string(floor_int(full_scale(form.type))) +
         " is " + fixed_width(form.max);
}

std::string meta_image_head(const FlatFacts& of) {
  const auto& [n, form, recipe, checksums] = of;
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(15);  // digits of places, without the last one, which is rounding
  const VolumeGrid unit{.size = {n[2], n[1], n[0]}, .pitch = {1, 1, 1}};
  const VolumeGrid g = form.place ? form.place->grid : unit;
  text << "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
       << "CompressedData = False\nTransformMatrix = 1 0 0 0 1 0 0 0 1\nOffset = " << g.x(0) << ' ' << g.y(0)
       << ' ' << g.z(0) << "\nCenterOfRotation = 0 0 0\nElementSpacing = " << shortest(g.pitch[0]) << ' '
       << shortest(g.pitch[1]) << ' ' << shortest(g.pitch[2]) << "\nDimSize = " << n[2] << ' ' << n[1] << ' '
       << n[0] << "\nComment = " << comment_of(form)
       << "\nElementType = " << name_of(meta_image_types, form.type) << "\nElementDataFile = LOCAL\n";
  return text.str();
}

namespace fs = std::filesystem;

/// What the comment of a volume of tandem says of its numbers.
void take_comment(const std::string& comment, VolumeSource& volume) {
  if (!comment.starts_with("tandem ")) return;
  if (comment.find("attenuation in 1/pixel") != std::string::npos) volume.place->in_mm = false;
  const std::size_t low = comment.find(", 0 is "), high = comment.rfind(" is ");
  if (low == std::string::npos) return;
  const auto number = [&](std::size_t at) {
    std::istringstream text(comment.substr(at, comment.find(',', at) - at));
    text.imbue(std::locale::classic());
    double value = 0;
    text >> value;
    return value;
  };
  volume.min = number(low + 7), volume.max = number(high + 4);
}

bool is_meta_image(const fs::path& path) { return is_file_with(path, ".mha .mhd"); }

/// ITK places images in mm. An image that is turned has no place here.
std::unique_ptr<VolumeSource> open_meta_image(const fs::path& path, bool any_external) {
  if (!is_meta_image(path)) return nullptr;
  const TextHead head(path, "=", [](const std::string& name) { return name == "elementdatafile"; });
  const auto is = [&](const char* name, const char* value, const char* otherwise) {
    require<FileError>(in_lower_case(head.text(name, otherwise)) == value, path.string(), ": ", name, " = ",
                       head.text(name), "; ", value, " is needed");
  };
  is("objecttype", "image", ""), is("ndims", "3", ""), is("binarydata", "true", "true");
  is("compresseddata", "false", "false"), is("elementnumberofchannels", "1", "1");
  const std::vector<Index> n = head.counts("dimsize", 3);
  const std::string file = head.text("elementdatafile");
  const bool within = in_lower_case(file) == "local";
  const Index offset = within ? head.bytes() : head.offset("headersize");
  const std::string type = head.text("elementtype"),
                    order = head.text("binarydatabyteordermsb", head.text("elementbyteordermsb"));
  auto volume = flat_source(path.string(), {n[2], n[1], n[0]},
                            {within ? path : file_beside(path, file, any_external), offset,
                             form_named(meta_image_types, type, in_lower_case(order) == "true",
                                        head.where() + ": ElementType = \"" + type + '"')});
  const auto lengths = [&](std::initializer_list<const char*> names, double otherwise) {
    for (const char* name : names)
      if (head.has(name)) return head.numbers(name);
    return std::vector<double>(3, otherwise);
  };
  volume->place = place_from(volume->shape, lengths({"elementspacing", "elementsize"}, 1),
                             lengths({"offset", "position", "origin"}, 0), true, path.string());
  take_comment(head.text("comment"), *volume);
  volume->unit = volume->place->unit();
  const std::vector<double> turned = head.numbers("transformmatrix");
  if (!turned.empty() && turned != std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}) volume->place.reset();
  volume->reconstruction = true;
  return volume;
}

}  // namespace

VolumeKind meta_image_kind() {
  return {.name = "mha",
          .title = "MetaImage",
          .endings = {".mha"},
          .types = {VoxelType::float32, VoxelType::uint16, VoxelType::uint8},
          .alone = is_meta_image,
          .create = [](const Creation& c) { return create_flat_volume(c, meta_image_head); },
          .open = open_meta_image};
}

}  // namespace tandem::io
