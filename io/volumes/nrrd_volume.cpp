// Volumes as NRRD (https://teem.sourceforge.net/nrrd/format.html, NRRD0004): voxels are written into the same
// file, and are read from another one too (*.nhdr).

#include <algorithm>
#include <fstream>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../files/text.hpp"
#include "flat_source.hpp"
#include "flat_volume.hpp"
#include "slice_part.hpp"

namespace tandem::io {

namespace {

constexpr TypeNames nrrd_types{"uint8 uchar uint8_t",
                               "int8 int8_t",
                               "uint16 ushort uint16_t",
                               "int16 short int16_t",
                               "uint32 uint uint32_t",
                               "int32 int int32_t",
                               "float",
                               "double"};

/// Writes where voxels lie in space, x first. Axes have no anatomical meaning.
void put_place(std::ostream& to, const VolumePlace& place) {
  const VolumeGrid& g = place.grid;
  const auto& p = g.pitch;
  to << "space dimension: 3\nspace directions: (" << shortest(p[0]) << ",0,0) (0," << shortest(p[1])
     << ",0) (0,0," << shortest(p[2]) << ")\nspace origin: (" << g.x(0) << ',' << g.y(0) << ',' << g.z(0)
     << ")\n";
  if (place.in_mm) to << "space units: \"mm\" \"mm\" \"mm\"\n";
}

std::string nrrd_head(const FlatFacts& of) {
  const auto& [n, form, recipe, checksums] = of;
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(15);  // digits of places, without the last one, which is rounding
  text << "NRRD0004\n# tandem " << TANDEM_VERSION << "\ntype: " << name_of(nrrd_types, form.type)
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

namespace fs = std::filesystem;

/// The numbers of "(1,2,3)", or of several such vectors.
std::vector<double> vectors_in(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '(' || c == ')' || c == ','; }, ' ');
  std::istringstream words(text);
  words.imbue(std::locale::classic());
  std::vector<double> all;
  for (double number = 0; words >> number;) all.push_back(number);
  return all;
}

/// The place by the fields of NRRD. Axes that are turned have none.
std::optional<VolumePlace> nrrd_place(const TextHead& head, Shape shape) {
  const std::vector<double> along = vectors_in(head.text("space directions"));
  std::vector<double> first = vectors_in(head.text("space origin")), pitch = head.numbers("spacings");
  if (along.size() == 9) {
    pitch = {along[0], along[4], along[8]};
    for (const std::size_t aside : {1, 2, 3, 5, 6, 7})
      if (along[aside] != 0) return std::nullopt;
    if (std::ranges::any_of(pitch, [](double p) { return !(p > 0); })) return std::nullopt;
  }
  if (pitch.size() != 3) return std::nullopt;
  if (first.size() != 3) first = {0, 0, 0};
  const std::string unit = head.text("space units", head.text("units"));
  return place_from(shape, pitch, first, unit.find("mm") != std::string::npos, head.where());
}

/// What tandem wrote as lines of other names: lines of a slice of a TIFF volume.
std::string nrrd_facts(const TextHead& head) {
  const std::string prefix = "tandem_";
  std::string facts;
  for (const auto& [name, value] : head.lines())
    if (name.starts_with(prefix))
      facts += name.substr(prefix.size()) + ": " + value.substr(value.starts_with('=') ? 1 : 0) + '\n';
  return facts;
}

bool is_nrrd(const fs::path& path) { return is_file_with(path, ".nrrd .nhdr"); }

std::unique_ptr<VolumeSource> open_nrrd(const fs::path& path, bool any_external) {
  if (!is_nrrd(path)) return nullptr;
  std::string magic(4, ' ');
  std::ifstream(path, std::ios::binary).read(magic.data(), 4);
  require<FileError>(magic == "NRRD", path.string(), ": is no NRRD; it does not begin with NRRD000");
  const TextHead head(path, ":", [](const std::string& name) { return name.empty(); });
  const auto require_field = [&](bool holds, const char* name, const char* needed) {
    require<FileError>(holds, path.string(), ": ", name, ": ", head.text(name), "; ", needed, " is needed");
  };
  require_field(head.text("dimension") == "3", "dimension", "3");
  require_field(in_lower_case(head.text("encoding")) == "raw", "encoding", "raw");
  require_field(head.text("line skip", "0") == "0", "line skip", "0");
  const std::vector<Index> n = head.counts("sizes", 3);
  const std::string file = head.text("data file", head.text("datafile"));
  const Index skip = head.offset("byte skip"),
              begin = skip < 0 ? skip : skip + (file.empty() ? head.bytes() : 0);
  auto volume = flat_source(
      path.string(), {n[2], n[1], n[0]},
      {file.empty() ? path : file_beside(path, file, any_external), begin,
       form_named(nrrd_types, in_lower_case(head.text("type")), in_lower_case(head.text("endian")) == "big",
                  head.where() + ": type: " + head.text("type"))});
  volume->place = nrrd_place(head, volume->shape);
  volume->unit = head.text("sample units", volume->place ? volume->place->unit() : "1/pixel");
  std::erase(volume->unit, '"');
  if (const std::vector<double> low = head.numbers("old min"), high = head.numbers("old max");
      low.size() == 1 && high.size() == 1)
    volume->min = low[0], volume->max = high[0];
  if (const std::string facts = nrrd_facts(head); !facts.empty()) {
    const SlicePart part = slice_part_of(facts, path);
    require<FileError>(part.shape == volume->shape, path.string(),
                       ": tandem_shape is not that of its sizes; the file is damaged");
    volume->place = part.place;
    volume->recipe = part.facts.text("recipe");
  }
  volume->reconstruction = true;
  return volume;
}

}  // namespace

VolumeKind nrrd_kind() {
  return {.name = "nrrd",
          .title = "NRRD",
          .endings = {".nrrd"},
          .types = {VoxelType::float32, VoxelType::uint16, VoxelType::uint8},
          .alone = is_nrrd,
          .create = [](const Creation& c) { return create_flat_volume(c, nrrd_head); },
          .open = open_nrrd};
}

}  // namespace tandem::io
