#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "../core/error.hpp"
#include "../core/units.hpp"
#include "frame_source.hpp"
#include "text.hpp"
#include "text_file.hpp"

namespace tandem::io {

namespace {

constexpr Index most_numbers = 10'000'000;  // of a list; the most views that options take

/// Messages do not show the text: it may be of a file that was never meant to be a list.
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
  if (name.empty() || name.starts_with("deg") || name == "°") return in_radians(1);
  require<FileError>(name.starts_with("rad"), where, ": units = \"", unit,
                     "\"; \"deg\" or \"rad\" is needed");
  return 1;
}

std::optional<double> mm_per(const std::string& unit) {
  struct Length {
    std::string_view name;
    double mm;
  };
  // both signs that look like a mu: the micro sign and the Greek letter
  constexpr std::array<Length, 17> lengths{{{"m", 1e3},
                                            {"meter", 1e3},
                                            {"metre", 1e3},
                                            {"cm", 10},
                                            {"mm", 1},
                                            {"millimeter", 1},
                                            {"millimetre", 1},
                                            {"um", 1e-3},
                                            {"\u00b5m", 1e-3},
                                            {"\u03bcm", 1e-3},
                                            {"micron", 1e-3},
                                            {"microns", 1e-3},
                                            {"micrometer", 1e-3},
                                            {"micrometre", 1e-3},
                                            {"micrometers", 1e-3},
                                            {"meters", 1e3},
                                            {"nm", 1e-6}}};
  const std::string name = in_lower_case(std::string(trimmed(unit)));
  for (const Length& length : lengths)
    if (name == length.name) return length.mm;
  return std::nullopt;
}

std::vector<double> read_angles(const std::filesystem::path& path, const std::optional<Range>& lines) {
  std::vector<double> angles = read_numbers(path, "angle", "in degrees", lines);
  for (double& angle : angles) angle = in_radians(angle);
  return angles;
}

std::vector<double> read_numbers(const std::filesystem::path& path, const std::string& what,
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
    require<FileError>(static_cast<Index>(numbers.size()) < most_numbers, path.string(), ": has more than ",
                       most_numbers, " ", what, "s; no scan has as many");
    numbers.push_back(number_in(text, path, count + 1, what, unit));
  }
  require<FileError>(!lines || wanted.last <= count, path.string(), ": lines ", wanted.first, ":",
                     wanted.last, " are wanted; it has ", count, ", counted from 0");
  require<FileError>(!numbers.empty(), path.string(), ": holds no ", what, "s; one number per line, ", unit,
                     ", is needed");
  return numbers;
}

std::vector<std::array<double, 2>> read_pairs(const std::filesystem::path& path, const std::string& what) {
  std::istringstream file(text_of_file(path, "a text file with " + what + " per line"));
  std::vector<std::array<double, 2>> pairs;
  std::string line;
  for (Index count = 1; std::getline(file, line); ++count) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    require<FileError>(static_cast<Index>(pairs.size()) < most_numbers, path.string(), ": has more than ",
                       most_numbers, " lines; ", what, " per line is needed");
    const std::size_t gap = std::min(text.find_first_of(" \t,;"), text.size());
    pairs.push_back({number_in(text.substr(0, gap), path, count, "pair", what),
                     number_in(trimmed(text.substr(gap), " \t,;"), path, count, "pair", what)});
  }
  require<FileError>(!pairs.empty(), path.string(), ": holds nothing; ", what, " per line is needed");
  return pairs;
}

std::optional<double> energy_kev(const hdf5::File& file, const std::string& path,
                                 std::vector<std::string>& notes) {
  const std::optional<double> value = file.number(path);
  if (!value) return std::nullopt;
  const std::string unit = file.data_set(path).text("units").value_or("keV"),
                    name = in_lower_case(std::string(trimmed(unit)));
  constexpr double joule_in_kev = 6.241509074460763e15;
  const double factor = name.empty() || name == "kev" ? 1
                        : name == "ev"                ? 1e-3
                        : name == "mev"               ? 1e3
                        : name == "j"                 ? joule_in_kev
                                                      : 0;
  if (factor > 0 && *value > 0 && std::isfinite(*value * factor)) return *value * factor;
  notes.push_back(
      path + " left out: " + (factor > 0 ? "no positive energy" : "units = \"" + unit + "\" is no energy"));
  return std::nullopt;
}

std::optional<double> length_mm(const hdf5::File& file, const std::string& path,
                                const std::string& default_unit, std::vector<std::string>& notes) {
  const std::optional<double> value = file.number(path);
  if (!value) return std::nullopt;
  const std::string unit = file.data_set(path).text("units").value_or(default_unit);
  const std::optional<double> factor = mm_per(unit);
  if (factor && *value > 0 && *value * *factor < std::numeric_limits<double>::infinity())
    return *value * *factor;
  notes.push_back(path +
                  " left out: " + (factor ? "no positive length" : "units = \"" + unit + "\" is no length"));
  return std::nullopt;
}

}  // namespace tandem::io
