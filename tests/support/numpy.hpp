#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test_data.hpp"

namespace tandem::test {

/// Arrays with known answers, which are not part of the project.
inline std::filesystem::path vectors_folder() { return test_data() / "vectors"; }

/// All numbers of a file NAME.npy that holds floats, in their order.
inline std::vector<float> vector_of(const std::string& name) {
  std::ifstream file(vectors_folder() / (name + ".npy"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t header =
      10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  std::vector<float> values((bytes.size() - header) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(float));
  return values;
}

}  // namespace tandem::test
