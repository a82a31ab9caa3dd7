// Sinograms in MATLAB files: level 5, and v7.3, which is HDF5.

#include "matlab.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <utility>

#include "../core/error.hpp"
#include "../core/units.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_structures = 100;
constexpr Index most_numbers = Index{1} << 28;  // of all arrays of a file: 2 GiB

/// A sinogram in memory, a line a view.
class LinesInMemory final : public FrameSource {
 public:
  LinesInMemory(const std::string& where, const MatArray& array)
      : FrameSource(where, PixelType::float32, {array.shape[0], 1, array.shape[1]}),
        pixels_(array.values.size()) {
    const Index views = array.shape[0], bins = array.shape[1];
    for (Index v = 0; v < views; ++v)
      for (Index b = 0; b < bins; ++b)
        pixels_[static_cast<std::size_t>(v * bins + b)] =
            static_cast<float>(array.values[static_cast<std::size_t>(b * views + v)]);
  }

  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    if (rows.size() == 0) return;
    for (Index v = frames.first; v < frames.last; ++v, out += bins.size() * static_cast<Index>(sizeof(float)))
      std::memcpy(out, &pixels_[static_cast<std::size_t>(v * shape()[2] + bins.first)],
                  static_cast<std::size_t>(bins.size()) * sizeof(float));
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
  found.sod_mm = length_in(all, group, "distanceSourceOrigin", where);
  found.sdd_mm = length_in(all, group, "distanceSourceDetector", where);
  found.info.pixel_size_mm = length_in(all, group, "pixelSizePost", where);
  if (!found.info.pixel_size_mm) found.info.pixel_size_mm = length_in(all, group, "pixelSize", where);
  if (found.sod_mm && found.sdd_mm && found.info.pixel_size_mm) found.kind = ConeBeam::kind;
}

/// Adds the numbers of a v7.3 file that may be wanted from one group. HDF5 lists the axes in the opposite
/// order.
void collect(const hdf5::File& file, const std::string& group, const std::string& prefix,
             MatVariables& into) {
  for (const std::string name : {"sinogram", "angles", "distanceSourceOrigin", "distanceSourceDetector",
                                 "pixelSizePost", "pixelSize"}) {
    if (!file.has(group + "/" + name)) continue;
    std::optional<hdf5::DataSet> set = file.find(group + "/" + name);
    if (!set || set->shape().size() != 2) continue;
    require<FileError>(set->size() <= most_numbers, set->where(), ": has ", set->size(), " numbers; at most ",
                       most_numbers, " are read");
    set->require_stored();
    into[prefix + name] = {{set->shape()[1], set->shape()[0]}, set->numbers()};
  }
}

}  // namespace

std::optional<Acquisition> sinogram_in(const MatVariables& all, const std::string& where) {
  const auto is_sinogram = [](const auto& variable) {
    return variable.first == "sinogram" || variable.first.ends_with(".sinogram");
  };
  const auto found = std::find_if(all.begin(), all.end(), is_sinogram);
  if (found == all.end()) return std::nullopt;
  const auto& [name, array] = *found;
  require<FileError>(array.shape.size() == 2 && array.shape[0] > 0 && array.shape[1] > 0, where, ": ", name,
                     " has ", array.shape.size(), " axes; 2 (views, bins) are needed");
  Acquisition scan;
  scan.info.format = "MATLAB sinogram";
  scan.projections.push_back(std::make_unique<LinesInMemory>(where + ": " + name, array));
  complete(all, name.substr(0, name.size() - std::string("sinogram").size()), where, scan);
  if (std::count_if(all.begin(), all.end(), is_sinogram) > 1)
    scan.info.notes.push_back("several sinograms; only " + name + " is read");
  scan.info.notes.emplace_back(
      "a sinogram of MATLAB mostly holds line integrals; then give --minus-log false");
  return scan;
}

std::optional<Acquisition> find_matlab(const hdf5::File& file, const OpenOptions&) {
  MatVariables all;
  const auto collect_structure = [&](const std::string& group, const std::string& prefix) {
    if (!file.has(group + "/sinogram")) return;
    collect(file, group, prefix, all);
    if (file.is_group(group + "/parameters"))
      collect(file, group + "/parameters", prefix + "parameters.", all);
  };
  collect_structure("", "");
  const std::vector<std::string> names = file.names("/");
  for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), most_structures); ++k)
    if (file.is_group("/" + names[k])) collect_structure("/" + names[k], names[k] + ".");
  return sinogram_in(all, file.name());
}

bool is_mat5(const fs::path& path) {
  std::array<char, 128> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  const std::string text(start.data(), start.size());
  return text.starts_with("MATLAB 5.0 MAT-file") && (text.ends_with("IM") || text.ends_with("MI"));
}

Acquisition open_mat5(const fs::path& path, const OpenOptions&) {
  std::optional<Acquisition> found = sinogram_in(read_mat5(path), path.string());
  require<FileError>(found.has_value(), path.string(),
                     ": has no variable sinogram (views x bins); in MATLAB: sinogram = ...; angles = ...; "
                     "save('scan.mat', 'sinogram', 'angles')");
  return std::move(*found);
}

}  // namespace tandem::io
