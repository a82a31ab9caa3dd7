// The vectors of ASTRA (cone_vec, parallel3d_vec): 12 numbers for each view, as text or as an array of NumPy.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/names.hpp"
#include "../../../core/spelled.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../geometry/vector3.hpp"
#include "../../files/npy.hpp"
#include "../../files/text.hpp"
#include "../../files/text_file.hpp"
#include "../settings/key_values.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t width = 12;  // numbers of a view
constexpr Index most_views = 1'000'000;
constexpr Index longest_list = Index{1} << 29;  // bytes of so many views

std::string ending_of(const fs::path& path) { return in_lower_case(path.extension().string()); }

std::array<double, width> numbers_in(const std::string& line, const std::string& where) {
  std::array<double, width> numbers{};
  std::istringstream words(line);
  std::string word;
  for (std::size_t k = 0; k < width; ++k) {
    words >> word;
    const std::optional<double> number = words ? finite_number(word) : std::nullopt;
    require<FileError>(
        number.has_value(), where, ": number ", k + 1,
        " of 12 is missing or not finite; source, detector, column and row (x y z each) are needed");
    numbers[k] = *number;
  }
  require<FileError>(!(words >> word), where, ": has more than 12 numbers");
  return numbers;
}

std::string text_of(const Scan& scan) {
  const auto free = as_free_views(scan);
  std::ostringstream text;
  text.precision(17);
  text << "# tandem geometry: " << (free.parallel ? "parallel3d_vec" : "cone_vec")
       << " of ASTRA, in mm: source or direction, detector, column and row (x y z each), a line a view; "
       << free.detector.rows << " rows x " << free.detector.bins << " bins\n";
  const std::vector<double> all = numbers_of(scan);
  for (std::size_t k = 0; k < all.size(); ++k) text << all[k] << (k % width == width - 1 ? '\n' : ' ');
  return text.str();
}

bool is_text(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".geom" || ending == ".txt" || ending == ".csv" || ending == ".dat";
}

ViewGeometry read_array(const fs::path& path) {
  const std::string name = path.string();
  const FileStamp stamp = stamp_of(path, name);
  const NpyHead head = npy_head(stamp);
  require<FileError>(
      head.shape.size() == 2 && head.shape[1] == width && head.shape[0] > 0 && head.shape[0] <= most_views,
      name, ": has the shape (", joined(head.shape, ", ", [](Index n) { return std::to_string(n); }),
      "); (views, 12) is needed");
  require<FileError>(head.kind == NumberKind::real && head.bytes >= 4, name,
                     ": has integers, or floats of half precision; float64 or float32 are needed");
  const std::size_t rows = head.shape[0], count = rows * width, there = stamp.bytes - head.first;
  require<FileError>(there == count * head.bytes, name, ": has ", there, " bytes of numbers; ",
                     count * head.bytes, " are needed");
  const std::vector<double> stored = npy_numbers(stamp, head, count);
  std::vector<double> all(count);
  for (std::size_t k = 0; k < count; ++k) {
    all[k] = stored[head.by_columns ? k % width * rows + k / width : k];
    require<FileError>(std::isfinite(all[k]), name, ": view ", k / width, ": number ", k % width + 1,
                       " of 12 is not finite");
  }
  return {.where = name, .views = views_of_numbers(all), .says_rays = false};
}

std::string array_of(const Scan& scan) {
  const std::vector<double> all = numbers_of(scan);
  std::string head =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(all.size() / width) + ", 12), }";
  constexpr std::size_t before = 10, aligned = 64;  // bytes
  head.append((2 * aligned - (before + head.size() + 1) % aligned) % aligned, ' ');
  head += '\n';
  std::string file("\x93NUMPY");
  file += {'\1', '\0', static_cast<char>(head.size() & 0xff), static_cast<char>(head.size() >> 8)};
  file += head;
  static_assert(std::endian::native == std::endian::little);
  const std::size_t begin = file.size();
  file.resize(begin + all.size() * sizeof(double));
  std::memcpy(file.data() + begin, all.data(), all.size() * sizeof(double));
  return file;
}

/// The part of the way from a source to its detector at which the origin lies, along the normal of the
/// detector; infinite if it does not lie before the source.
double part_before(const FlexibleView& view) {
  const Vector3 normal = cross(view.bin_step, view.row_step);
  const double part = -dot(view.source, normal) / dot(view.detector - view.source, normal);
  return part > 0 ? part : INFINITY;
}

}  // namespace

ViewGeometry vectors_in_text(const fs::path& path) {
  std::istringstream file(text_of_regular_file(path, "a list of vectors", longest_list));
  ViewGeometry found{.where = path.string(), .says_rays = false};
  std::vector<double> all;
  std::string line;
  for (Index number = 1; std::getline(file, line); ++number) {
    std::ranges::replace(line, ',', ' ');
    const auto says = [&](const char* kind) {
      return line.starts_with('#') && line.find(kind) != std::string::npos;
    };
    found.parallel |= says("parallel3d_vec");
    found.says_rays |= says("parallel3d_vec") || says("cone_vec");
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
    require<FileError>(all.size() / width < most_views, path.string(), ": has more than ", most_views,
                       " views");
    const auto numbers = numbers_in(line, path.string() + ": line " + std::to_string(number));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  require<FileError>(!all.empty(), path.string(), ": has no views; a line of 12 numbers each is needed");
  found.views = views_of_numbers(all);
  return found;
}

std::vector<double> numbers_of(const Scan& scan) {
  std::vector<double> all;
  const auto free = as_free_views(scan);
  for (const FlexibleView& view : free.views)
    for (const Vector3& each : {view.source, view.detector, view.bin_step, view.row_step})
      all.insert(all.end(), each.begin(), each.end());
  return all;
}

std::vector<FlexibleView> views_of_numbers(std::span<const double> numbers) {
  std::vector<FlexibleView> views(numbers.size() / width);
  for (std::size_t k = 0; k < views.size(); ++k) {
    const auto vector = [&](std::size_t part) {
      const double* first = numbers.data() + k * width + 3 * part;
      return Vector3{first[0], first[1], first[2]};
    };
    views[k] = {vector(0), vector(1), vector(2), vector(3)};
  }
  return views;
}

void decide_rays(ViewGeometry& given, const std::optional<bool>& parallel) {
  constexpr double rounding = 1e-6;
  const auto& where = given.where;
  const auto kind = [](bool rays) { return rays ? ":parallel" : ":cone"; };
  require<FileError>(!parallel || !given.says_rays || given.parallel == *parallel, where, ": says that rays ",
                     given.parallel ? "are parallel" : "come from a source", "; leave ",
                     kind(parallel.value_or(false)), " behind its name out");
  if (parallel) given.parallel = *parallel, given.says_rays = true;
  const bool directions = std::ranges::all_of(
      given.views, [](const FlexibleView& view) { return std::abs(length(view.source) - 1) <= rounding; });
  if (given.says_rays) return;
  if (!directions)
    return given.notes.push_back(where +
                                 ": the first vectors are taken as places of sources (cone_vec); if they are "
                                 "directions of parallel rays, give " +
                                 spelled("geometry") + " " + where + ":parallel");
  require<FileError>(
      !std::ranges::all_of(given.views, [](const FlexibleView& v) { return part_before(v) < 1 - rounding; }),
      where,
      ": the first vectors have the length 1: they are directions of parallel rays (parallel3d_vec), or ",
      "sources in units of their distance from the origin (cone_vec); give ", spelled("geometry"), " ", where,
      ":parallel or ", where, ":cone");
  given.parallel = true, given.says_rays = true;
  given.notes.push_back(where +
                        ": the first vectors have the length 1, so they are taken as directions of parallel "
                        "rays (parallel3d_vec)");
}

extern const GeometryFormat astra_arrays{
    "ASTRA", "*.npy", [](const fs::path& path) { return ending_of(path) == ".npy"; }, read_array, array_of};
extern const GeometryFormat astra_text{"ASTRA", "*.geom, *.txt", is_text, vectors_in_text, text_of};

}  // namespace tandem::io
