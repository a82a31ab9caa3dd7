#pragma once

#include <filesystem>
#include <vector>

#include "../../io/volumes/volume_file.hpp"

namespace tandem::test {

inline std::vector<float> voxels(const std::filesystem::path& path) {
  io::VolumeReader reader(path);
  const Shape n = reader.shape();
  std::vector<float> all(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  reader.read({0, n[0]}, all.data());
  return all;
}

}  // namespace tandem::test
