#include "number_form.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "half.hpp"

namespace tandem::io {

namespace {

template <class T>
constexpr PixelType type_of() {
  if (std::is_same_v<T, std::uint8_t>) return PixelType::uint8;
  if (std::is_same_v<T, std::uint16_t>) return PixelType::uint16;
  if (std::is_same_v<T, std::uint32_t>) return PixelType::uint32;
  return PixelType::float32;
}

template <class T, bool swapped>
void to_pixels(const std::byte* in, Index count, std::byte* out) {
  using Pixel = std::conditional_t<type_of<T>() == PixelType::float32, float, T>;
  for (Index i = 0; i < count; ++i, in += sizeof(T), out += sizeof(Pixel)) {
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), in, sizeof(T));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    const auto pixel = static_cast<Pixel>(std::bit_cast<T>(bytes));
    std::memcpy(out, &pixel, sizeof(Pixel));
  }
}

template <bool swapped>
void halves_to_pixels(const std::byte* in, Index count, std::byte* out) {
  std::array<std::uint16_t, 256> halves{};
  std::array<float, 256> floats{};
  for (Index some = 0; count > 0; count -= some) {
    some = std::min<Index>(count, halves.size());
    to_pixels<std::uint16_t, swapped>(in, some, reinterpret_cast<std::byte*>(halves.data()));
    floats_of(halves.data(), some, floats.data());
    std::memcpy(out, floats.data(), some * sizeof(float));
    in += some * sizeof halves[0], out += some * sizeof(float);
  }
}

template <class T>
NumberForm form_of(bool swapped) {
  constexpr bool is_pixel = type_of<T>() != PixelType::float32 || std::is_same_v<T, float>;
  const auto as_stored = is_pixel ? nullptr : to_pixels<T, false>;
  return {sizeof(T), type_of<T>(), swapped && sizeof(T) > 1 ? to_pixels<T, true> : as_stored};
}

}  // namespace

std::optional<NumberForm> number_form(NumberKind kind, Index bytes, bool swapped) {
  const bool natural = kind == NumberKind::natural;
  if (kind == NumberKind::real) {
    if (bytes == 2)
      return NumberForm{2, PixelType::float32, swapped ? halves_to_pixels<true> : halves_to_pixels<false>};
    if (bytes == 4) return form_of<float>(swapped);
    if (bytes == 8) return form_of<double>(swapped);
    return std::nullopt;
  }
  switch (bytes) {
    case 1:
      return natural ? form_of<std::uint8_t>(swapped) : form_of<std::int8_t>(swapped);
    case 2:
      return natural ? form_of<std::uint16_t>(swapped) : form_of<std::int16_t>(swapped);
    case 4:
      return natural ? form_of<std::uint32_t>(swapped) : form_of<std::int32_t>(swapped);
    case 8:
      return natural ? form_of<std::uint64_t>(swapped) : form_of<std::int64_t>(swapped);
    default:
      return std::nullopt;
  }
}

}  // namespace tandem::io
