#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../files/npy.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/rehearsal.hpp"
#include "frame_source.hpp"
#include "inside_file.hpp"
#include "layouts/layout.hpp"

namespace tandem::io {

namespace {

constexpr Index most_in_list = 10'000'000;  // most numbers in a list; options take at most so many views

/// The number in a text. Messages do not show the text, since the file may never have been meant to be a
/// list.
double number_in(std::string_view text, const std::filesystem::path& path, Index line,
                 const std::string& what, const std::string& unit) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  require<FileError>(fault == std::errc{} && end == text.data() + text.size() && std::isfinite(value),
                     path.string(), ": line ", line, " is no number; one ", what, " per line, ", unit,
                     ", is needed");
  return value;
}

}  // namespace

double radians_per(const std::string& unit, const std::string& where) {
  const std::string name = in_lower_case(std::string(trimmed(unit)));
  for (const std::string_view degree : {"", "deg", "degs", "degree", "degrees", "deg.", "\u00b0"})
    if (name == degree) return in_radians(1);
  for (const std::string_view radian : {"rad", "rads", "radian", "radians"})
    if (name == radian) return 1;
  throw FileError(where + ": units = \"" + unit + "\" is no angle; \"deg\" or \"rad\" is needed");
}

std::optional<double> mm_per(const std::string& unit) {
  struct Lengths {
    double mm;
    std::string_view names;
  };
  // two signs look like a mu: the micro sign and the Greek letter
  constexpr Lengths lengths[] = {
      {1e3, "m meter metre meters metres"},
      {10, "cm centimeter"},
      {1, "mm millimeter millimetre millimeters millimetres"},
      {1e-3, "um \u00b5m \u03bcm micron microns micrometer micrometre micrometers micrometres"},
      {1e-6, "nm nanometer nanometers"}};
  const std::string name = in_lower_case(std::string(trimmed(unit)));
  for (const auto& [mm, names] : lengths)
    if (is_among(name, names)) return mm;
  return std::nullopt;
}

namespace {

/// The numbers of an array of one axis, and their unit if the file says it.
struct StoredNumbers {
  std::vector<double> values;
  std::string unit;
};

StoredNumbers numbers_of_data_set(const InsideFile& inside) {
  require<FileError>(hdf5::is_hdf5(inside.file), inside.file.string(), ": is no HDF5 file; leave out :/",
                     inside.name, ", or give a text file or an array of NumPy");
  return rehearsed(inside.file, [&] {
    const hdf5::DataSet set = data_set_named(hdf5::File::open(inside.file), "/" + inside.name);
    const auto long_axes = std::ranges::count_if(set.shape(), [](Index extent) { return extent > 1; });
    require<FileError>(set.holds_numbers() && long_axes <= 1 && set.size() > 0 && set.size() <= most_in_list,
                       set.where(), ": has ", set.shape().size(), " axes and ", set.size(),
                       set.holds_numbers() ? " numbers" : " values that are no numbers", "; 1 to ",
                       most_in_list, " numbers along one axis are needed");
    return StoredNumbers{set.numbers(), set.text("units").value_or("")};
  });
}

StoredNumbers numbers_of_npy(const std::filesystem::path& path) {
  const FileStamp stamp = stamp_of(path, path.string());
  const NpyHead head = npy_head(stamp);
  const bool line = head.shape.size() == 1 && head.shape[0] > 0 && head.shape[0] <= most_in_list;
  require<FileError>(line && (head.kind != NumberKind::real || head.bytes >= 4), path.string(), ": 1 to ",
                     most_in_list, " integers, float32 or float64 along one axis are needed");
  return {npy_numbers(stamp, head, head.shape[0]), ""};
}

/// The numbers of FILE:/NAME or of an array of NumPy; empty for a text.
std::optional<StoredNumbers> stored_numbers(const std::filesystem::path& path,
                                            const std::optional<Range>& wanted) {
  const InsideFile inside = inside_file(path);
  if (inside.name.empty() && !is_npy(path)) return std::nullopt;
  StoredNumbers all = inside.name.empty() ? numbers_of_npy(path) : numbers_of_data_set(inside);
  const Range some = wanted.value_or(Range{0, std::ssize(all.values)});
  require<FileError>(0 <= some.first && some.first < some.last && some.last <= std::ssize(all.values),
                     path.string(), ": numbers ", some.first, ":", some.last, " are wanted; it has ",
                     all.values.size());
  require<FileError>(std::ranges::all_of(all.values, [](double x) { return std::isfinite(x); }),
                     path.string(), ": has a number that is not finite");
  all.values = {all.values.begin() + some.first, all.values.begin() + some.last};
  return all;
}

std::vector<double> numbers_of_text(const std::filesystem::path& path, const std::string& what,
                                    const std::string& unit, const std::optional<Range>& lines) {
  std::istringstream file(text_of_file(path, "a text file with one " + what + " per line, " + unit + ","));
  const Range wanted = lines.value_or(Range{0, std::numeric_limits<Index>::max()});
  require<FileError>(0 <= wanted.first && wanted.first < wanted.last, path.string(), ": lines ", wanted.first,
                     ":", wanted.last, " are an empty range; A:B with A < B is needed");
  std::vector<double> numbers;
  std::string line;
  Index count = 0;
  for (; std::getline(file, line); ++count) {
    const std::string_view text = trimmed(line);
    if (count < wanted.first || count >= wanted.last || text.empty() || text.front() == '#') continue;
    require<FileError>(std::ssize(numbers) < most_in_list, path.string(), ": has more than ", most_in_list,
                       " ", what, "s; no scan has as many");
    numbers.push_back(number_in(text, path, count + 1, what, unit));
  }
  require<FileError>(!lines || wanted.last <= count, path.string(), ": lines ", wanted.first, ":",
                     wanted.last, " are wanted; it has ", count, ", counted from 0");
  require<FileError>(!numbers.empty(), path.string(), ": holds no ", what, "s; one number per line, ", unit,
                     ", is needed");
  return numbers;
}

}  // namespace

std::vector<double> read_angles(const std::filesystem::path& path, const std::optional<Range>& lines) {
  const std::optional<StoredNumbers> stored = stored_numbers(path, lines);
  std::vector<double> angles = stored ? stored->values : numbers_of_text(path, "angle", "in degrees", lines);
  const double unit = radians_per(stored ? stored->unit : "", path.string());
  for (double& angle : angles) angle *= unit;
  return angles;
}

std::vector<double> read_numbers(const std::filesystem::path& path, const std::string& what,
                                 const std::string& unit, const std::optional<Range>& lines) {
  const std::optional<StoredNumbers> stored = stored_numbers(path, lines);
  if (!stored) return numbers_of_text(path, what, unit, lines);
  const bool plain = stored->unit.empty() ||
                     is_among(in_lower_case(stored->unit), "px pixel pixels bin bins row rows cell cells");
  require<FileError>(plain, path.string(), ": units = \"", stored->unit, "\"; each ", what, " is needed ",
                     unit);
  return stored->values;
}

std::vector<std::array<double, 2>> read_pairs(const std::filesystem::path& path, const std::string& what) {
  std::istringstream file(text_of_file(path, "a text file with " + what + " per line"));
  std::vector<std::array<double, 2>> pairs;
  std::string line;
  for (Index count = 1; std::getline(file, line); ++count) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    require<FileError>(std::ssize(pairs) < most_in_list, path.string(), ": has more than ", most_in_list,
                       " lines; ", what, " per line is needed");
    const std::size_t gap = std::min(text.find_first_of(" \t,;"), text.size());
    pairs.push_back({number_in(text.substr(0, gap), path, count, "pair", what),
                     number_in(trimmed(text.substr(gap), " \t,;"), path, count, "pair", what)});
  }
  require<FileError>(!pairs.empty(), path.string(), ": holds nothing; ", what, " per line is needed");
  return pairs;
}

}  // namespace tandem::io
