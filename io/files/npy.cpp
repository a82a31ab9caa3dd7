#include "npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include "../../core/error.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

constexpr std::string_view npy_mark = "\x93NUMPY";
constexpr Index longest_head = Index{1} << 20, most_of_axis = Index{1} << 40;

/// The value of a key in the head, such as 'descr': '<f8': a list in brackets, or up to a comma or the end.
std::string value_in(const std::string& head, const std::string& key, const std::string& where) {
  const std::size_t at = head.find("'" + key + "'"), colon = head.find(':', at);
  require<FileError>(at != std::string::npos && colon != std::string::npos, where, ": its head has no ", key);
  const std::size_t first = head.find_first_not_of(' ', colon + 1);
  require<FileError>(first != std::string::npos, where, ": its head ends behind ", key);
  const bool list = head[first] == '(';
  const std::size_t end = list ? head.find(')', first) : head.find_first_of(",}", first);
  require<FileError>(end != std::string::npos, where, ": its head ends within ", key);
  return std::string(trimmed(head.substr(first, end - first + (list ? 1 : 0))));
}

std::vector<Index> shape_in(const std::string& text, const std::string& where) {
  std::vector<Index> shape;
  require<FileError>(text.starts_with('(') && text.ends_with(')'), where, ": its shape ", text.substr(0, 60),
                     " is none");
  std::istringstream parts(text.substr(1, text.size() - 2));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::string_view digits = trimmed(part);
    if (digits.empty() && parts.eof()) break;  // behind the comma of (12,)
    Index extent = -1;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), extent);
    require<FileError>(
        fault == std::errc{} && end == digits.data() + digits.size() && extent >= 0 && extent <= most_of_axis,
        where, ": its shape ", text.substr(0, 60), " is none");
    shape.push_back(extent);
  }
  return shape;
}

template <class T>
double number_of(const char* bytes) {
  T number{};
  std::memcpy(&number, bytes, sizeof(T));
  return number;
}

/// An integer in the order of bytes of this machine, which has the low ones first.
double integer_of(const char* bytes, Index count, NumberKind kind) {
  std::uint64_t value = 0;
  for (Index k = count; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[k]);
  const int unused = static_cast<int>(64 - 8 * count);
  if (kind == NumberKind::natural) return static_cast<double>(value);
  return static_cast<double>(static_cast<std::int64_t>(value << unused) >> unused);
}

}  // namespace

bool is_npy(const std::filesystem::path& path) {
  std::array<char, npy_mark.size()> start{};
  if (std::error_code fault; !std::filesystem::is_regular_file(path, fault)) return false;  // a pipe may wait
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == npy_mark;
}

NpyHead npy_head(const FileStamp& stamp) {
  const std::string where = stamp.path.string();
  const InputFile file(stamp.path, where);
  std::array<unsigned char, 12> start{};
  require<FileError>(stamp.bytes > start.size() && is_npy(stamp.path), where, ": is no array of NumPy");
  file.read(0, start.size(), reinterpret_cast<std::byte*>(start.data()));
  require<FileError>(start[6] >= 1 && start[6] <= 3, where, ": is of version ", int{start[6]},
                     "; 1, 2 or 3 is needed");
  const bool long_head = start[6] > 1;
  Index length = start[8] | start[9] << 8;
  if (long_head) length |= Index{start[10]} << 16 | Index{start[11]} << 24;
  NpyHead head;
  head.first = (long_head ? 12 : 10) + length;
  require<FileError>(length <= longest_head && head.first <= static_cast<Index>(stamp.bytes), where,
                     ": ends within its head");
  std::string text(length, ' ');
  file.read(head.first - length, length, reinterpret_cast<std::byte*>(text.data()));
  const std::string type = value_in(text, "descr", where);
  constexpr std::string_view orders = "<>|=", kinds = "uif";
  const bool known = type.size() == 5 && type[0] == '\'' && type[4] == '\'' &&
                     orders.find(type[1]) != std::string_view::npos &&
                     kinds.find(type[2]) != std::string_view::npos && type[3] >= '1' && type[3] <= '8';
  require<FileError>(known, where, ": has numbers of type ", type.substr(0, 40),
                     "; integers or floats of 1 to 8 bytes are needed");
  head.kind = type[2] == 'u' ? NumberKind::natural : type[2] == 'i' ? NumberKind::integer : NumberKind::real;
  head.bytes = type[3] - '0';
  head.swapped = type[1] == (std::endian::native == std::endian::little ? '>' : '<');
  require<FileError>(number_form(head.kind, head.bytes, head.swapped).has_value(), where,
                     ": has numbers of type ", type, "; integers or floats of 1 to 8 bytes are needed");
  const std::string order = value_in(text, "fortran_order", where);
  require<FileError>(order == "True" || order == "False", where, ": fortran_order is ", order.substr(0, 40),
                     "; True or False is needed");
  head.by_columns = order == "True";
  head.shape = shape_in(value_in(text, "shape", where), where);
  return head;
}

std::vector<double> npy_numbers(const FileStamp& stamp, const NpyHead& head, Index count) {
  std::vector<char> raw(count * head.bytes);
  InputFile(stamp.path, stamp.path.string())
      .read(head.first, raw.size(), reinterpret_cast<std::byte*>(raw.data()));
  std::vector<double> numbers(count);
  for (Index k = 0; k < count; ++k) {
    char* const one = raw.data() + k * head.bytes;
    if (head.swapped) std::reverse(one, one + head.bytes);
    numbers[k] = head.kind != NumberKind::real ? integer_of(one, head.bytes, head.kind)
                 : head.bytes == 4             ? number_of<float>(one)
                                               : number_of<double>(one);
  }
  return numbers;
}

}  // namespace tandem::io
