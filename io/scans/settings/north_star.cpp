// North Star Imaging: NAME.nsipro beside a folder "Radiographs..." and a "Geometry Report.rtf". Keys, frame,
// sense of rotation and the corner from the report are as in mbirjax, preprocess/nsi.py. The source, the
// detector and the axis of rotation are vectors from a point on the axis; rows of the detector go down.

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../core/units.hpp"
#include "../../../geometry/vector3.hpp"
#include "../../files/text_file.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Field north_star_fields[] = {
    {"Result/source", "", Use::obeyed, "the place of the source"},
    {"Result/reference", "", Use::obeyed, "the first pixel, where the Geometry Report does not say it"},
    {"Result/normal", "", Use::obeyed, "from the source to the detector"},
    {"Result/horizontal", "", Use::obeyed, "the direction of the detector's rows"},
    {"Result/axis", "", Use::obeyed, "the axis of rotation"},
    {"Object Radiograph/pitch", "", Use::obeyed, "the pitches of bins and rows"},
    {"Object Radiograph/number", "", Use::obeyed, "the number of views"},
    {"Object Radiograph/angleStep", "", Use::obeyed, "from one view to the next"},
    {"Detector/width pixels", "", Use::obeyed, "bins, which the images must have"},
    {"Detector/height pixels", "", Use::obeyed, "rows, which the images must have"},
    {"Processed/clockwise", "", Use::obeyed, "the sense of rotation"},
    {"Correction/rotate", "0", Use::obeyed, "how images are turned: detector and rows with them"},
    {"Correction/flipH", "False", Use::obeyed, "whether images are mirrored"},
    {"Correction/flipV", "False", Use::obeyed, "whether images are upside down"},
    {"Radiograph/crop", "0 0 0 0", Use::noted, "pixels at the edges that the scanner's program leaves out"}};

bool is_nsipro(const fs::path& path) { return in_lower_case(path.extension().string()) == ".nsipro"; }

/// Numbers between blanks or commas; empty unless there are at least so many.
std::vector<double> some_numbers(std::string text, std::size_t least) {
  std::ranges::replace_if(
      text, [](char c) { return c == ',' || c == '(' || c == ')'; }, ' ');
  std::istringstream words(text);
  std::vector<double> numbers;
  for (std::string word; numbers.size() < least && words >> word;)
    if (const std::optional<double> number = finite_number(word)) numbers.push_back(*number);
  return numbers.size() == least ? numbers : std::vector<double>();
}

std::vector<double> needed(const KeyValues& text, const std::string& key, std::size_t count) {
  std::vector<double> numbers = some_numbers(text.text(key), count);
  require<FileError>(!numbers.empty(), text.name(), ": ", key, " has not ", count,
                     " numbers; the file is damaged");
  return numbers;
}

bool is_true(const KeyValues& text, const std::string& key) {
  const std::string word = in_lower_case(text.text(key));
  require<FileError>(word.empty() || word == "true" || word == "false", text.name(), ": ", key, " = ",
                     text.text(key).substr(0, 40), "; True or False is needed");
  return word == "true";
}

Vector3 vector_of(const KeyValues& text, const std::string& key) {
  const std::vector<double> n = needed(text, key, 3);
  return {n[0], n[1], n[2]};
}

Vector3 direction_of(const KeyValues& text, const std::string& key) {
  const Vector3 vector = vector_of(text, key);
  require<FileError>(length(vector) > 0, text.name(), ": ", key, " has no length; the file is damaged");
  return 1 / length(vector) * vector;
}

/// The first entry beside a file whose name in lower case begins and ends so; empty if there is none.
fs::path beside(const fs::path& file, std::string_view begin, std::string_view end) {
  std::vector<fs::path> all;
  std::error_code fault;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(file.has_parent_path() ? file.parent_path() : fs::path("."), fault))
    if (const std::string name = in_lower_case(entry.path().filename().string());
        name.starts_with(begin) && name.ends_with(end))
      all.push_back(entry.path());
  std::ranges::sort(all);
  return all.empty() ? fs::path() : all.front();
}

/// The first pixel of the detector. The report knows its place across the beam better.
Vector3 corner_of(const KeyValues& text, const fs::path& path, std::vector<std::string>& notes) {
  constexpr Index longest = Index{16} << 20;  // bytes
  Vector3 corner = vector_of(text, "Result/reference");
  const fs::path report = beside(path, "geometry", ".rtf");
  const std::string said = report.empty() ? "" : text_of_regular_file(report, "a report", longest);
  const std::size_t at = said.find("Image center"), end = said.find("[mm]", at);
  const std::vector<double> place =
      end == std::string::npos ? std::vector<double>() : some_numbers(said.substr(at + 12, end - at - 12), 2);
  if (!place.empty()) corner[0] = place[0], corner[1] = place[1];
  notes.push_back(place.empty() ? text.name() +
                                      ": the detector lies as <reference> says; the Geometry Report, "
                                      "which knows it better, is not here"
                                : "the detector lies as " + report.string() + " says");
  return corner;
}

/// The view at angle 0, in the frame of the file. Images as they are stored are turned against the detector.
FlexibleView first_view(const KeyValues& text, const Vector3& corner) {
  const Vector3 right = direction_of(text, "Result/horizontal"),
                down = cross(direction_of(text, "Result/normal"), right);
  const std::vector<double> pitch = needed(text, "Object Radiograph/pitch", 2);
  const double turn = text.number("Correction/rotate").value_or(0);
  require<FileError>(std::fmod(turn, 90) == 0 && turn >= 0 && turn < 360, text.name(),
                     ": Correction/rotate = ", turn, "; 0, 90, 180 or 270 is needed");
  double columns = 1.0 * text.count("Detector/width pixels").value_or(1),
         lines = 1.0 * text.count("Detector/height pixels").value_or(1);
  if (turn == 90 || turn == 270) std::swap(columns, lines);
  FlexibleView view{vector_of(text, "Result/source"), corner, pitch[0] * right, pitch[1] * down};
  view.detector = corner + (columns - 1) / 2 * view.bin_step + (lines - 1) / 2 * view.row_step;
  for (double done = 0; done < turn; done += 90) {
    const Vector3 bin = view.bin_step;
    view.bin_step = view.row_step, view.row_step = -1.0 * bin;
  }
  if (is_true(text, "Correction/flipH")) view.bin_step = -1.0 * view.bin_step;
  if (is_true(text, "Correction/flipV")) view.row_step = -1.0 * view.row_step;
  return view;
}

/// All views, in a frame whose z is the axis, downwards. A sample that turns clockwise, as seen from above,
/// is a source that turns about z in the other sense.
ViewGeometry views_of(const KeyValues& text, const FlexibleView& first, Index count) {
  Vector3 z = direction_of(text, "Result/axis");
  if (z[1] > 0) z = -1.0 * z;
  Vector3 x = first.bin_step - dot(first.bin_step, z) * z;
  if (length(x) < 0.5 * length(first.bin_step)) x = first.row_step - dot(first.row_step, z) * z;
  x = 1 / length(x) * x;
  const Vector3 y = cross(z, x);
  const std::optional<double> degrees = text.number("Object Radiograph/angleStep");
  require<FileError>(degrees.has_value(), text.name(),
                     ": has no Object Radiograph/angleStep; the file is damaged");
  const double step = in_radians(*degrees) * (is_true(text, "Processed/clockwise") ? -1 : 1);
  ViewGeometry made{.where = text.name(), .views = {}};
  for (Index k = 0; k < count; ++k) {
    const double c = std::cos(step * k), s = std::sin(step * k);
    const auto turned = [&](const Vector3& v) {
      return Vector3{c * dot(v, x) - s * dot(v, y), s * dot(v, x) + c * dot(v, y), dot(v, z)};
    };
    made.views.push_back(
        {turned(first.source), turned(first.detector), turned(first.bin_step), turned(first.row_step)});
  }
  return made;
}

ScanSettings read_north_star(const fs::path& path) {
  constexpr Index most = 1'000'000;  // views
  const KeyValues text = KeyValues::of_tags(path);
  ScanSettings found;
  found.folder = beside(path, "radiographs", "").filename();
  found.bins = text.count("Detector/width pixels");
  found.rows = text.count("Detector/height pixels");
  found.views = text.count("Object Radiograph/number");
  require<FileError>(found.bins && found.rows && found.views && *found.views <= most, text.name(),
                     ": has no width pixels, height pixels or number of views up to ", most,
                     "; the file is damaged");
  const Vector3 corner = corner_of(text, path, found.notes);
  found.vectors = views_of(text, first_view(text, corner), *found.views);
  found.notes.push_back(
      "flats and darks of North Star Imaging are gain0.tif and offset.tif of its folder "
      "Corrections: give them as " +
      spelled("flats") + " and " + spelled("darks"));
  heed(north_star_fields, text, found.notes);
  return found;
}

}  // namespace

extern const SettingsFormat north_star_settings{"North Star Imaging", "*.nsipro",       false, is_nsipro,
                                                read_north_star,      north_star_fields};

}  // namespace tandem::io
