// Lists of numbers that the user gives: a text, a data set or a variable FILE:/NAME, or an array of NumPy.

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../geometry/view_angles.hpp"
#include "../files/npy.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/rehearsal.hpp"
#include "frame_source.hpp"
#include "inside_file.hpp"
#include "layouts/layout.hpp"
#include "matlab.hpp"
#include "settings/key_values.hpp"

namespace tandem::io {

namespace {

constexpr Index most_in_list = 10'000'000;  // most numbers in a list; options take at most so many views

/// The number in a text. Messages do not show the text, since the file may never have been meant to be a
/// list.
double number_in(std::string_view text, const std::filesystem::path& path, Index line,
                 const std::string& needed) {
  const std::optional<double> value = finite_number(text);
  require<FileError>(value.has_value(), path.string(), ": line ", line, " is no number; ", needed,
                     " is needed");
  return *value;
}

/// The numbers of an array of one axis, and their unit if the file says it.
struct StoredNumbers {
  std::vector<double> values;
  std::string unit;
};

const std::string one_axis = words("; 1 to ", most_in_list, " numbers along one axis are needed");

/// Requires numbers along one axis, beside which others may have the length 1.
void require_one_axis(const std::vector<Index>& shape, Index count, const std::string& where) {
  const auto long_axes = std::ranges::count_if(shape, [](Index extent) { return extent > 1; });
  require<FileError>(count > 0, where, ": is empty", one_axis);
  require<FileError>(long_axes <= 1 && count <= most_in_list, where, ": has ", shape.size(),
                     shape.size() == 1 ? " axis and " : " axes and ", count, " numbers", one_axis);
}

StoredNumbers numbers_of_variable(const InsideFile& inside) {
  MatArray array = mat5_array(inside.file, inside.name);
  require_one_axis(array.shape, std::ssize(array.values), inside.file.string() + ": " + inside.name);
  return {std::move(array.values), ""};
}

StoredNumbers numbers_of_data_set(const InsideFile& inside, bool any_external) {
  if (is_mat5(inside.file)) return numbers_of_variable(inside);
  require<FileError>(hdf5::is_hdf5(inside.file), inside.file.string(),
                     ": is no file of HDF5 or MATLAB; leave out :/", inside.name,
                     ", or give a text file or an array of NumPy");
  return rehearsed(inside.file, [&] {
    const hdf5::DataSet set = data_set_named(hdf5::File::open(inside.file, any_external), "/" + inside.name);
    require<FileError>(set.holds_numbers(), set.where(), ": holds no numbers", one_axis);
    require_one_axis(set.shape(), set.size(), set.where());
    return StoredNumbers{set.numbers(), set.text("units").value_or("")};
  });
}

StoredNumbers numbers_of_npy(const std::filesystem::path& path) {
  const FileStamp stamp = stamp_of(path, path.string());
  const NpyHead head = npy_head(stamp);
  const bool line = head.shape.size() == 1 && head.shape[0] <= most_in_list;
  require<FileError>(!line || head.shape[0] > 0, path.string(), ": is empty; 1 to ", most_in_list,
                     " numbers are needed");
  require<FileError>(line && (head.kind != NumberKind::real || head.bytes >= 4), path.string(), ": 1 to ",
                     most_in_list, " integers, float32 or float64 along one axis are needed");
  return {npy_numbers(stamp, head, head.shape[0]), ""};
}

/// The numbers of FILE:/NAME or of an array of NumPy; empty for a text.
std::optional<StoredNumbers> stored_numbers(const std::filesystem::path& path,
                                            const std::optional<Range>& wanted, bool any_external) {
  const InsideFile inside = inside_file(path);
  std::error_code fault;
  const bool has_names = inside.name.empty() && std::filesystem::is_regular_file(path, fault) &&
                         (hdf5::is_hdf5(path) || is_mat5(path));
  require<FileError>(!has_names, path.string(), ": has several lists; give ", path.string(), ":/NAME");
  if (inside.name.empty() && !is_npy(path)) return std::nullopt;
  StoredNumbers all = inside.name.empty() ? numbers_of_npy(path) : numbers_of_data_set(inside, any_external);
  const Range some = wanted.value_or(Range{0, std::ssize(all.values)});
  require<FileError>(0 <= some.first && some.first < some.last && some.last <= std::ssize(all.values),
                     path.string(), ": numbers ", some.first, ":", some.last, " are wanted; it has ",
                     all.values.size());
  require<FileError>(std::ranges::all_of(all.values, [](double x) { return std::isfinite(x); }),
                     path.string(), ": has a number that is not finite");
  all.values = {all.values.begin() + some.first, all.values.begin() + some.last};
  return all;
}

/// A column of a table, which is separated from the next one by `between`, or by blanks; 0: the only one.
struct Column {
  std::size_t number = 0;
  char between = 0;
  std::string unit;  ///< if its name says one
};

std::vector<std::string_view> cells_of(std::string_view line, char between) {
  std::vector<std::string_view> cells;
  while (between != 0) {
    if (between == ' ') line = trimmed(line);
    const std::size_t end = between == ' ' ? line.find_first_of(" \t") : line.find(between);
    cells.push_back(trimmed(line.substr(0, end), " \t\r\n\""));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
  return {line};
}

/// The words of the name of a column: "Angle [deg]" has "angle" and "deg".
std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> all(1);
  std::string text = in_lower_case(std::string(name));
  for (std::size_t sign = 0; (sign = text.find("\u00b0")) != std::string::npos;)
    text.replace(sign, 2, " deg ");
  for (const char letter : text)
    if (letter >= 'a' && letter <= 'z')
      all.back() += letter;
    else if (!all.back().empty())
      all.emplace_back();
  if (all.back().empty()) all.pop_back();
  return all;
}

/// The unit in the name of a column of angles, which may be empty; nothing for any other column.
std::optional<std::string> unit_of_angles(std::string_view name) {
  std::string unit;
  bool angles = false;
  if (name.find_first_of("0123456789") != std::string_view::npos) return std::nullopt;  // a remark
  for (const std::string& word : words_of_name(name)) {
    if (is_among(word, "deg degs degree degrees rad rads radian radians"))
      unit = word;
    else if (is_among(word, "angle angles theta phi omega rot rotation rotationangle tilt tiltangle"))
      angles = true;
    else if (!is_among(word, "in of the view views projection sample stage position pos"))
      return std::nullopt;
  }
  return angles ? std::optional(unit) : std::nullopt;
}

/// The column of angles among those of a header; empty if there is none, or several.
std::optional<Column> column_in(std::string_view header, char between) {
  std::optional<Column> found;
  const std::vector<std::string_view> cells = cells_of(header, between);
  for (std::size_t k = 0; k < cells.size(); ++k)
    if (const std::optional<std::string> unit = unit_of_angles(cells[k])) {
      if (found) return std::nullopt;
      found = Column{k, between, *unit};
    }
  return found;
}

/// The same, whatever separates the columns: a name may have blanks.
std::optional<Column> column_of_angles(std::string_view header) {
  while (header.starts_with('#')) header = trimmed(header.substr(1));
  const std::size_t sign = header.find_first_of(",;\t");
  if (sign != std::string_view::npos) return column_in(header, header[sign]);
  const std::optional<Column> alone = column_in(header, 0);
  return alone ? alone : column_in(header, ' ');
}

std::string_view cell_of(std::string_view line, const Column& column) {
  const std::vector<std::string_view> cells = cells_of(line, column.between);
  return column.number < cells.size() ? cells[column.number] : std::string_view();
}

/// The numbers of a text, one per line; with `table` also those of the column of angles that a header names.
StoredNumbers numbers_of_text(const std::filesystem::path& path, const std::string& what,
                              const std::string& needed, const std::optional<Range>& lines, bool table) {
  std::istringstream file(text_of_file(path, "a text file with " + needed));
  const Range wanted = lines.value_or(Range{0, std::numeric_limits<Index>::max()});
  require<FileError>(0 <= wanted.first && wanted.first < wanted.last, path.string(), ": lines ", wanted.first,
                     ":", wanted.last, " are an empty range; A:B with A < B is needed");
  StoredNumbers found;
  std::optional<Column> column;
  std::string line;
  Index count = 0;
  bool is_remark = false;
  for (; std::getline(file, line); ++count) {
    std::string_view text = trimmed(line);
    if (count == 0 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const bool may_be_header = table && !column && found.values.empty() && !finite_number(text);
    if (may_be_header && (column = column_of_angles(text))) {
      is_remark = text.front() == '#';  // which may also be no header
      continue;
    }
    if (count < wanted.first || count >= wanted.last || text.empty() || text.front() == '#') continue;
    require<FileError>(std::ssize(found.values) < most_in_list, path.string(), ": has more than ",
                       most_in_list, " ", what, "s; no scan has as many");
    if (is_remark && finite_number(text)) column.reset();
    found.values.push_back(number_in(cell_of(text, column.value_or(Column())), path, count + 1, needed));
  }
  require<FileError>(!lines || wanted.last <= count, path.string(), ": lines ", wanted.first, ":",
                     wanted.last, " are wanted; it has ", count, ", counted from 0");
  require<FileError>(!found.values.empty(), path.string(), ": holds no ", what, "s; ", needed, " is needed");
  if (column) found.unit = column->unit;
  return found;
}

}  // namespace

std::string heed_radians(std::vector<double>& angles, const std::string& where) {
  constexpr std::size_t fewest = 16;  // views; angles of fewer may stand so by chance
  if (angles.size() < fewest || !look_like_radians(angles)) return {};
  for (double& angle : angles) angle = in_degrees(angle);
  return where +
         ": the angles are taken for radians, of which they fill a half turn or a turn; if they are " +
         "degrees, give " + spelled("angles") + " with " + spelled("angles-unit") + " deg";
}

GivenAngles read_angles(const OpenOptions& options) {
  const std::string where = options.angles.string();
  std::optional<StoredNumbers> all =
      stored_numbers(options.angles, options.angle_lines, options.allow_external_files);
  if (!all)
    all = numbers_of_text(options.angles, "angle",
                          "one angle per line, or a header that names a column angle, angle_deg or angle_rad",
                          options.angle_lines, true);
  GivenAngles given{.radians = std::move(all->values)};
  const std::string unit = options.angles_unit.empty() ? all->unit : std::string(options.angles_unit);
  const double factor = radians_per(unit, where);
  for (double& angle : given.radians) angle *= factor;
  if (unit.empty()) given.note = heed_radians(given.radians, where);
  return given;
}

std::vector<double> read_numbers(const std::filesystem::path& path, const std::string& what,
                                 const std::string& unit, bool any_external) {
  const std::optional<StoredNumbers> stored = stored_numbers(path, {}, any_external);
  if (!stored)
    return numbers_of_text(path, what, "one " + what + " per line, " + unit + ",", {}, false).values;
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
    pairs.push_back({number_in(text.substr(0, gap), path, count, what + " per line"),
                     number_in(trimmed(text.substr(gap), " \t,;"), path, count, what + " per line")});
  }
  require<FileError>(!pairs.empty(), path.string(), ": holds nothing; ", what, " per line is needed");
  return pairs;
}

}  // namespace tandem::io
