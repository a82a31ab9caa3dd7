// The names of slices that are files: NAME_00000.tif and so on.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "slice_manifest.hpp"
#include "volume_file.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;
constexpr std::size_t least_digits = 5, most_digits = 15;

bool slices_are_files(const fs::path& volume) {
  const VolumeKind* kind = volume_kind(volume);
  return kind != nullptr && kind->slices_are_files();
}

bool is_number(const std::string& text) {
  return text.size() >= least_digits && text.size() <= most_digits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::optional<Index> slice_number(const fs::path& volume, const fs::path& file) {
  const std::string start = volume.stem().string() + "_", stem = file.stem().string();
  if (file.extension() != volume.extension() || !stem.starts_with(start)) return std::nullopt;
  const std::string number = stem.substr(start.size());
  if (!is_number(number)) return std::nullopt;
  const Index slice = std::stoll(number);
  if (slice_path(volume, slice).filename() != file.filename()) return std::nullopt;
  return slice;
}

bool written_by_tandem(const std::string& description) {
  return description.starts_with("tandem ") ||
         (description.starts_with("ImageJ=") && description.find("\ntandem.version: ") != std::string::npos);
}

fs::path slice_path(const fs::path& volume, Index slice) {
  std::array<char, 24> number{};
  std::snprintf(number.data(), number.size(), "_%05lld", static_cast<long long>(slice));
  return volume.parent_path() / (volume.stem().string() + number.data() + volume.extension().string());
}

bool is_file_of(const fs::path& volume, const fs::path& file) {
  std::error_code fault;
  return slices_are_files(volume) &&
         (slice_number(volume, file) || file.filename() == manifest_path(volume).filename()) &&
         fs::equivalent(folder_of(volume), folder_of(file), fault);
}

std::map<Index, fs::path> slices_on_disk(const fs::path& volume) {
  std::map<Index, fs::path> found;
  std::error_code fault;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(volume), fault))
    if (const auto number = slice_number(volume, entry.path())) found.emplace(*number, entry.path());
  return found;
}

fs::path volume_of(const fs::path& path) {
  const std::string stem = path.stem().string();
  const fs::path volume = path.parent_path() / (stem.substr(0, stem.rfind('_')) + path.extension().string());
  std::error_code fault;
  return fs::exists(path, fault) && slice_number(volume, path) ? volume : path;
}

std::string files_written(const fs::path& path, Range slices) {
  if (!slices_are_files(path)) return path.string();
  const std::string first = slice_path(path, slices.first).string();
  if (slices.size() == 1) return first + " (1 slice)";
  return first + " to " + slice_path(path, slices.last - 1).filename().string() + " (" +
         std::to_string(slices.size()) + " slices)";
}

std::vector<fs::path> files_of_output(const fs::path& path) {
  std::vector<fs::path> files{path};
  const VolumeKind* kind = volume_kind(path);
  if (kind == nullptr || kind->files == nullptr) return files;
  for (const fs::path& file : kind->files(path)) files.push_back(file);
  return files;
}

std::vector<fs::path> slice_files(const fs::path& volume) {
  std::vector<fs::path> all{manifest_path(volume)};
  for (const auto& [number, slice] : slices_on_disk(volume)) all.push_back(slice);
  return all;
}

}  // namespace tandem::io
