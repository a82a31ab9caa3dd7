// Sinograms in MATLAB files: level 5, and v7.3, which is HDF5.

#include "matlab.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "layouts/layout.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_structures = 100;

/// A sinogram in memory, with a line for each view; or an image.
class LinesInMemory final : public FrameSource {
 public:
  LinesInMemory(const std::string& where, const MatArray& array, bool lines = true)
      : FrameSource(
            where, PixelType::float32,
            lines ? Shape{array.shape[0], 1, array.shape[1]} : Shape{1, array.shape[0], array.shape[1]}),
        pixels_(array.values.size()) {
    const Index views = array.shape[0], bins = array.shape[1];
    for (Index v = 0; v < views; ++v)
      for (Index b = 0; b < bins; ++b)
        pixels_[v * bins + b] = static_cast<float>(array.values[b * views + v]);
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    for (Index k = frames.first; k < frames.last; ++k)
      for (Index y = rows.first; y < rows.last; ++y, out += bins.size() * sizeof(float))
        std::memcpy(out, &pixels_[(k * shape()[1] + y) * shape()[2] + bins.first],
                    bins.size() * sizeof(float));
  }

 private:
  std::vector<float> pixels_;
};

std::optional<double> one_number(const MatVariables& all, const std::string& group, const char* name) {
  for (const std::string& at : {group + "parameters.", group})
    if (const auto found = all.find(at + name); found != all.end() && found->second.values.size() == 1)
      return found->second.values.front();
  return std::nullopt;
}

std::optional<double> length_in(const MatVariables& all, const std::string& group, const char* name,
                                const std::string& where) {
  const std::optional<double> value = one_number(all, group, name);
  require<FileError>(!value || (*value > 0 && *value < 1e9), where, ": ", name, " = ", value.value_or(0),
                     "; a length above 0, in mm, is needed");
  return value;
}

void complete(const MatVariables& all, const std::string& group, const std::string& where,
              Acquisition& found) {
  found.angles_where = where + ": " + group + "angles";
  for (const std::string& at : {group + "parameters.angles", group + "angles"})
    if (const auto angles = all.find(at); angles != all.end() && found.angles.empty())
      for (const double angle : angles->second.values) found.angles.push_back(in_radians(angle));
  found.angles_have_unit = false;
  found.sod_mm = length_in(all, group, "distanceSourceOrigin", where);
  found.sdd_mm = length_in(all, group, "distanceSourceDetector", where);
  found.info.pixel_size_mm = length_in(all, group, "pixelSizePost", where);
  if (!found.info.pixel_size_mm) found.info.pixel_size_mm = length_in(all, group, "pixelSize", where);
  if (found.sod_mm && found.sdd_mm && found.info.pixel_size_mm) found.kind = ConeBeam::kind;
}

/// Adds an array of numbers of a v7.3 file, which lists the axes in the opposite order. If there are more
/// than `most` numbers, it adds only the extents.
void collect(const hdf5::File& file, const std::string& path, const std::string& name, Index most,
             MatVariables& into) {
  if (!file.has(path) || file.is_group(path)) return;
  std::optional<hdf5::DataSet> set = file.find(path);
  if (!set || set->shape().size() != 2) return;
  MatArray& array = into[name];
  array.shape = {set->shape()[1], set->shape()[0]};
  if (set->size() > most) return;
  set->require_stored();
  array.values = set->numbers();
}

/// Adds what a group says about the sinogram in it.
void collect_geometry(const hdf5::File& file, const std::string& group, const std::string& prefix,
                      MatVariables& into) {
  for (const auto& [at, name] :
       {std::pair(group + "/", prefix), std::pair(group + "/parameters/", prefix + "parameters.")})
    for (const char* key :
         {"angles", "distanceSourceOrigin", "distanceSourceDetector", "pixelSizePost", "pixelSize"})
      collect(file, at + key, name + key, most_numbers_of_arrays, into);
}

/// The name of a variable without its last part: "scan." of "scan.sinogram".
std::string group_of(const std::string& name) { return name.substr(0, name.rfind('.') + 1); }

/// The variables `sinogram` of a v7.3 file, at its root and in structures.
std::vector<std::string> sinograms_of(const hdf5::File& file) {
  std::vector<std::string> found;
  if (file.has("/sinogram")) found.emplace_back("sinogram");
  const std::vector<std::string> names = file.names("/");
  for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), most_structures); ++k)
    if (file.is_group("/" + names[k]) && file.has("/" + names[k] + "/sinogram"))
      found.push_back(names[k] + ".sinogram");
  return found;
}

void note_others(Acquisition& scan, std::size_t sinograms, const std::string& name) {
  if (sinograms > 1)
    scan.info.notes.push_back("several sinograms; only " + name + " is read; FILE:/NAME names another one");
}

}  // namespace

std::string planes_in(const MatVariables& variables) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, array] : variables) {
    if (array.shape.size() != 2 || array.shape[0] < 2 || array.shape[1] < 2 || ++listed > 4) continue;
    text += (text.empty() ? "" : ", ") + name.substr(0, 60) + " (" + std::to_string(array.shape[0]) + " x " +
            std::to_string(array.shape[1]) + ")";
  }
  if (listed > 4) text += " and " + std::to_string(listed - 4) + " more";
  return text.empty() ? "none" : text;
}

std::optional<Acquisition> sinogram_in(const MatVariables& all, const std::string& where,
                                       const std::string& wanted) {
  const auto is_sinogram = [&](const auto& variable) {
    return wanted.empty() ? variable.first == "sinogram" || variable.first.ends_with(".sinogram")
                          : variable.first == wanted;
  };
  const auto found = std::find_if(all.begin(), all.end(), is_sinogram);
  require<FileError>(found != all.end() || wanted.empty(), where, ": has no variable ", wanted,
                     " of numbers; those of two axes are: ", planes_in(all));
  if (found == all.end()) return std::nullopt;
  const auto& [name, array] = *found;
  require<FileError>(array.shape.size() == 2 && array.shape[0] > 0 && array.shape[1] > 0, where, ": ", name,
                     " has ", array.shape.size(), " axes; 2 (views, bins) are needed");
  require<FileError>(!array.values.empty(), where, ": ", name, " has more than ", most_numbers_of_arrays,
                     " numbers, which are not read");
  Acquisition scan;
  scan.info.format = "MATLAB sinogram";
  scan.lines = true;
  scan.projections.push_back(std::make_unique<LinesInMemory>(where + ": " + name, array));
  complete(all, group_of(name), where, scan);
  note_others(scan, std::count_if(all.begin(), all.end(), is_sinogram), name);
  scan.info.advice.push_back({"minus-log", "a sinogram of MATLAB mostly holds line integrals; then give " +
                                               spelled("minus-log") + " false"});
  return scan;
}

namespace {

/// The name of a variable, whose fields are written as STRUCTURE.FIELD or STRUCTURE/FIELD.
std::string with_dots(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

std::optional<Acquisition> find(const hdf5::File& file, const OpenOptions& options) {
  const std::vector<std::string> own =
      options.variable.empty() ? sinograms_of(file) : std::vector{with_dots(options.variable)};
  if (own.empty()) return std::nullopt;
  const std::string& name = own.front();
  std::string path = "/" + name;
  std::ranges::replace(path, '.', '/');
  if (!options.variable.empty() && !file.text(path, "MATLAB_class")) return std::nullopt;
  MatVariables all;
  collect(file, path, name, most_numbers_of_arrays, all);
  const std::string prefix = group_of(name);
  collect_geometry(file, path.substr(0, prefix.size()), prefix, all);
  const std::vector<std::string> names = all.contains(name) ? std::vector<std::string>() : file.names("/");
  for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), most_structures); ++k)
    collect(file, "/" + names[k], names[k], 0, all);  // for a message
  std::optional<Acquisition> scan = sinogram_in(all, file.name(), name);
  note_others(*scan, own.size(), name);
  return scan;
}

}  // namespace

Layout matlab_layout() {
  return {.name = "MATLAB sinogram",
          .needed = {"a sinogram of MATLAB"},
          .fields = {},
          .find = find,
          .has_variables = true};
}

FrameSources matlab_frames(const hdf5::File& file, const std::string& name, bool lines) {
  MatVariables all;
  collect(file, "/" + name, name, most_numbers_of_arrays, all);
  require<FileError>(all.contains(name) && !all[name].values.empty(), file.name(), ": /", name,
                     " is a variable of MATLAB without frames; a matrix of 1 to ", most_numbers_of_arrays,
                     " numbers is needed");
  FrameSources found;
  found.push_back(std::make_unique<LinesInMemory>(file.name() + ": /" + name, all[name], lines));
  return found;
}

bool is_mat5(const fs::path& path) {
  std::array<char, 128> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string text(start.data(), start.size());
  return text.starts_with("MATLAB 5.0 MAT-file") && (text.ends_with("IM") || text.ends_with("MI"));
}

MatArray mat5_array(const fs::path& path, const std::string& name) {
  MatVariables all = read_mat5(path);
  const auto found = all.find(with_dots(name));
  require<FileError>(found != all.end(), path.string(), ": has no variable ", name, " of numbers");
  require<FileError>(!found->second.values.empty(), path.string(), ": ", name, " is empty, or has more than ",
                     most_numbers_of_arrays, " numbers, which are not read");
  return std::move(found->second);
}

Acquisition open_mat5(const fs::path& path, const OpenOptions& options) {
  const MatVariables all = read_mat5(path);
  std::optional<Acquisition> found = sinogram_in(all, path.string(), with_dots(options.variable));
  require<FileError>(
      found.has_value(), path.string(),
      ": has no variable sinogram (views x bins); give FILE:/NAME; those of two axes are: ", planes_in(all));
  return std::move(*found);
}

FrameSources mat5_frames(const fs::path& path, const std::string& wanted, bool lines) {
  const MatVariables all = read_mat5(path);
  std::vector<MatVariables::const_iterator> planes;
  for (auto each = all.begin(); each != all.end(); ++each)
    if (each->second.shape.size() == 2 && each->second.values.size() > 1 &&
        (wanted.empty() || each->first == with_dots(wanted)))
      planes.push_back(each);
  require<FileError>(planes.size() == 1, path.string(), ": ", planes.empty() ? "has no" : "has several",
                     " variables of frames; give ", path.string(),
                     ":/NAME; those of two axes are: ", planes_in(all));
  FrameSources found;
  found.push_back(
      std::make_unique<LinesInMemory>(path.string() + ": " + planes[0]->first, planes[0]->second, lines));
  return found;
}

}  // namespace tandem::io
