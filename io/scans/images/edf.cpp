// EDF, the ESRF data format, has one image or several, each with a header of text before it (as fabio reads
// and writes it: github.com/silx-kit/fabio, edfimage.py).

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../../core/error.hpp"
#include "../../files/input_file.hpp"
#include "../../files/number_form.hpp"
#include "../../files/text.hpp"
#include "image.hpp"
#include "stored_images.hpp"

namespace tandem::io {

namespace {

/// The header of one image of an EDF file: "{", lines "key = value ;", "}". Keys are in lower case.
struct EdfHeader {
  std::map<std::string, std::string> values;
  Index bytes = 0;  ///< size of the header, behind which pixels begin

  /// Whether it describes an image. A general block at the beginning of a file does not.
  bool has_image() const { return values.contains("dim_1"); }
  /// A whole number from 1 up to 2^40; `otherwise` if there is none. @throws FileError for anything else
  Index count(const std::string& where, const std::string& key, std::optional<Index> otherwise) const;
  /// The number of bytes behind the header, EDF_BinarySize or Size, if it has one. @throws FileError
  std::optional<Index> size(const std::string& where) const;
  /// How the pixels are stored. @throws FileError for a type that is not known
  NumberForm form(const std::string& where) const;
};

constexpr Index block = 512;               // headers are padded to multiples of this, in bytes
constexpr Index most = Index{1} << 40;     // the largest count
constexpr Index longest = Index{1} << 20;  // bytes of a header; real ones have a few blocks

/// The end of a header, behind a line that holds only "}". Values may have braces too.
std::size_t end_of(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('}', from); at != std::string_view::npos; at = text.find('}', at + 1)) {
    const std::size_t line = text.find_last_of("\n{", at == 0 ? 0 : at - 1);
    const bool alone =
        line != std::string_view::npos && trimmed(text.substr(line + 1, at - line - 1)).empty();
    std::size_t end = at + 1;
    if (end < text.size() && text[end] == '\r') ++end;
    if (alone && end < text.size() && text[end] == '\n') return end + 1;
  }
  return std::string_view::npos;
}

/// The values of lines "key = value ;".
std::map<std::string, std::string> values_in(std::string_view text) {
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) continue;
    std::string_view value = trimmed(line.substr(equal + 1));
    if (value.ends_with(';')) value.remove_suffix(1);
    values.try_emplace(in_lower_case(std::string(trimmed(line.substr(0, equal)))), trimmed(value));
  }
  return values;
}

/// A type of numbers, whose names are in lower case and without blanks.
struct Numbers {
  NumberKind kind;
  Index bytes;
  std::string_view names;
};

constexpr Numbers numbers[] = {{NumberKind::natural, 1, "unsignedbyte unsigned8 unsignedchar"},
                               {NumberKind::integer, 1, "signedbyte signed8"},
                               {NumberKind::natural, 2, "unsignedshort unsigned16 unsignedshortinteger"},
                               {NumberKind::integer, 2, "signedshort signed16"},
                               {NumberKind::natural, 4, "unsignedinteger unsignedlong unsigned32"},
                               {NumberKind::integer, 4, "signedinteger signedlong signed32"},
                               {NumberKind::natural, 8, "unsigned64"},
                               {NumberKind::integer, 8, "signed64"},
                               {NumberKind::real, 2, "halfvalue float16"},
                               {NumberKind::real, 4, "floatvalue float float32 floatieee32"},
                               {NumberKind::real, 8, "doublevalue float64 doubleieee64"}};

Index EdfHeader::count(const std::string& where, const std::string& key,
                       std::optional<Index> otherwise) const {
  const auto found = values.find(key);
  if (found == values.end() && otherwise) return *otherwise;
  require<FileError>(found != values.end(), where, ": its header has no ", key, "; the file is damaged");
  const std::string& text = found->second;
  Index number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  require<FileError>(
      fault == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= most, where, ": ",
      key, " = ", text.substr(0, 40), "; a whole number from 1 to ", most, " is needed");
  return number;
}

std::optional<Index> EdfHeader::size(const std::string& where) const {
  for (const char* key : {"edf_binarysize", "size"})
    if (values.contains(key)) return count(where, key, {});
  return std::nullopt;
}

NumberForm EdfHeader::form(const std::string& where) const {
  const auto text = [this](const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : in_lower_case(std::string(trimmed(found->second)));
  };
  const std::string type = text("datatype"), order = text("byteorder"), packing = text("compression");
  require<FileError>(packing.empty() || packing == "none", where,
                     ": is packed (Compression = ", packing.substr(0, 40),
                     "); an EDF file that is not packed is needed");
  const auto* number =
      std::ranges::find_if(numbers, [&](const Numbers& some) { return is_among(type, some.names); });
  require<FileError>(number != std::end(numbers), where, ": DataType = ", type.substr(0, 40),
                     "; integers of 8 to 64 bits or floats (UnsignedShort, FloatValue, ...) are needed");
  const bool high = order == "highbytefirst";
  require<FileError>(high || order == "lowbytefirst" || (order.empty() && number->bytes == 1), where,
                     ": ByteOrder = ", order.substr(0, 40), "; LowByteFirst or HighByteFirst is needed");
  const bool swapped = high == (std::endian::native == std::endian::little);
  return number_form(number->kind, number->bytes, swapped).value();  // exists for all types of the list
}

/// Whether bytes are only blanks and zeros, which some programs write to fill a block.
bool only_blanks(const InputFile& file, Index first, Index last) {
  std::array<char, 512> some{};
  for (Index count = 0; first < last; first += count) {
    count = std::min<Index>(last - first, some.size());
    file.read(first, count, reinterpret_cast<std::byte*>(some.data()));
    if (!std::all_of(some.begin(), some.begin() + count,
                     [](char c) { return c == 0 || c == ' ' || c == '\r' || c == '\n'; }))
      return false;
  }
  return true;
}

/// The header that begins at `offset`; `end` is where the file ends. @throws FileError
EdfHeader edf_header(const InputFile& file, const std::string& where, Index offset, Index end) {
  std::string text;
  std::size_t stop = std::string::npos;
  while (stop == std::string::npos) {
    const Index before = text.size();
    const Index more = std::min({std::max(block, before), longest - before, end - offset - before});
    require<FileError>(more > 0, where, ": the header at byte ", offset, " does not end within ",
                       std::min(longest, end - offset), " bytes; the file is damaged or was cut short");
    text.resize(before + more);
    file.read(offset + before, more, reinterpret_cast<std::byte*>(text.data() + before));
    stop = end_of(text, std::max<Index>(0, before - 2));
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  require<FileError>(text[begin] == '{', where, ": no header begins at byte ", offset,
                     "; the file is damaged, or its images have other sizes than their headers say");
  text.resize(stop);
  EdfHeader header{values_in(text), static_cast<Index>(stop)};
  if (!header.values.contains("edf_headersize")) return header;
  const Index said = header.count(where, "edf_headersize", {});  // fabio reads on from the text's end
  if (said > header.bytes && said <= end - offset && only_blanks(file, offset + header.bytes, offset + said))
    header.bytes = said;
  return header;
}

namespace fs = std::filesystem;

constexpr Index padding = 512;  // some programs pad blocks of pixels to a multiple of this, in bytes

/// Finds the images of a file, block by block.
class EdfImages {
 public:
  explicit EdfImages(const FileStamp& stamp) : name_(stamp.path.string()) {
    const InputFile file(stamp.path, name_);
    const Index end = stamp.bytes;
    Index at = 0;
    while (at < end && !only_blanks(file, at, end)) at = add_block(file, at, end);
    require<FileError>(!pages_.empty(), name_, ": holds no image; a header with Dim_1 is needed");
  }
  std::vector<StoredImage> pages() && { return std::move(pages_); }

 private:
  /// Adds the images of the block that begins at a byte, and returns where the next block begins.
  Index add_block(const InputFile& file, Index at, Index end) {
    const std::string where = name_ + (pages_.empty() ? "" : ": image " + std::to_string(pages_.size()));
    const EdfHeader header = edf_header(file, where, at, end);
    require<FileError>(
        !header.values.contains("edf_binaryfilename"), where,
        ": its pixels are in another file (EDF_BinaryFileName); a file that holds them is needed");
    at += header.bytes;
    if (!header.has_image()) return at;
    const NumberForm form = header.form(where);
    const Index bins = header.count(where, "dim_1", {}), rows = header.count(where, "dim_2", 1),
                images = header.count(where, "dim_3", 1);
    const double image = 1.0 * rows * bins * form.bytes;
    const double claimed = image * images;
    require<FileError>(claimed <= end - at, where, ": claims ",
                       images > 1 ? std::to_string(images) + " x " : "", rows, " x ", bins, " pixels, ",
                       claimed, " bytes; the file ends after ", end - at, ", it is damaged or was cut short");
    const Index size = header.size(where).value_or(static_cast<Index>(claimed));
    const Index own = images > 1 ? images : images_in(file, {at, at + size}, static_cast<Index>(image), end);
    const double pixels = image * own, blanks = size - pixels;
    const bool last = size > end - at && blanks < padding && pixels <= end - at;
    require<FileError>(blanks >= 0 && (size <= end - at || last), where, ": Size = ", size,
                       " bytes for pixels of ", pixels, " in a file that has ", end - at,
                       " more; it is damaged");
    const std::vector<StoredImage> images_here =
        images_alike({name_, static_cast<std::uintmax_t>(end)}, at, own, rows, bins, form);
    pages_.insert(pages_.end(), images_here.begin(), images_here.end());
    return at + std::min(size, end - at);
  }

  /// The number of images in the bytes of a block. It is one if the bytes after the first image hold no whole
  /// images, or only fill the block.
  static Index images_in(const InputFile& file, Range bytes, Index image, Index end) {
    const Index more = bytes.size() - image;
    if (more <= 0 || more % image != 0) return 1;
    const bool pads = more < padding && only_blanks(file, bytes.first + image, std::min(bytes.last, end));
    return pads ? 1 : bytes.size() / image;
  }

  std::string name_;
  std::vector<StoredImage> pages_;
};

bool is_edf(const fs::path& path) {
  std::array<char, 512> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  const std::string all(start.data(), std::max<std::streamsize>(0, file.gcount()));
  const std::string text = in_lower_case(all.substr(std::min(all.find_first_not_of(" \t\r\n"), all.size())));
  if (!text.starts_with('{')) return false;
  return text.find("headerid") != std::string::npos || text.find("dim_1") != std::string::npos ||
         text.find("edf_") != std::string::npos || text.find("byteorder") != std::string::npos;
}

}  // namespace

extern const ImageFormat edf_images{.name = "EDF",
                                    .endings = {".edf"},
                                    .recognises = is_edf,
                                    .open = [](const fs::path& path) -> std::unique_ptr<ImageFile> {
                                      const FileStamp stamp = stamp_of(path, path.string());
                                      return std::make_unique<StoredImages>(stamp, EdfImages(stamp).pages());
                                    }};

}  // namespace tandem::io
