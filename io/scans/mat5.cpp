// MATLAB files of level 5 (MathWorks, MAT-File Format, chapter 1). They have nested elements with a type and
// a size, and zlib packs some of them.

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../files/input_file.hpp"
#include "matlab.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

enum Type : std::uint32_t {
  int8 = 1,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  single_,
  double_ = 9,
  int64 = 12,
  uint64,
  matrix,
  compressed
};
enum Class : std::uint32_t { cells = 1, structure = 2, first_numeric = 6, last_numeric = 15 };

constexpr std::size_t largest = std::size_t{1} << 31;  // bytes of a file or of an element that is unpacked
constexpr double packed_most = 1032;                   // deflate packs less
constexpr int deepest = 8;                             // structures in structures
constexpr std::size_t most_arrays = 10'000;

/// A piece of the file, which is read from its beginning to its end.
class Bytes {
 public:
  Bytes(std::string_view data, bool swapped, const std::string& where)
      : data_(data), swapped_(swapped), where_(where) {}
  bool empty() const { return data_.empty(); }
  bool swapped() const { return swapped_; }
  const std::string& where() const { return where_; }

  std::string_view rest() const { return data_; }

  std::string_view take(std::size_t count) {
    require<FileError>(count <= data_.size(), where_, ": an element claims ", count, " bytes where ",
                       data_.size(), " are left; the file is damaged or was cut short");
    const std::string_view taken = data_.substr(0, count);
    data_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T number() {
    std::array<char, sizeof(T)> bytes{};
    const std::string_view taken = take(sizeof(T));
    std::copy(taken.begin(), taken.end(), bytes.begin());
    if (swapped_) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
  }
  void skip_to(std::size_t multiple, std::size_t size) {
    const std::size_t rest = (multiple - size % multiple) % multiple;
    data_.remove_prefix(std::min(rest, data_.size()));
  }

 private:
  std::string_view data_;
  bool swapped_;
  const std::string& where_;
};

struct Element {
  std::uint32_t type;
  Bytes data;
};

/// The next element. Small elements have type and size in the four bytes that otherwise hold the type.
Element next_element(Bytes& from) {
  const auto word = from.number<std::uint32_t>();
  if (word >> 16 != 0) {
    const std::size_t size = word >> 16;
    require<FileError>(size <= 4, from.where(), ": a small element of ", size, " bytes; the file is damaged");
    Bytes data(from.take(size), from.swapped(), from.where());
    from.skip_to(4, size);
    return {word & 0xffff, data};
  }
  const auto size = from.number<std::uint32_t>();
  Bytes data(from.take(size), from.swapped(), from.where());
  if (word != compressed) from.skip_to(8, size);
  return {word, data};
}

/// The next element, which describes an array.
Element short_element(Bytes& from) {
  constexpr std::size_t longest = 4096;
  Element element = next_element(from);
  require<FileError>(element.data.rest().size() <= longest, from.where(), ": flags, axes or a name of ",
                     element.data.rest().size(), " bytes; the file is damaged");
  return element;
}

template <class T>
std::vector<double> numbers_as(Bytes data) {
  std::vector<double> values;
  values.reserve(data.rest().size() / sizeof(T));
  while (!data.empty()) values.push_back(data.number<T>());
  return values;
}

std::vector<double> numbers_of(const Element& element) {
  switch (element.type) {
    case int8:
      return numbers_as<std::int8_t>(element.data);
    case uint8:
      return numbers_as<std::uint8_t>(element.data);
    case int16:
      return numbers_as<std::int16_t>(element.data);
    case uint16:
      return numbers_as<std::uint16_t>(element.data);
    case int32:
      return numbers_as<std::int32_t>(element.data);
    case uint32:
      return numbers_as<std::uint32_t>(element.data);
    case single_:
      return numbers_as<float>(element.data);
    case double_:
      return numbers_as<double>(element.data);
    case int64:
      return numbers_as<std::int64_t>(element.data);
    case uint64:
      return numbers_as<std::uint64_t>(element.data);
    default:
      throw FileError(element.data.where() + ": numbers of the type " + std::to_string(element.type) +
                      ", which is not known; the file is damaged");
  }
}

std::string text_of(Element element) {
  std::string text;
  while (!element.data.empty())
    if (const char c = element.data.number<char>(); c != '\0') text += c;
  return text;
}

std::vector<Index> shape_of(const Element& element) {
  std::vector<Index> shape;
  double size = 1;
  for (const double count : numbers_of(element)) {
    require<FileError>(count >= 0 && count == std::floor(count) && (size *= std::max(count, 1.0)) <= 1e12 &&
                           shape.size() < 8,
                       element.data.where(), ": an axis of ", count, " elements; the file is damaged");
    shape.push_back(floor_index(count));
  }
  return shape;
}

void read_matrix(Bytes data, const std::string& prefix, int depth, MatVariables& into);

/// Reads the fields of a structure; or of the first structure, if it is an array.
void read_structure(Bytes& data, const std::string& name, int depth, MatVariables& into) {
  const std::vector<double> length = numbers_of(short_element(data));
  require<FileError>(length.size() == 1 && length[0] >= 1 && length[0] <= 1024, data.where(),
                     ": the fields of ", name,
                     " have names of a length that makes no sense; the file is damaged");
  Bytes names = next_element(data).data;
  std::vector<std::string> fields;
  while (!names.empty()) {
    std::string field(names.take(static_cast<std::size_t>(length[0])));
    fields.push_back(field.substr(0, field.find('\0')));
  }
  for (const std::string& field : fields) {
    if (data.empty()) return;
    const Element element = next_element(data);
    if (element.type == matrix && !element.data.empty())
      read_matrix(element.data, name + "." + field, depth - 1, into);
  }
}

/// Reads an array with its flags, extents and name. A field of a structure has no name of its own, and
/// `prefix` is its name.
void read_matrix(Bytes data, const std::string& prefix, int depth, MatVariables& into) {
  if (depth == 0 || into.size() >= most_arrays) return;
  const std::vector<double> flags = numbers_of(short_element(data));
  require<FileError>(!flags.empty(), data.where(), ": an array without flags; the file is damaged");
  const std::uint32_t bits = static_cast<std::uint32_t>(flags[0]), kind = bits & 0xff;
  const bool complex_numbers = (bits & 0x800) != 0;
  const std::vector<Index> shape = shape_of(short_element(data));
  const std::string own = text_of(short_element(data)), name = prefix.empty() ? own : prefix;
  if (kind == structure) return read_structure(data, name, depth, into);
  if (kind < first_numeric || kind > last_numeric || complex_numbers) return;
  double size = 1, kept = 0;
  for (const Index count : shape) size *= count;
  for (const auto& [other, numbers] : into) kept += numbers.values.size();
  if (kept + size > most_numbers_of_arrays) {
    into[name].shape = shape;
    return;
  }
  MatArray array{shape, {}};
  if (!data.empty()) {
    const Element numbers = next_element(data);
    require<FileError>(numbers.data.rest().size() <= size * sizeof(double), data.where(), ": ", name, " has ",
                       numbers.data.rest().size(), " bytes for ", size, " numbers; the file is damaged");
    array.values = numbers_of(numbers);
  }
  require<FileError>(size == array.values.size(), data.where(), ": ", name, " has ", array.values.size(),
                     " numbers where its axes have ", size, "; the file is damaged");
  into[name] = std::move(array);
}

std::string unpacked(const Bytes& from) {
  const std::string_view packed = from.rest();
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> tool(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  const double most = packed_most * packed.size() + 1024;
  for (std::size_t room = 8 * packed.size() + 1024;; room *= 4) {
    std::string out(std::min(room, largest), '\0');
    std::size_t got = 0;
    const auto result =
        libdeflate_zlib_decompress(tool.get(), packed.data(), packed.size(), out.data(), out.size(), &got);
    out.resize(got);
    if (result == LIBDEFLATE_SUCCESS) return out;
    require<FileError>(result == LIBDEFLATE_INSUFFICIENT_SPACE && room < largest && room < most, from.where(),
                       ": a packed element cannot be unpacked; the file is damaged");
  }
}

std::string content_of(const fs::path& path, const std::string& where) {
  const FileStamp stamp = stamp_of(path, where);
  require<FileError>(stamp.bytes <= largest && stamp.bytes >= 128, where, ": has ", stamp.bytes,
                     " bytes; a MATLAB file of 128 to ", largest, " is needed");
  std::string content(stamp.bytes, '\0');
  InputFile(path, where).read(0, content.size(), reinterpret_cast<std::byte*>(content.data()));
  return content;
}

}  // namespace

MatVariables read_mat5(const fs::path& path) {
  const std::string where = path.string(), content = content_of(path, where);
  const bool high_first = content.compare(126, 2, "MI") == 0;
  const bool swapped = high_first == (std::endian::native == std::endian::little);
  MatVariables all;
  Bytes bytes(std::string_view(content).substr(128), swapped, where);
  while (!bytes.empty()) {
    const Element element = next_element(bytes);
    if (element.type == matrix) read_matrix(element.data, "", deepest, all);
    if (element.type != compressed) continue;
    const std::string plain = unpacked(element.data);
    Bytes inner(plain, swapped, where);
    const Element within = next_element(inner);
    if (within.type == matrix) read_matrix(within.data, "", deepest, all);
  }
  return all;
}

}  // namespace tandem::io
