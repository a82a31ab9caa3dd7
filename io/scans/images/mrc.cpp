// MRC, the format of electron microscopes: MRC2014 (Cheng et al., J. Struct. Biol. 192, 2015) and what IMOD
// (bio3d.colorado.edu/imod/doc/mrc_format.txt) wrote before. A head of 1024 bytes, an extended head, and
// images of one size.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../core/units.hpp"
#include "../../files/text.hpp"
#include "../../files/text_file.hpp"
#include "../settings/key_values.hpp"
#include "image.hpp"
#include "stored_images.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index head_bytes = 1024, most_images = 1'000'000;

/// The head of a file. Words of four bytes count from 0.
class MrcHead {
 public:
  explicit MrcHead(const fs::path& path) {
    std::ifstream(path, std::ios::binary).read(head_.data(), head_.size());
    // the machine stamp, or a mode that is small in this order only
    const int stamp = static_cast<unsigned char>(head_[212]);
    const bool big = stamp == 0x11 || (stamp != 0x44 && plain_word(3) > 0xffff);
    swapped_ = big == (std::endian::native == std::endian::little);
  }
  Index word(int k) const { return swapped_ ? std::bit_cast<std::int32_t>(reversed(k)) : plain_word(k); }
  float real(int k) const { return std::bit_cast<float>(static_cast<std::int32_t>(word(k))); }
  bool has_map() const { return std::string_view(head_.data() + 208, 4) == "MAP "; }
  Index first() const { return head_bytes + word(23); }  ///< where pixels begin

  /// How pixels are stored; empty for modes of complex numbers or of half a byte.
  std::optional<NumberForm> form() const {
    constexpr std::int32_t imod = 1146047817;
    const bool bytes_are_natural = word(38) == imod && word(39) % 2 == 0;
    switch (word(3)) {
      case 0:
        return number_form(bytes_are_natural ? NumberKind::natural : NumberKind::integer, 1, false);
      case 1:
        return number_form(NumberKind::integer, 2, swapped_);
      case 2:
        return number_form(NumberKind::real, 4, swapped_);
      case 6:
        return number_form(NumberKind::natural, 2, swapped_);
      case 12:
        return number_form(NumberKind::real, 2, swapped_);
      default:
        return std::nullopt;
    }
  }

 private:
  std::int32_t plain_word(int k) const {
    std::int32_t value = 0;
    std::memcpy(&value, head_.data() + 4 * k, 4);
    return value;
  }
  std::uint32_t reversed(int k) const {
    const auto value = static_cast<std::uint32_t>(plain_word(k));
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
  }
  std::array<char, head_bytes> head_{};
  bool swapped_ = false;
};

bool is_mrc(const fs::path& path) {
  const std::string ending = in_lower_case(path.extension().string());
  const bool named = is_among(ending, ".mrc .mrcs .st .ali .rec");
  std::error_code fault;
  if (!fs::is_regular_file(path, fault) || fs::file_size(path, fault) < head_bytes) return named;
  return named || MrcHead(path).has_map();
}

std::unique_ptr<ImageFile> open_mrc(const fs::path& path) {
  const FileStamp stamp = stamp_of(path, path.string());
  require<FileError>(stamp.bytes >= head_bytes, path.string(), ": has ", stamp.bytes,
                     " bytes; the head of an MRC file alone has ", head_bytes);
  const MrcHead head(path);
  const std::optional<NumberForm> form = head.form();
  require<FileError>(form.has_value(), path.string(), ": mode ", head.word(3),
                     "; 0, 1, 2, 6 or 12 is needed (integers of 8 and 16 bits, float32, float16)");
  require<FileError>(head.word(23) >= 0 && head.word(2) <= most_images, path.string(), ": claims ",
                     head.word(23), " bytes of an extended head and ", head.word(2),
                     " images; it is damaged");
  const Index images = head.word(2);
  return std::make_unique<StoredImages>(
      stamp, images_alike(stamp, head.first(), images, head.word(1), head.word(0), *form),
      std::vector<Index>{images});
}

/// The angles of `TiltAngle = X` behind each `[ZValue = K]`, as SerialEM writes them beside a series.
/// @throws FileError unless each image from 0 on has one
std::vector<double> angles_of_mdoc(const fs::path& path) {
  std::map<double, double> of_image;
  std::optional<double> image;
  std::istringstream file(text_of_file(path, "a text of SerialEM"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos) continue;
    const std::string key(trimmed(line.substr(0, equal)));
    const std::string value(trimmed(line.substr(equal + 1)));
    if (key == "[ZValue") image = finite_number(trimmed(value.substr(0, value.find(']'))));
    if (key != "TiltAngle" || !image) continue;
    const std::optional<double> angle = finite_number(value);
    require<FileError>(angle.has_value(), path.string(), ": [ZValue = ", *image,
                       "]: TiltAngle = ", value.substr(0, 40), "; a finite number is needed");
    require<FileError>(of_image.try_emplace(*image, *angle).second, path.string(), ": [ZValue = ", *image,
                       "]: a second TiltAngle = ", *angle, "; one for each image is needed");
  }
  std::vector<double> degrees;
  for (const auto& [number, angle] : of_image) {
    require<FileError>(number == static_cast<double>(degrees.size()), path.string(),
                       ": has no TiltAngle of [ZValue = ", degrees.size(), "]");
    degrees.push_back(angle);
  }
  return degrees;
}

/// The files of angles beside a series. A list of an alignment (*.tlt) comes before what the microscope
/// wrote.
std::vector<fs::path> lists_beside(const fs::path& path) {
  const auto with = [&](const char* ending) { return fs::path(path).replace_extension(ending); };
  return {with(".tlt"), fs::path(path.string() + ".mdoc"), with(".mdoc"), with(".rawtlt")};
}

/// The angles beside a series, in degrees, and their file: of several the first one that has an angle for
/// each image.
std::pair<std::vector<double>, fs::path> angles_beside(const fs::path& path, Index images) {
  std::error_code fault;
  std::pair<std::vector<double>, fs::path> found;
  for (const fs::path& list : lists_beside(path)) {
    if (!fs::is_regular_file(list, fault) || std::ssize(found.first) == images) continue;
    std::vector<double> degrees =
        list.extension() == ".mdoc" ? angles_of_mdoc(list) : read_numbers(list, "angle", "in degrees");
    if (found.second.empty() || std::ssize(degrees) == images) found = {std::move(degrees), list};
  }
  return found;
}

/// Takes the angles from a file beside the series, and the pitch from its head, where an ångström is the
/// unit.
void complete_mrc(const fs::path& path, const OpenOptions& options, Acquisition& found) {
  constexpr double mm_per_angstrom = 1e-7, least_mm = 1e-8;
  const MrcHead head(path);
  const double angstrom = head.word(7) > 0 ? head.real(10) / head.word(7) : 0;
  const double pitch = angstrom * mm_per_angstrom;
  // programs that know no size write 1 angstrom, or 0
  const bool known = angstrom != 1 && pitch >= least_mm && pitch <= 1;
  if (known) found.info.pixel_size_mm = pitch;
  if (!known && !options.pixel_size_mm)
    found.info.notes.push_back(
        words(path.string(), ": pixels of ", angstrom, " angstrom are left out, ",
              angstrom == 1 ? "which files have that know no size" : "which no microscope has",
              "; lengths are in pixels unless you give ", spelled("pixel-size"), " MM"));
  if (!options.angles.empty() || options.arc_deg) return;
  const auto [degrees, list] = angles_beside(path, head.word(2));
  if (list.empty()) return;
  require<FileError>(std::ssize(degrees) == head.word(2), list.string(), ": has ", degrees.size(),
                     " angles for ", head.word(2), " images; give ", spelled("angles"), " FILE");
  for (const double angle : degrees) found.angles.push_back(in_radians(angle));
  found.angles_where = list.string();
  found.info.notes.push_back("angles are those of " + list.filename().string());
}

}  // namespace

extern const ImageFormat mrc_images{.name = "MRC",
                                    .endings = {},
                                    .recognises = is_mrc,
                                    .open = open_mrc,
                                    .complete = complete_mrc,
                                    .beside = lists_beside};

}  // namespace tandem::io
