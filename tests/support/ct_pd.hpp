#pragma once

// Projections as DICOM-CT-PD, written without io/.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tandem::test {

/// Elements by their numbers: the VR, and the bytes of the value.
using DicomElements = std::map<std::uint32_t, std::pair<std::string, std::string>>;

template <class T>
std::string packed_bytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int k = 0; k < count; ++k) bytes += static_cast<char>(value >> 8 * k & 0xff);
  return bytes;
}

inline std::string element_bytes(std::uint32_t tag, const std::string& vr, const std::string& value,
                                 bool says_vr) {
  const bool longer = vr == "OW" || vr == "OB" || vr == "SQ" || vr == "UN" || vr == "UT";
  const std::string even = value + std::string(value.size() % 2, vr == "UI" ? '\0' : ' '),
                    number = little(tag >> 16, 2) + little(tag & 0xffff, 2);
  if (!says_vr) return number + little(even.size(), 4) + even;
  return number + vr + (longer ? little(0, 2) + little(even.size(), 4) : little(even.size(), 2)) + even;
}

inline std::string dicom_bytes(const DicomElements& elements, const std::string& syntax,
                               bool says_vr = true) {
  std::string all = std::string(128, '\0') + "DICM" + element_bytes(0x00020010, "UI", syntax, true);
  for (const auto& [tag, element] : elements)
    all += element_bytes(tag, element.first, element.second, says_vr);
  return all;
}

constexpr const char* explicit_vr = "1.2.840.10008.1.2.1";
constexpr const char* implicit_vr = "1.2.840.10008.1.2";

/// The numbers of one projection, by the names of the manual; a detector of 3 rows and 5 columns.
struct CtPd {
  float phi = 0.4f, z = 7, rho = 100, distance = 160, width = 1.5f, height = 2, column = 2.75f, row = 1.5f;
  float d_phi = 0, d_z = 0, d_rho = 0;
  std::string shape = "CYLINDRICAL", position = "FFP", series = "2.25.1";
  bool turned = true;

  /// Pixel (row, column) is 100 row + column, as a line integral half of that, less 1.
  DicomElements elements() const {
    std::vector<std::uint16_t> pixels;
    for (int slow = 0; slow < (turned ? 5 : 3); ++slow)
      for (int fast = 0; fast < (turned ? 3 : 5); ++fast)
        pixels.push_back(static_cast<std::uint16_t>(turned ? 100 * fast + slow : 100 * slow + fast));
    const auto us = [](int value) { return std::pair("US", little(static_cast<std::uint64_t>(value), 2)); };
    const auto fl = [](std::vector<float> values) { return std::pair("FL", packed_bytes(values)); };
    return {{0x00080016, {"UI", "1.2.840.10008.5.1.4.1.1.2"}},
            {0x00185100, {"CS", position}},
            {0x0020000e, {"UI", series}},
            {0x00280002, us(1)},
            {0x00280010, us(turned ? 5 : 3)},
            {0x00280011, us(turned ? 3 : 5)},
            {0x00280100, us(16)},
            {0x00280103, us(0)},
            {0x00281052, {"DS", "-1"}},
            {0x00281053, {"DS", "0.5"}},
            {0x70291002, fl({width})},
            {0x70291006, fl({height})},
            {0x7029100b, {"CS", shape}},
            {0x70291010, us(3)},
            {0x70291011, us(5)},
            {0x70311001, fl({phi})},
            {0x70311002, fl({z})},
            {0x70311003, fl({rho})},
            {0x70311031, fl({distance})},
            {0x70311033, fl({column, row})},
            {0x7033100b, fl({d_phi})},
            {0x7033100c, fl({d_z})},
            {0x7033100d, fl({d_rho})},
            {0x70391009, {"CS", "YES"}},
            {0x70411001, {"DS", "0.0192"}},
            {0x7fe00010, {"OW", packed_bytes(pixels)}}};
  }
  std::string bytes() const { return dicom_bytes(elements(), explicit_vr); }
};

inline void save_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A folder of some projections along a helix.
inline void write_projections(const std::filesystem::path& folder, int count, CtPd one = {}) {
  std::filesystem::create_directories(folder);
  for (int k = 0; k < count; ++k, one.phi += 0.7f, one.z += 0.5f)
    save_bytes(folder / ("p_" + std::to_string(k + 1) + ".dcm"), one.bytes());
}

}  // namespace tandem::test
