#include "files.hpp"

#include <unistd.h>

#include "tandem/core/error.hpp"
#include "tandem/io/volume_file.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;

bool same(const fs::path& a, const fs::path& b) {
  std::error_code fault;
  if (fs::exists(a, fault) && fs::exists(b, fault)) return fs::equivalent(a, b, fault);
  // absolute first: of a relative path of which nothing exists, weakly_canonical gives it back as it is
  const fs::path left = fs::weakly_canonical(fs::absolute(a, fault), fault);
  return left == fs::weakly_canonical(fs::absolute(b, fault), fault) && !fault;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

/// Whether writing `output` would change `input`: the file itself, the name it has until it is finished, a
/// slice, or the folder of images that slices would join.
bool overwrites(const fs::path& output, const fs::path& input) {
  fs::path part = output;
  part += ".part";
  if (same(output, input) || same(part, input) || io::is_slice_of(output, input)) return true;
  std::error_code fault;
  return io::volume_kind(output) == io::VolumeKind::tiff && fs::is_directory(input, fault) &&
         same(folder_of(output), input);
}

bool is_file(const NamedFile& file) { return !file.path.empty() && file.path != "-"; }

}  // namespace

NamedFiles inputs_of(const ScanOptions& o) {
  NamedFiles inputs{{"the scan", o.path}, {"--angles", o.how.angles}};
  for (const fs::path& path : o.how.flats) inputs.push_back({"--flats", path});
  for (const fs::path& path : o.how.darks) inputs.push_back({"--darks", path});
  return inputs;
}

void require_scan_name(const NamedFile& o) {
  if (io::volume_kind(o.path) != io::VolumeKind::hdf5)
    throw UsageError(o.option + " " + o.path.string() +
                     ": the ending names no format; .h5, .hdf5, .hdf or .nxs is needed");
}

void require_volume_name(const NamedFile& o) {
  if (!io::volume_kind(o.path))
    throw UsageError(o.option + " " + o.path.string() +
                     ": the ending names no format; .h5, .hdf5, .hdf, .nxs, .tif or .tiff is needed");
}

void check_files(const NamedFiles& inputs, const NamedFiles& outputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const NamedFile& output = outputs[k];
    if (!is_file(output)) continue;
    const auto refuse = [&](const NamedFile& other) {
      if (is_file(other) && overwrites(output.path, other.path))
        throw UsageError(output.option + " " + output.path.string() + ": would overwrite " + other.option +
                         " " + other.path.string() + "; give another name");
    };
    for (const NamedFile& input : inputs) refuse(input);
    for (std::size_t other = 0; other < outputs.size(); ++other)
      if (other != k) refuse(outputs[other]);
    const fs::path folder = folder_of(output.path);
    std::error_code fault;
    require<FileError>(fs::is_directory(folder, fault), output.option, " ", output.path.string(),
                       ": the folder ", folder.string(), " does not exist; make it first");
    require<FileError>(!fs::is_directory(output.path, fault), output.option, " ", output.path.string(),
                       ": is a folder; a file name is needed");
    require<FileError>(::access(folder.c_str(), W_OK) == 0 || fs::exists(output.path, fault), output.option,
                       " ", output.path.string(), ": nothing can be written to the folder ", folder.string(),
                       "; check its permissions");
  }
}

}  // namespace tandem::apps
