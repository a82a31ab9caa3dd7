// Frames in files without a head of their own, as the user says that they are stored.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/text.hpp"
#include "image.hpp"
#include "stored_images.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

struct RawType {
  std::string_view name, short_name;
  NumberKind kind;
  Index bytes;
};

constexpr std::array raw_types{
    RawType{"uint8", "u1", NumberKind::natural, 1},  RawType{"uint16", "u2", NumberKind::natural, 2},
    RawType{"uint32", "u4", NumberKind::natural, 4}, RawType{"uint64", "u8", NumberKind::natural, 8},
    RawType{"int8", "i1", NumberKind::integer, 1},   RawType{"int16", "i2", NumberKind::integer, 2},
    RawType{"int32", "i4", NumberKind::integer, 4},  RawType{"int64", "i8", NumberKind::integer, 8},
    RawType{"float16", "f2", NumberKind::real, 2},   RawType{"float32", "f4", NumberKind::real, 4},
    RawType{"float64", "f8", NumberKind::real, 8}};

const RawType* raw_type_called(std::string_view name) {
  const auto found = std::ranges::find_if(
      raw_types, [&](const RawType& type) { return type.name == name || type.short_name == name; });
  return found == raw_types.end() ? nullptr : &*found;
}

/// A whole number in a text, from `least` to `most`; empty for anything else.
std::optional<Index> whole_between(std::string_view text, Index least, Index most) {
  Index value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = fault == std::errc{} && end == text.data() + text.size();
  return all && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// What a text has said so far, so that nothing is said twice.
struct Said {
  bool header = false, order = false;
};

std::string fault_of_type(std::string_view word, RawFrames& into, Said& said) {
  std::string_view name = word;
  if (name.starts_with('>') || name.starts_with('<')) {
    into.big_endian = name.front() == '>', said.order = true;
    name.remove_prefix(1);
  } else if (name.starts_with('|')) {
    name.remove_prefix(1);
  }
  const RawType* type = raw_type_called(name);
  if (!type)
    return "'" + std::string(word) + "' is no type; " + joined(raw_types, ", ", &RawType::name) +
           " are known";
  into.type = type->name;
  return {};
}

std::string fault_of_size(std::string_view word, RawFrames& into) {
  constexpr Index most = 1'000'000;  // bins, or rows
  const std::size_t cross = word.find('x');
  const auto bins = whole_between(word.substr(0, cross), 1, most);
  const auto rows =
      cross == std::string_view::npos ? std::nullopt : whole_between(word.substr(cross + 1), 1, most);
  if (!bins || !rows)
    return words("'", word, "' is no size; BINSxROWS is needed, such as 2048x1024, each from 1 to ", most);
  into.bins = *bins, into.rows = *rows;
  return {};
}

std::string fault_of_detail(std::string_view word, RawFrames& into, Said& said) {
  constexpr Index most = Index{1} << 40;  // bytes
  const bool is_order = word == "big" || word == "little";
  if (is_order && std::exchange(said.order, true))
    return words("'", word, "': the order of bytes is given twice; give it once");
  if (is_order) {
    into.big_endian = word == "big";
    return {};
  }
  const std::string_view header = "header=";
  const auto bytes =
      word.starts_with(header) ? whole_between(word.substr(header.size()), 0, most) : std::nullopt;
  if (!bytes)
    return words("'", word, "' is not known; header=BYTES, from 0 to ", most, ", big or little may follow");
  if (std::exchange(said.header, true)) return words("'", word, "': the header is given twice; give it once");
  into.header = *bytes;
  return {};
}

NumberForm form_of(const RawFrames& raw) {
  const RawType& type = *raw_type_called(raw.type);
  return number_form(type.kind, type.bytes, raw.big_endian == (std::endian::native == std::endian::little))
      .value();
}

}  // namespace

std::string read_raw_frames(const std::string& text, RawFrames& into) {
  const std::string lower = in_lower_case(text);
  into = {};
  std::string_view rest = lower;
  Said said;
  for (int place = 0;; ++place) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = trimmed(rest.substr(0, comma));
    std::string fault = place == 0   ? fault_of_type(word, into, said)
                        : place == 1 ? fault_of_size(word, into)
                                     : fault_of_detail(word, into, said);
    if (!fault.empty()) return fault;
    if (comma == std::string_view::npos)
      return place >= 1 ? ""
                        : "'" + text + "' has no size; TYPE,BINSxROWS is needed, such as uint16,2048x1024";
    rest.remove_prefix(comma + 1);
  }
}

bool has_raw_name(const fs::path& path) {
  return is_among(in_lower_case(path.extension().string()), ".raw .bin .dat .img .ima .hraw .vol");
}

std::unique_ptr<ImageFile> open_raw(const fs::path& path, const RawFrames& raw) {
  constexpr Index most_images = 1'000'000;
  const FileStamp stamp = stamp_of(path, path.string());
  const NumberForm form = form_of(raw);
  const auto bytes = static_cast<Index>(stamp.bytes);
  const Index frame = raw.bins * raw.rows * form.bytes, there = std::max<Index>(bytes - raw.header, 0);
  const Index count = there / frame, over = there % frame;
  const std::string size = words(raw.type, " of ", raw.bins, " x ", raw.rows, " (bins x rows)");
  require<FileError>(count >= 1, path.string(), ": has ", bytes, " bytes; a header of ", raw.header,
                     " and one frame of ", size, " need ", raw.header + frame, "; check ", spelled("raw"));
  require<FileError>(over == 0, path.string(), ": has ", bytes, " bytes, which are a header of ", raw.header,
                     ", ", count, " frames of ", size, ", ", frame, " bytes each, and ", over,
                     " bytes more; check ", spelled("raw"), ", where header=", raw.header + over,
                     " would leave whole frames");
  require<FileError>(count <= most_images, path.string(), ": would hold ", count,
                     " frames, and no scan has as many; check ", spelled("raw"));
  return std::make_unique<StoredImages>(stamp,
                                        images_alike(stamp, raw.header, count, raw.rows, raw.bins, form),
                                        count == 1 ? std::vector<Index>() : std::vector<Index>{count});
}

}  // namespace tandem::io
