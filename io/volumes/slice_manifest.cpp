#include "slice_manifest.hpp"

#include <sstream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../files/text_file.hpp"

namespace tandem::io {

namespace {

constexpr Index longest = Index{1} << 28;  // bytes; 6 million slices
constexpr const char* first_line_ends = " volume of slices";

bool is_slice(Index number) { return 0 <= number && number < 1'000'000'000'000; }

/// "slice: 20 4194612 1a2b3c4d", the rest of a line whose key has been read.
bool read_slice(std::istream& words, SliceManifest& manifest) {
  Index number = -1;
  SliceManifest::Slice slice{};
  if (!(words >> number >> slice.bytes >> std::hex >> slice.checksum) || !is_slice(number)) return false;
  return manifest.slices.emplace(number, slice).second;
}

bool read_line(const std::string& line, SliceManifest& manifest) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  if (key == "slice:") return read_slice(words, manifest);
  if (key == "due:") {
    Index number = -1;
    return words >> number && is_slice(number) && manifest.due.insert(number).second;
  }
  if (key == "grid:") std::getline(words >> std::ws, manifest.grid);
  return true;  // keys of later versions
}

}  // namespace

bool SliceManifest::complete() const {
  return due.empty() && !slices.empty() &&
         slices.rbegin()->first - slices.begin()->first + 1 == std::ssize(slices);
}

std::filesystem::path manifest_path(const std::filesystem::path& volume) {
  std::filesystem::path path = volume;
  return path += ".manifest";
}

std::optional<SliceManifest> read_manifest(const std::filesystem::path& volume) {
  const std::filesystem::path path = manifest_path(volume);
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) return std::nullopt;
  std::istringstream file(text_of_regular_file(path, "a manifest of a volume of slices", longest));
  std::string line;
  const bool known =
      std::getline(file, line) && line.starts_with("tandem ") && line.ends_with(first_line_ends);
  require<FileError>(known, path.string(), ": is not a manifest of a volume of slices, or cannot be read");
  SliceManifest manifest;
  for (Index number = 2; std::getline(file, line); ++number)
    require<FileError>(read_line(line, manifest), path.string(), ": line ", number, " is damaged");
  return manifest;
}

std::string text_of(const SliceManifest& manifest) {
  std::ostringstream text;
  text << "tandem " << TANDEM_VERSION << first_line_ends
       << "\ncomplete: " << (manifest.complete() ? "yes" : "no") << "\ngrid: " << manifest.grid << '\n';
  for (const auto& [number, slice] : manifest.slices)
    text << "slice: " << std::dec << number << ' ' << slice.bytes << ' ' << std::hex << slice.checksum
         << '\n';
  text << std::dec;
  for (const Index number : manifest.due) text << "due: " << number << '\n';
  return text.str();
}

}  // namespace tandem::io
