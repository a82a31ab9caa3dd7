// Parameters of LEAP (save_parameters) for its geometry "modular": lines "key = value", in which positions
// and directions are lists of x, y, z. Its row vectors point from row to row, and its column vectors from bin
// to bin. Lengths are in mm, and the middle of the detector is the middle of its cells. Source: load_param
// and drawCT in leapctype.py, LEAP 1.26.

#include <cmath>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "../../../geometry/vector3.hpp"
#include "../../files/text_file.hpp"
#include "../settings/key_values.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index longest_leap = Index{1} << 29;  // bytes

/// The text behind a key in its line.
std::string text_of_key(const std::string& text, const std::string& key, const std::string& where) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || trimmed(std::string_view(line).substr(0, equals)) != key) continue;
    return std::string(trimmed(std::string_view(line).substr(equals + 1)));
  }
  throw FileError(where + ": has no " + key + ", which modular parameters of LEAP have");
}

double number_of_key(const std::string& text, const std::string& key, const std::string& where) {
  const std::optional<double> number = finite_number(text_of_key(text, key, where));
  require<FileError>(number && *number > 0, where, ": ", key, ": a number above 0 is needed");
  return *number;
}

std::vector<Vector3> vectors_of_key(const std::string& text, const std::string& key, std::size_t count,
                                    const std::string& where) {
  std::istringstream list(text_of_key(text, key, where));
  std::vector<double> numbers;
  for (std::string word; std::getline(list, word, ',');) {
    const std::optional<double> number = finite_number(std::string(trimmed(word)));
    require<FileError>(number.has_value(), where, ": ", key, ": number ", numbers.size(), " is not finite");
    numbers.push_back(*number);
  }
  require<FileError>(numbers.size() == 3 * count, where, ": ", key, ": ", numbers.size(), " numbers for ",
                     count, " views; 3 each are needed");
  std::vector<Vector3> vectors(count);
  for (std::size_t k = 0; k < numbers.size(); ++k) vectors[k / 3][k % 3] = numbers[k];
  return vectors;
}

ViewGeometry read_leap(const fs::path& path) {
  const std::string where = path.string();
  const std::string text = text_of_regular_file(path, "parameters of LEAP", longest_leap);
  const auto number = [&](const char* key) { return number_of_key(text, key, where); };
  const auto count = static_cast<std::size_t>(number("numAngles"));
  const auto vectors = [&](const char* key) { return vectors_of_key(text, key, count, where); };
  const std::vector<Vector3> sources = vectors("sourcePositions"), middles = vectors("moduleCenters"),
                             up = vectors("rowVectors"), along = vectors("colVectors");
  const double width = number("pixelWidth"), height = number("pixelHeight");
  ViewGeometry found{.where = where};
  found.rows = floor_index(number("numRows")), found.bins = floor_index(number("numCols"));
  for (std::size_t k = 0; k < count; ++k) {
    constexpr double unit = 1e-3;  // float32 numbers of LEAP are more exact
    require<FileError>(std::abs(length(along[k]) - 1) < unit && std::abs(length(up[k]) - 1) < unit, where,
                       ": view ", k, ": rowVectors and colVectors of the length 1 are needed");
    found.views.push_back({sources[k], middles[k], width * along[k], height * up[k]});
  }
  return found;
}

bool is_leap(const fs::path& path) {
  std::istringstream lines(start_of_text(path));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("geometry") && line.find("modular") != std::string::npos) return true;
  return false;
}

template <class Get>
void write_vectors(std::ostream& to, const char* key, const FlexibleBeam& scan, const Get& get) {
  to << key << " = ";
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    const Vector3 v = get(scan.views[k]);
    to << (k > 0 ? ", " : "") << v[0] << ", " << v[1] << ", " << v[2];
  }
  to << '\n';
}

std::string leap_text(const FlexibleBeam& scan) {
  require<GeometryError>(!scan.parallel, "LEAP: knows no vectors of parallel rays; give another format");
  const Detector& d = scan.detector;
  const VolumeGrid grid = fitting_grid(scan);
  std::ostringstream text;
  text.precision(17);
  text << "# tandem geometry, as parameters of LEAP\nnumX = " << grid.size[0] << "\nnumY = " << grid.size[1]
       << "\nnumZ = " << grid.size[2] << "\nvoxelWidth = " << grid.pitch[0]
       << "\nvoxelHeight = " << grid.pitch[2] << "\noffsetX = " << grid.centre[0]
       << "\noffsetY = " << grid.centre[1] << "\noffsetZ = " << grid.centre[2]
       << "\n\n# scan\ngeometry = modular\nnumAngles = " << scan.views.size() << "\nnumRows = " << d.rows
       << "\nnumCols = " << d.bins << "\npixelHeight = " << d.row_pitch << "\npixelWidth = " << d.bin_pitch
       << "\ncenterRow = " << 0.5 * (d.rows - 1) << "\ncenterCol = " << 0.5 * (d.bins - 1) << '\n';
  const auto direction = [](const Vector3& step) { return 1 / length(step) * step; };
  write_vectors(text, "sourcePositions", scan, [](const FlexibleView& v) { return v.source; });
  write_vectors(text, "moduleCenters", scan, [](const FlexibleView& v) { return v.detector; });
  write_vectors(text, "rowVectors", scan, [&](const FlexibleView& v) { return direction(v.row_step); });
  write_vectors(text, "colVectors", scan, [&](const FlexibleView& v) { return direction(v.bin_step); });
  return text.str();
}

}  // namespace

extern const GeometryFormat leap_geometry{"LEAP", "*.cfg", is_leap, read_leap, leap_text};

}  // namespace tandem::io
