#include "files.hpp"

#include <unistd.h>

#include <iomanip>
#include <sstream>

#include "../../core/error.hpp"
#include "../../io/sources.hpp"
#include "../../io/volumes/volume_kind.hpp"
#include "../../options/steps.hpp"

namespace tandem::apps {

namespace {

namespace fs = std::filesystem;

bool same(const fs::path& a, const fs::path& b) {
  std::error_code fault;
  if (fs::exists(a, fault) && fs::exists(b, fault)) return fs::equivalent(a, b, fault);
  // absolute first, because weakly_canonical does not change a relative path if no part of it exists
  const fs::path left = fs::weakly_canonical(fs::absolute(a, fault), fault);
  return left == fs::weakly_canonical(fs::absolute(b, fault), fault) && !fault;
}

/// Whether writing `output` would change `input`: the file itself, a slice of it, or a folder of images to
/// which slices would be added.
bool overwrites(const fs::path& output, const fs::path& input) {
  if (same(output, input) || io::is_file_of(output, input)) return true;
  const fs::path images = io::image_folder_of(input);
  const io::VolumeKind* kind = io::volume_kind(output);
  return kind && kind->slices_are_files() && !images.empty() && same(io::folder_of(output), images);
}

bool is_file(const NamedFile& file) { return !file.path.empty() && file.path != "-"; }

[[noreturn]] void refuse(const NamedFile& output, const NamedFile& other) {
  throw UsageError(output.option + " " + output.path.string() + ": would overwrite " + other.option + " " +
                   other.path.string() + "; give another name");
}

/// Refuses an output that would overwrite the input, or a file to which the input leads.
void refuse_source(const NamedFile& output, const NamedFile& input, const std::vector<fs::path>& behind) {
  if (input.alone ? same(output.path, input.path) : overwrites(output.path, input.path))
    refuse(output, input);
  const auto source = io::same_file(behind, io::files_of_output(output.path));
  if (source)
    throw UsageError(output.option + " " + output.path.string() + ": would overwrite " + source->string() +
                     ", from which " + input.option + " " + input.path.string() +
                     " is read; give another name");
}

/// Requires a folder that can be written to.
void require_place(const NamedFile& output) {
  const fs::path folder = io::folder_of(output.path);
  std::error_code fault;
  for (const fs::path& file : io::files_of_output(output.path)) io::require_name(file);
  require<FileError>(fs::is_directory(folder, fault), output.option, " ", output.path.string(),
                     ": the folder ", folder.string(), " does not exist; make it first");
  const io::VolumeKind* kind = io::volume_kind(output.path);
  require<FileError>((kind && kind->is_folder) || !fs::is_directory(output.path, fault), output.option, " ",
                     output.path.string(), ": is a folder; a file name is needed");
  require<FileError>(::access(folder.c_str(), W_OK) == 0 || fs::exists(output.path, fault), output.option,
                     " ", output.path.string(), ": nothing can be written to the folder ", folder.string(),
                     "; check its permissions");
}

}  // namespace

NamedFiles inputs_of(const ScanOptions& o) {
  NamedFiles inputs{{"the scan", o.path},
                    {.option = "--geometry", .path = o.how.geometry, .alone = true},
                    {"--angles", o.how.angles},
                    {"--view-shifts", o.how.view_shifts},
                    {"--view-row-shifts", o.how.row_shifts}};
  for (const std::string& path : o.beside) inputs.push_back({"the scan", path});
  for (const auto& [option, path] : options::files_of(o.steps)) inputs.push_back({option, path});
  for (const fs::path& path : o.how.flats) inputs.push_back({"--flats", path});
  for (const fs::path& path : o.how.darks) inputs.push_back({"--darks", path});
  return inputs;
}

nlohmann::json source_json(const Common& common, const fs::path& input) {
  const auto seen = common.behind.find(input);
  const io::SourceIdentity identity =
      io::identity_of(seen == common.behind.end() ? io::files_behind(input) : seen->second);
  std::ostringstream digest;
  digest << std::hex << std::setw(8) << std::setfill('0') << identity.digest;
  return {{"files", identity.files},
          {"bytes", identity.bytes},
          {"modified", identity.modified},
          {"digest", digest.str()}};
}

void require_scan_name(const NamedFile& o) {
  if (!io::is_hdf5_name(o.path))
    throw UsageError(o.option + " " + o.path.string() +
                     ": the ending names no format; .h5, .hdf5, .hdf or .nxs is needed");
}

void require_volume_name(const NamedFile& o) {
  if (!io::volume_kind(o.path))
    throw UsageError(o.option + " " + o.path.string() + ": the ending names no format; " +
                     io::volume_endings() + " is needed" +
                     (o.path.extension() == ".png" ? "; --preview makes a picture" : ""));
}

void refuse_sources(Common& common, const NamedFiles& inputs, const NamedFiles& outputs) {
  for (const NamedFile& input : inputs) {
    if (!is_file(input) || outputs.empty()) continue;
    const std::vector<fs::path>& behind = common.behind[input.path] =
        input.alone ? std::vector{input.path} : io::files_behind(input.path);
    for (const NamedFile& output : outputs) refuse_source(output, input, behind);
  }
}

void check_files(Common& common, const NamedFiles& inputs, NamedFiles outputs) {
  if (common.log == "-") throw UsageError("--log -: give the name of a file; a terminal shows the same");
  outputs.push_back({"--json", common.json, io::Content::report});
  outputs.push_back({"--log", common.log, io::Content::log});
  std::erase_if(outputs, [](const NamedFile& output) { return !is_file(output); });
  refuse_sources(common, inputs, outputs);
  for (const NamedFile& output : outputs) {
    for (const NamedFile& other : outputs)
      if (&other != &output && overwrites(output.path, other.path)) refuse(output, other);
    require_place(output);
    const io::VolumeKind* kind = io::volume_kind(output.path);
    const bool later = kind && (kind->slices_are_files() || kind->is_folder);  // its writer checks it later
    if (output.option != "--json" && !later)
      io::require_replaceable(output.path, output.content, common.replace());
  }
  open_report(common);
}

}  // namespace tandem::apps
