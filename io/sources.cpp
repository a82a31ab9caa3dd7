#include "sources.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "../core/error.hpp"
#include "files/checksum.hpp"
#include "files/name_pattern.hpp"
#include "hdf5/hdf5.hpp"
#include "hdf5/hdf5_links.hpp"
#include "hdf5/rehearsal.hpp"
#include "scans/images/image.hpp"
#include "scans/inside_file.hpp"
#include "scans/settings/settings.hpp"
#include "volumes/volume_format.hpp"
#include "volumes/volume_kind.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

namespace {

using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

std::optional<struct stat> state_of(const fs::path& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0) return std::nullopt;
  return state;
}

FileKey key_of(const struct stat& state) { return {state.st_dev, state.st_ino}; }

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault))
    if (entry.is_regular_file(fault)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The files of the volume of slices that this name, or the name of a slice, stands for; empty if there is
/// none.
std::vector<fs::path> files_of_volume(const fs::path& path) {
  const fs::path volume = volume_of(path);
  std::error_code fault;
  const VolumeKind* kind = volume_kind(path);
  if (kind == nullptr || !kind->slices_are_files() ||
      (fs::exists(path, fault) &&
       (volume == path || !written_by_tandem(kind->slice_file->description(path)))))
    return {};
  std::vector<fs::path> files = files_of_output(volume);
  std::erase_if(files, [&](const fs::path& file) { return !fs::exists(file, fault); });
  return files;
}

/// The names with a zero byte after each, since no name holds one.
std::string joined(const std::vector<fs::path>& files) {
  std::string names;
  for (const fs::path& file : files) names += file.string() + '\0';
  return names;
}

std::string utc(std::time_t time) {
  std::array<char, 32> text{};
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace

std::vector<fs::path> files_behind(const fs::path& named) {
  const fs::path path = inside_file(named).file;
  std::error_code fault;
  if (std::vector<fs::path> slices = files_of_volume(path); !slices.empty()) return slices;
  if (const NamePattern some = name_pattern(path); !some.names.empty()) {
    std::vector<fs::path> files = files_in(some.folder);
    std::erase_if(files, [&](const fs::path& file) { return !some.fits(file.filename().string()); });
    const std::vector<fs::path> settings = settings_in(some.folder);
    files.insert(files.end(), settings.begin(), settings.end());
    return files;
  }
  if (path.empty() || !fs::exists(path, fault)) return {};
  std::vector<fs::path> files;
  if (!fs::is_directory(path, fault)) files.push_back(path);
  if (const fs::path folder = image_folder_of(path); !folder.empty()) {
    const std::vector<fs::path> images = files_in(folder);
    files.insert(files.end(), images.begin(), images.end());
    return files;
  }
  if (!fs::is_regular_file(path, fault)) return files;
  if (const ImageFormat* format = image_format_of(path); format && format->beside)
    std::ranges::copy_if(format->beside(path), std::back_inserter(files),
                         [&](const fs::path& file) { return fs::is_regular_file(file, fault); });
  if (!hdf5::is_hdf5(path)) return files;
  try {
    std::istringstream names(answer_of(path, [&] { return joined(hdf5::linked_files(path)); }));
    for (std::string name; std::getline(names, name, '\0');) files.emplace_back(name);
  } catch (const FileError&) {  // the reader of the file will say what is wrong with it
  }
  return files;
}

fs::path image_folder_of(const fs::path& scan) {
  std::error_code fault;
  if (fs::is_directory(scan, fault)) return scan;
  if (const NamePattern some = name_pattern(scan); !some.names.empty()) return some.folder;
  if (!fs::is_regular_file(scan, fault) || !settings_format_of(scan)) return {};
  try {
    return image_folder_of(scan, read_settings(scan));
  } catch (const FileError&) {  // the reader of the file will say what is wrong with it
    return image_folder_of(scan, {});
  }
}

std::optional<fs::path> same_file(const std::vector<fs::path>& files, const std::vector<fs::path>& others) {
  std::set<FileKey> keys;
  for (const fs::path& other : others)
    if (const auto state = state_of(other)) keys.insert(key_of(*state));
  for (const fs::path& file : files)
    if (const auto state = state_of(file); state && keys.contains(key_of(*state))) return file;
  return std::nullopt;
}

SourceIdentity identity_of(const std::vector<fs::path>& files) {
  SourceIdentity identity;
  std::time_t latest = 0;
  std::vector<char> start(16384);
  for (const fs::path& file : files) {
    const auto state = state_of(file);
    if (!state) continue;
    ++identity.files;
    identity.bytes += state->st_size;
    latest = std::max(latest, state->st_mtime);
    const std::string head = file.filename().string() + ' ' + std::to_string(state->st_size) + '\n';
    identity.digest = checksum(head.data(), head.size(), identity.digest);
    identity.times = checksum(&state->st_mtim, sizeof state->st_mtim, identity.times);
    if (!S_ISREG(state->st_mode)) continue;  // the bytes of a pipe are for its reader
    std::ifstream content(file, std::ios::binary);
    content.read(start.data(), start.size());
    identity.digest = checksum(start.data(), std::max<std::streamsize>(content.gcount(), 0), identity.digest);
  }
  identity.modified = utc(latest);
  return identity;
}

}  // namespace tandem::io
