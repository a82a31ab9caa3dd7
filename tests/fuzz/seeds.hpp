#pragma once

// The valid files that the fuzzer damages.

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::test {

namespace fs = std::filesystem;

struct Seed {
  std::string name;  ///< with the folder that it lies in, if other files must lie beside it
  std::string bytes;
};

std::string content(const fs::path& path);
void save(const fs::path& path, const std::string& bytes);

/// Writes the file that seeds link to; it lies beside them, whole.
void write_companion(const fs::path& folder);

/// The volume that has this file: slices and a manifest (TIFF, DICOM), or a folder of Zarr. Empty if the
/// file is alone.
fs::path volume_of(const std::string& name);

/// Makes the folder of a first file whole: images with settings beside them, or slices.
void write_beside(const fs::path& folder, const std::string& name);

/// Writes all first files to an empty folder. Returns those that have one of the words in their names; all if
/// there are no words.
std::vector<Seed> make_seeds(const fs::path& folder, const std::vector<std::string>& words);

}  // namespace tandem::test
