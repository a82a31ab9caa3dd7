// Writes data elements of DICOM, as Explicit VR little endian.

#include <array>
#include <charconv>

#include "dicom.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

constexpr std::string_view written_longer = "OB OW UN UT";  // VRs with lengths of 32 bits

void put(std::string& bytes, std::uint64_t value, int count) {
  for (int k = 0; k < count; ++k) bytes += static_cast<char>(value >> 8 * k & 0xff);
}

/// A number with as many digits as the 16 characters of a DS hold.
std::string decimal(double value) {
  constexpr std::size_t most = 16;
  std::string text = shortest(value);
  for (int digits = 15; text.size() > most; --digits) {
    std::array<char, 40> room{};
    const auto [end, fault] =
        std::to_chars(room.data(), room.data() + room.size(), value, std::chars_format::general, digits);
    text.assign(room.data(), end);
  }
  return text;
}

/// FNV-1a with 64 bits, whose bits are then mixed (splitmix64).
std::uint64_t hash_of(const std::string& text, std::uint64_t hash) {
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
  return hash ^ hash >> 31;
}

}  // namespace

void DicomText::begin(DicomTag tag, std::string_view vr, std::size_t length) {
  put(bytes_, tag >> 16, 2), put(bytes_, tag & 0xffff, 2);
  bytes_ += vr;
  if (is_among(vr, written_longer)) put(bytes_, 0, 2);
  put(bytes_, length, is_among(vr, written_longer) ? 4 : 2);
}

void DicomText::add(DicomTag tag, std::string_view vr, std::string value) {
  if (value.size() % 2 != 0) value += vr == "UI" || vr == "OB" ? '\0' : ' ';
  begin(tag, vr, value.size());
  bytes_ += value;
}

void DicomText::add(DicomTag tag, std::uint16_t value) {
  begin(tag, "US", 2);
  put(bytes_, value, 2);
}

void DicomText::add(DicomTag tag, const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    if (!text.empty()) text += '\\';
    text += decimal(value);
  }
  add(tag, "DS", text);
}

void DicomText::begin_pixels(std::uint32_t bytes) { begin(dicom_pixels, "OW", bytes); }

std::string DicomText::file(const std::string& object_class, const std::string& instance) const {
  DicomText head;
  head.add(0x00020001, "OB", std::string("\0\1", 2));
  head.add(0x00020002, "UI", object_class);
  head.add(0x00020003, "UI", instance);
  head.add(0x00020010, "UI", "1.2.840.10008.1.2.1");
  head.add(0x00020012, "UI", dicom_uid("tandem"));
  head.add(0x00020013, "SH", "TANDEM");
  std::string all = std::string(128, '\0') + "DICM";
  DicomText length;
  length.begin(0x00020000, "UL", 4);
  put(length.bytes_, head.bytes_.size(), 4);
  return all + length.bytes_ + head.bytes_ + bytes_;
}

std::string dicom_uid(const std::string& text) {
  std::array<std::uint64_t, 4> parts{};  // 32 bits each, the highest first
  for (int half = 0; half < 2; ++half) {
    const std::uint64_t hash = hash_of(text, half == 0 ? 14695981039346656037ull : 0x9e3779b97f4a7c15ull);
    parts[2 * half] = hash >> 32, parts[2 * half + 1] = hash & 0xffffffff;
  }
  std::string digits;
  do {
    std::uint64_t rest = 0;
    for (std::uint64_t& part : parts) {
      const std::uint64_t value = rest << 32 | part;
      part = value / 10, rest = value % 10;
    }
    digits.insert(digits.begin(), static_cast<char>('0' + rest));
  } while (parts != std::array<std::uint64_t, 4>{});
  return "2.25." + digits;
}

}  // namespace tandem::io
