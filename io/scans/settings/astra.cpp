// ASTRA's vectors of a cone beam (cone_vec): a line of 12 numbers a view, source, middle of the detector, and
// the steps from a column and from a row to the next; NAME.geom beside images, as CWI publishes its scans.

#include <array>
#include <sstream>

#include "../../../core/error.hpp"
#include "../../files/text_file.hpp"
#include "key_values.hpp"
#include "settings.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_views = 1'000'000;
constexpr Index longest_list = Index{1} << 29;  // bytes, of so many views

ConeView view_in(const std::string& line, const std::string& where) {
  std::array<double, 12> v{};
  std::istringstream words(line);
  std::string word;
  for (std::size_t k = 0; k < v.size(); ++k) {
    words >> word;
    const std::optional<double> number = words ? finite_number(word) : std::nullopt;
    require<FileError>(
        number.has_value(), where, ": number ", k + 1,
        " of 12 is missing or not finite; source, detector, column and row (x y z each) are needed");
    v[k] = *number;
  }
  require<FileError>(!(words >> word), where, ": has more than 12 numbers");
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}, {v[9], v[10], v[11]}};
}

ScanSettings read_astra(const fs::path& path) {
  std::istringstream file(text_of_regular_file(path, "a list of vectors", longest_list));
  ScanSettings found;
  std::string line;
  for (Index number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.starts_with('#')) continue;
    require<FileError>(found.vectors.size() < most_views, path.string(), ": has more than ", most_views,
                       " views");
    found.vectors.push_back(view_in(line, path.string() + ": line " + std::to_string(number)));
  }
  require<FileError>(!found.vectors.empty(), path.string(),
                     ": has no views; a line of 12 numbers each is needed");
  found.notes.push_back(path.string() +
                        ": its lengths are taken as mm; line k belongs to image k in the order of the names");
  return found;
}

bool is_geom(const fs::path& path) { return in_lower_case(path.extension().string()) == ".geom"; }

}  // namespace

extern const SettingsFormat astra_settings{"ASTRA", "*.geom", true, is_geom, read_astra};

}  // namespace tandem::io
