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

/// What seeds link to; it lies beside them, whole.
void write_companion(const fs::path& folder);

/// Folders of four images with settings beside them.
void write_scanned(const fs::path& folder);

/// Writes all seeds to an empty folder.
std::vector<Seed> make_seeds(const fs::path& folder);

}  // namespace tandem::test
