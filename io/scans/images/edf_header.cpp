#include "edf_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <vector>

#include "../../../core/error.hpp"
#include "../../files/text.hpp"

namespace tandem::io {

namespace {

constexpr Index block = 512;               // headers are padded to blocks of so many bytes
constexpr Index most = Index{1} << 40;     // of anything that is counted
constexpr Index longest = Index{1} << 20;  // of a header; real ones have a few blocks

/// Where a header ends: behind a line that holds nothing but "}". Values may have braces too.
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

/// From "key = value ;" on each line.
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

/// What names mean, in lower case and without blanks.
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

}  // namespace

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
  return number_form(number->kind, number->bytes, swapped).value();  // for all kinds of the list
}

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

EdfHeader edf_header(const InputFile& file, const std::string& where, Index offset, Index end) {
  std::string text;
  std::size_t stop = std::string::npos;
  while (stop == std::string::npos) {
    const auto before = static_cast<Index>(text.size());
    const Index more = std::min({std::max(block, before), longest - before, end - offset - before});
    require<FileError>(more > 0, where, ": the header at byte ", offset, " does not end within ",
                       std::min(longest, end - offset), " bytes; the file is damaged or was cut short");
    text.resize(static_cast<std::size_t>(before + more));
    file.read(offset + before, more, reinterpret_cast<std::byte*>(text.data() + before));
    stop = end_of(text, static_cast<std::size_t>(std::max<Index>(0, before - 2)));
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  require<FileError>(text[begin] == '{', where, ": no header begins at byte ", offset,
                     "; the file is damaged, or its images have other sizes than their headers say");
  text.resize(stop);
  EdfHeader header{values_in(text), static_cast<Index>(stop)};
  if (!header.values.contains("edf_headersize")) return header;
  const Index said = header.count(where, "edf_headersize", {});  // fabio reads on where the text ends
  if (said > header.bytes && said <= end - offset && only_blanks(file, offset + header.bytes, offset + said))
    header.bytes = said;
  return header;
}

}  // namespace tandem::io
