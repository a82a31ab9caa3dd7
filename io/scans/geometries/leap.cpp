// Parameters of LEAP (save_parameters): lines "key = value". In its geometry "modular" positions and
// directions are lists of x, y, z; others are circles. Its row vectors point from row to row, and its column
// vectors from bin to bin. Lengths are in mm, and the middle of the detector is the middle of its cells.
// Source: load_param and drawCT in leapctype.py, and convert_conebeam_to_modularbeam in parameters.cpp,
// LEAP 1.26.

#include <cmath>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/units.hpp"
#include "../../../geometry/free_views.hpp"
#include "../../../geometry/vector3.hpp"
#include "../../files/text_file.hpp"
#include "../settings/key_values.hpp"
#include "geometry_file.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index longest_leap = Index{1} << 29;  // bytes
constexpr double most_of_leap = 1e7;

/// The lines "key = value" of such a file.
class Parameters {
 public:
  explicit Parameters(const fs::path& path)
      : where_(path.string()), text_(text_of_regular_file(path, "parameters of LEAP", longest_leap)) {}
  const std::string& where() const { return where_; }

  /// The text behind a key in its line; empty if there is none.
  std::string text(const std::string& key) const {
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos || trimmed(std::string_view(line).substr(0, equals)) != key) continue;
      return std::string(trimmed(std::string_view(line).substr(equals + 1)));
    }
    return {};
  }
  double number(const std::string& key, const std::optional<double>& otherwise = {}) const {
    const std::string found = text(key);
    if (found.empty() && otherwise) return *otherwise;
    require<FileError>(!found.empty(), where_, ": has no ", key, ", which parameters of LEAP have");
    const std::optional<double> number = finite_number(found);
    require<FileError>(number.has_value(), where_, ": ", key, " = \"", found.substr(0, 40),
                       "\"; a finite number is needed");
    return *number;
  }
  double positive(const std::string& key) const {
    const double found = number(key);
    require<FileError>(found > 0, where_, ": ", key, " = ", found, "; a number above 0 is needed");
    return found;
  }
  std::vector<double> list(const std::string& key, std::size_t views, std::size_t each) const {
    const std::string found = text(key);
    require<FileError>(!found.empty(), where_, ": has no ", key, ", which parameters of LEAP have");
    std::istringstream words(found);
    std::vector<double> numbers;
    for (std::string word; std::getline(words, word, ',');) {
      const std::optional<double> number = finite_number(trimmed(word));
      require<FileError>(number.has_value(), where_, ": ", key, ": number ", numbers.size(),
                         " is not finite");
      numbers.push_back(*number);
    }
    require<FileError>(numbers.size() == each * views, where_, ": ", key, ": ", numbers.size(),
                       " numbers for ", views, " views; ", each, " each are needed");
    return numbers;
  }

 private:
  std::string where_, text_;
};

std::vector<Vector3> vectors_of_key(const Parameters& leap, const std::string& key, std::size_t count) {
  const std::vector<double> numbers = leap.list(key, count, 3);
  std::vector<Vector3> vectors(count);
  for (std::size_t k = 0; k < numbers.size(); ++k) vectors[k / 3][k % 3] = numbers[k];
  return vectors;
}

void read_modular(const Parameters& leap, std::size_t count, ViewGeometry& found) {
  const auto vectors = [&](const char* key) { return vectors_of_key(leap, key, count); };
  const std::vector<Vector3> sources = vectors("sourcePositions"), middles = vectors("moduleCenters"),
                             up = vectors("rowVectors"), along = vectors("colVectors");
  const double width = leap.positive("pixelWidth"), height = leap.positive("pixelHeight");
  for (std::size_t k = 0; k < count; ++k) {
    constexpr double unit = 1e-3;  // float32 numbers of LEAP are more exact
    require<FileError>(std::abs(length(along[k]) - 1) < unit && std::abs(length(up[k]) - 1) < unit,
                       leap.where(), ": view ", k, ": rowVectors and colVectors of the length 1 are needed");
    found.views.push_back({sources[k], middles[k], width * along[k], height * up[k]});
  }
}

/// The angles of a circle, rad: a list, or equal steps.
std::vector<double> angles_of(const Parameters& leap, std::size_t count) {
  std::vector<double> angles;
  if (!leap.text("phis").empty()) {
    angles = leap.list("phis", count, 1);
  } else {
    const double range = leap.number("angularRange"), first = leap.number("initAngle", 0);
    for (std::size_t k = 0; k < count; ++k) angles.push_back(first + k * range / count);
  }
  for (double& angle : angles) angle = in_radians(angle);
  return angles;
}

/// Reads a circle. The frame and the angles are ours. tau moves the source and the detector along the
/// columns.
void read_circle(const Parameters& leap, std::size_t count, ViewGeometry& found) {
  for (const char* key : {"helicalPitch", "pitchAngle"})
    require<FileError>(leap.number(key, 0) == 0, leap.where(), ": ", key, " = ", leap.number(key, 0),
                       ": is no circle; save the parameters after convert_to_modularbeam()");
  require<FileError>(leap.text("detectorType") != "curved", leap.where(),
                     ": detectorType = curved: only flat detectors of LEAP are read");
  const double sod = found.parallel ? 0 : leap.positive("sod"),
               sdd = found.parallel ? 0 : leap.positive("sdd"),
               tau = found.parallel ? 0 : leap.number("tau", 0),
               tilt = in_radians(leap.number("tiltAngle", 0));
  const double columns = 0.5 * (*found.bins - 1) - leap.number("centerCol"),
               rows = 0.5 * (*found.rows - 1) - leap.number("centerRow");
  const double width = leap.positive("pixelWidth"), height = leap.positive("pixelHeight");
  const Vector3 z{0, 0, 1};
  for (const double angle : angles_of(leap, count)) {
    const Vector3 along{std::cos(angle), std::sin(angle), 0}, back{std::sin(angle), -std::cos(angle), 0};
    const Vector3 bin = width * (std::cos(tilt) * along + std::sin(tilt) * z),
                  row = height * (std::cos(tilt) * z - std::sin(tilt) * along),
                  middle = columns * bin + rows * row - (sdd - sod) * back - tau * along;
    found.views.push_back({found.parallel ? back : sod * back - tau * along, middle, bin, row});
  }
}

ViewGeometry read_leap(const fs::path& path) {
  const Parameters leap(path);
  const std::string kind = in_lower_case(leap.text("geometry"));
  require<FileError>(is_among(kind, "modular cone fan parallel"), leap.where(), ": geometry = \"", kind,
                     "\"; modular, cone, fan or parallel is needed, as LEAP 1 saves it");
  const double views = leap.positive("numAngles");
  require<FileError>(views <= most_of_leap, leap.where(), ": numAngles = ", views, "; no scan has more than ",
                     most_of_leap, " views");
  const auto count = static_cast<std::size_t>(views);
  ViewGeometry found{.where = leap.where(), .parallel = kind == "parallel"};
  found.rows = floor_index(leap.positive("numRows")), found.bins = floor_index(leap.positive("numCols"));
  require<FileError>(kind != "fan" || *found.rows == 1, leap.where(), ": geometry = fan of ", *found.rows,
                     " rows: rows beside one another are no cone; 1 is needed");
  kind == "modular" ? read_modular(leap, count, found) : read_circle(leap, count, found);
  return found;
}

/// Whether a text has a line "geometry = ...", or "proj_geometry = ..." of older versions.
bool is_leap(const fs::path& path) {
  std::istringstream lines(start_of_text(path));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = trimmed(std::string_view(line).substr(0, equals));
    if (key == "geometry" || key == "proj_geometry") return true;
  }
  return false;
}

template <class Get>
void write_vectors(std::ostream& to, const char* key, const std::vector<FlexibleView>& views,
                   const Get& get) {
  to << key << " = ";
  for (std::size_t k = 0; k < views.size(); ++k) {
    const Vector3 v = get(views[k]);
    to << (k > 0 ? ", " : "") << v[0] << ", " << v[1] << ", " << v[2];
  }
  to << '\n';
}

std::string leap_text(const Scan& scan) {
  const auto free = as_free_views(scan);
  require<GeometryError>(!free.parallel, "LEAP: knows no vectors of parallel rays; give another format");
  const Detector& d = free.detector;
  const VolumeGrid grid = fitting_grid(free);
  std::ostringstream text;
  text.precision(17);
  text << "# tandem geometry, as parameters of LEAP\nnumX = " << grid.size[0] << "\nnumY = " << grid.size[1]
       << "\nnumZ = " << grid.size[2] << "\nvoxelWidth = " << grid.pitch[0]
       << "\nvoxelHeight = " << grid.pitch[2] << "\noffsetX = " << grid.centre[0]
       << "\noffsetY = " << grid.centre[1] << "\noffsetZ = " << grid.centre[2]
       << "\n\n# scan\ngeometry = modular\nnumAngles = " << free.views.size() << "\nnumRows = " << d.rows
       << "\nnumCols = " << d.bins << "\npixelHeight = " << d.row_pitch << "\npixelWidth = " << d.bin_pitch
       << "\ncenterRow = " << 0.5 * (d.rows - 1) << "\ncenterCol = " << 0.5 * (d.bins - 1) << '\n';
  const auto direction = [](const Vector3& step) { return 1 / length(step) * step; };
  write_vectors(text, "sourcePositions", free.views, [](const FlexibleView& v) { return v.source; });
  write_vectors(text, "moduleCenters", free.views, [](const FlexibleView& v) { return v.detector; });
  write_vectors(text, "rowVectors", free.views, [&](const FlexibleView& v) { return direction(v.row_step); });
  write_vectors(text, "colVectors", free.views, [&](const FlexibleView& v) { return direction(v.bin_step); });
  return text.str();
}

}  // namespace

extern const GeometryFormat leap_geometry{"LEAP", "*.cfg", is_leap, read_leap, leap_text};

}  // namespace tandem::io
