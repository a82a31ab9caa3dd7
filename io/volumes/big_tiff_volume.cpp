// A volume as one BigTIFF with a page for each slice, which Fiji shows with its voxel size.
//
// Voxels come first, slice after slice, so that other programs can map them into memory. The directories
// follow. As in files of ImageJ, the description of the first page has the number of slices, their distance
// and its unit, and the resolution counts pixels in this unit.

#include <cmath>
#include <cstring>
#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../files/checksum.hpp"
#include "../files/text.hpp"
#include "../files/tiff.hpp"
#include "../scans/frame_source.hpp"
#include "flat_volume.hpp"
#include "slice_part.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index head_bytes = 16;       // a BigTIFF: says where its first directory stands
const std::string prefix = "tandem.";  // marks our lines, since ImageJ reads others as its own
constexpr std::uint64_t entries = 15, entry_bytes = 20;  // for a page with a description
constexpr std::uint16_t ascii = 2, u16 = 3, u32 = 4, rational = 5, u64 = 16;

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_entry(std::string& to, std::uint16_t tag, std::uint16_t type, std::uint64_t count,
               std::uint64_t value) {
  put(to, tag), put(to, type), put(to, count), put(to, value);
}

/// A value as a fraction of two numbers of 32 bits, with the numerator in the low bits.
std::uint64_t fraction_of(double value) {
  double below = 1;
  while (below < 1e9 && value * below * 10 < 4e9) below *= 10;
  return static_cast<std::uint64_t>(std::llround(value * below)) | static_cast<std::uint64_t>(below) << 32;
}

std::string description_of(Shape n, const VolumeFormat& form, const std::string& recipe,
                           const std::vector<std::uint32_t>& checksums) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << "ImageJ=1.53t\nimages=" << n[0] << "\nslices=" << n[0] << "\nloop=false\n";
  if (form.place && form.place->in_mm)
    text << "unit=mm\nspacing=" << shortest(form.place->grid.pitch[2]) << '\n';
  text << prefix << "version: " << TANDEM_VERSION << '\n' << prefix << "checksums:" << std::hex;
  for (const std::uint32_t sum : checksums) text << ' ' << sum;
  text << '\n';
  for (const auto& [name, value] : volume_facts(n, form, recipe))
    text << prefix << name << ": " << value << '\n';
  return text.str() + '\0';
}

/// The directories, which begin at `begin` in the file, and the description that follows them.
class Directories {
 public:
  Directories(Shape shape, const VolumeFormat& format, Index begin)
      : n_(shape),
        form_(format),
        begin_(begin),
        slice_bytes_(n_[1] * n_[2] * bytes_of(number_type(form_.type))) {
    const bool known = form_.place && form_.place->in_mm;
    x_ = fraction_of(known ? 1 / form_.place->grid.pitch[0] : 1);
    y_ = fraction_of(known ? 1 / form_.place->grid.pitch[1] : 1);
  }

  std::string text(const std::string& description) const {
    std::string all;
    const std::uint64_t behind = begin_ + n_[0] * bytes;
    for (Index k = 0; k < n_[0]; ++k) add(all, k, behind, k == 0 ? description.size() : 0);
    return all + description;
  }

 private:
  static constexpr std::uint64_t bytes = 8 + entries * entry_bytes + 8;  // others use fewer

  void add(std::string& to, Index slice, std::uint64_t description_at, std::uint64_t description) const {
    const std::uint64_t number = slice;
    const bool is_float = !is_integer(form_.type);
    const std::uint64_t rows = n_[1];
    std::uint64_t name = 0;
    std::memcpy(&name, "tandem", 6);
    put(to, description > 0 ? entries : entries - 1);
    put_entry(to, 256, u32, 1, n_[2]);
    put_entry(to, 257, u32, 1, rows);
    put_entry(to, 258, u16, 1, 8 * bytes_of(number_type(form_.type)));
    put_entry(to, 259, u16, 1, 1);  // not packed
    put_entry(to, 262, u16, 1, 1);  // black is zero
    if (description > 0) put_entry(to, 270, ascii, description, description_at);
    put_entry(to, 273, u64, 1, head_bytes + number * slice_bytes_);
    put_entry(to, 277, u16, 1, 1);
    put_entry(to, 278, u32, 1, rows);
    put_entry(to, 279, u64, 1, slice_bytes_);
    put_entry(to, 282, rational, 1, x_);
    put_entry(to, 283, rational, 1, y_);
    put_entry(to, 296, u16, 1, 1);  // the description has the unit
    put_entry(to, 305, ascii, 7, name);
    put_entry(to, 339, u16, 1, is_float ? 3 : 1);
    const bool last = slice + 1 == n_[0];
    put(to, last ? std::uint64_t{0} : begin_ + (number + 1) * bytes);
    to.resize((number + 1) * bytes);
  }

  Shape n_;
  const VolumeFormat& form_;
  std::uint64_t begin_, slice_bytes_, x_, y_;
};

/// Where the directories begin, at an even offset.
Index directories_at(const FlatFacts& of) {
  const Index voxels = of.shape[0] * of.shape[1] * of.shape[2] * bytes_of(number_type(of.format.type));
  return head_bytes + voxels + voxels % 2;
}

std::string big_tiff_head(const FlatFacts& of) {
  std::string text = "II";
  put(text, std::uint16_t{43}), put(text, std::uint16_t{8}), put(text, std::uint16_t{0});
  put(text, static_cast<std::uint64_t>(directories_at(of)));
  return text;
}

std::string big_tiff_tail(const FlatFacts& of) {
  const Index begin = directories_at(of),
              voxels = of.shape[0] * of.shape[1] * of.shape[2] * bytes_of(number_type(of.format.type));
  const std::string text = description_of(of.shape, of.format, of.recipe, of.checksums);
  return std::string(voxels % 2, '\0') + Directories(of.shape, of.format, begin).text(text);
}

/// The lines of tandem in a description, in the form of the description of a TIFF slice.
std::string facts_in(const std::string& description) {
  std::istringstream lines(description);
  std::string facts;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix)) facts += line.substr(prefix.size()) + '\n';
  return facts;
}

class BigSliceFilesSource : public VolumeSource {
 public:
  BigSliceFilesSource(const fs::path& path, const std::string& description) : file_(path) {
    const SlicePart part = slice_part_of(facts_in(description), path);
    where = path.string();
    shape = part.shape;
    const TiffPage& page = file_.page(0);
    require<FileError>(file_.pages() == shape[0] && page.rows == shape[1] && page.bins == shape[2], where,
                       ": has ", file_.pages(), " pages of ", page.rows, " x ", page.bins,
                       " pixels, not the slices that its description says; it is damaged");
    type = page.type;
    is_float16 = page.is_float16;
    unit = part.facts.text("unit");
    place = part.place;
    min = part.facts.number("min"), max = part.facts.number("max");
    recipe = part.facts.text("recipe");
    reconstruction = true;
    std::istringstream words(part.facts.text("checksums"));
    for (std::uint32_t sum = 0; words >> std::hex >> sum;) checksums_.push_back(sum);
  }

  void read(Range slices, float* stored) override {
    const Index pixels = shape[1] * shape[2];
    std::vector<std::byte> bytes(pixels * bytes_of(type));
    for (Index k = slices.first; k < slices.last; ++k, stored += pixels) {
      require_like_first(k);
      file_.read(k, {0, shape[1]}, {0, shape[2]}, bytes.data());
      const std::size_t number = k;
      require<FileError>(
          number < checksums_.size() && checksums_[number] == stored_checksum(bytes.data(), pixels), where,
          ": slice ", k, " does not have the checksum that it was written with; the file is damaged");
      to_float(type, bytes.data(), pixels, reinterpret_cast<std::byte*>(stored));
    }
  }

  void read_part(std::size_t, Index slice, Range y, Range x, std::byte* out) const override {
    require_like_first(slice);
    file_.read(slice, y, x, out);
  }
  std::size_t decoded_bytes() const override { return file_.decoded_bytes(0); }

 private:
  void require_like_first(Index k) const {
    const TiffPage& page = file_.page(k);
    require<FileError>(page.rows == shape[1] && page.bins == shape[2] && page.type == type, where, ": page ",
                       k, " is of another size or type than the first; the file is damaged");
  }

  TiffFile file_;
  std::vector<std::uint32_t> checksums_;
};

std::unique_ptr<VolumeSource> open(const fs::path& path, bool) {
  std::error_code fault;
  if (!fs::is_regular_file(path, fault) || volume_kind(path) == nullptr || volume_kind(path)->open != open)
    return nullptr;
  const std::string description = tiff_description(path);
  if (!written_by_tandem(description)) return nullptr;
  return std::make_unique<BigSliceFilesSource>(path, description);
}

}  // namespace

VolumeKind big_tiff_kind() {
  return {.name = "bigtiff",
          .title = "BigTIFF",
          .endings = {".btf", ".tf8"},
          .types = {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8},
          .create = [](const Creation& c) { return create_flat_volume(c, big_tiff_head, big_tiff_tail); },
          .open = open};
}

}  // namespace tandem::io
