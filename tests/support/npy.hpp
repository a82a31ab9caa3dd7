#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::test {

/// An array of NumPy's format, version 1, in C order and little endian.
struct Npy {
  std::vector<Index> shape;
  std::vector<double> values;

  std::vector<float> floats() const { return {values.begin(), values.end()}; }
};

template <class T>
void append_numbers(const std::string& bytes, std::vector<double>& to) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    to.push_back(static_cast<double>(value));
  }
}

/// @throws std::runtime_error for a file that is not there or of another type
inline Npy read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (all.size() < 10 || all.substr(1, 5) != "NUMPY") throw std::runtime_error(path.string());
  const std::size_t length = static_cast<unsigned char>(all[8]) + 256u * static_cast<unsigned char>(all[9]);
  const std::string header = all.substr(10, length), data = all.substr(10 + length);
  Npy array;
  for (std::size_t at = header.find('(') + 1; at < header.find(')');) {
    std::size_t used = 0;
    array.shape.push_back(std::stoll(header.substr(at), &used));
    at = header.find_first_of(",)", at + used) + 1;
    while (at < header.size() && header[at] == ' ') ++at;
  }
  const auto is = [&](const char* type) { return header.find(type) != std::string::npos; };
  if (is("'<f4'"))
    append_numbers<float>(data, array.values);
  else if (is("'<f8'"))
    append_numbers<double>(data, array.values);
  else if (is("'<i4'"))
    append_numbers<std::int32_t>(data, array.values);
  else if (is("'<i8'"))
    append_numbers<std::int64_t>(data, array.values);
  else
    throw std::runtime_error(path.string() + ": " + header);
  Index size = 1;
  for (const Index n : array.shape) size *= n;
  if (static_cast<std::size_t>(size) != array.values.size()) throw std::runtime_error(path.string());
  return array;
}

}  // namespace tandem::test
