#include "nikon_angles.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../files/text_file.hpp"
#include "key_values.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index longest_of_angles = Index{1} << 26;  // bytes of such a list

/// The file of angles and how many lines its head has.
struct AngleFile {
  fs::path path;
  int head;
};

std::optional<AngleFile> angle_file(const fs::path& beside, const std::string& name) {
  const fs::path folder = beside.parent_path();
  std::error_code fault;
  for (const AngleFile& file :
       {AngleFile{folder / (name + ".ang"), 1}, AngleFile{folder / (name + "_ctdata.txt"), 3},
        AngleFile{folder / "_ctdata.txt", 3}})
    if (fs::is_regular_file(file.path, fault)) return file;
  return std::nullopt;
}

/// Lines have the number of a view, from 1, and its angle in degrees: "1: 0.25", or "1 0.25 3.5" with a time.
/// Empty unless each view has one.
std::vector<double> angles_in(const AngleFile& file, Index views) {
  std::istringstream text(text_of_regular_file(file.path, "a list of angles", longest_of_angles));
  std::vector<double> angles(static_cast<std::size_t>(views), std::nan(""));
  std::string line;
  for (int k = 0; std::getline(text, line); ++k) {
    if (k < file.head) continue;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == ':' || c == ',' || c == '\r'; }, ' ');
    std::istringstream words(line);
    std::string first, second;
    if (!(words >> first >> second)) continue;
    const std::optional<double> number = finite_number(first), angle = finite_number(second);
    if (!number || !angle || *number < 1 || *number > static_cast<double>(views)) return {};
    angles[static_cast<std::size_t>(*number) - 1] = *angle;
  }
  const bool all = std::all_of(angles.begin(), angles.end(), [](double a) { return std::isfinite(a); });
  return all ? angles : std::vector<double>();
}

}  // namespace

void read_nikon_angles(const fs::path& beside, const std::string& name, ScanSettings& found) {
  constexpr double most_views = 1e6;
  const std::optional<AngleFile> file = angle_file(beside, name);
  const bool plausible = file && static_cast<double>(*found.views) <= most_views;
  const std::vector<double> angles = plausible ? angles_in(*file, *found.views) : std::vector<double>();
  if (angles.empty()) {
    found.notes.push_back(beside.string() + ": AngleFile_Use = True, but " +
                          (file ? file->path.string() + " has no angle for each of its views"
                                : "there is no " + name + ".ang and no _ctdata.txt") +
                          "; equal steps of AngularStep are taken");
    return;
  }
  std::vector<double> turned{0};
  for (std::size_t k = 1; k < angles.size(); ++k)
    turned.push_back(turned.back() + std::remainder(angles[k] - angles[k - 1], 360.0));
  const double sense = turned.back() * found.step_deg.value_or(-1) > 0 ? 1 : -1;
  for (const double turn : turned) found.degrees.push_back(found.first_deg + sense * turn);
  if (!found.step_deg) found.step_deg = -360.0 / static_cast<double>(angles.size());
  found.notes.push_back("the angles are those of " + file->path.string() + " (AngleFile_Use)");
}

}  // namespace tandem::io
