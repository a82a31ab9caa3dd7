#include "bitshuffle.hpp"

#include <lz4.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
#include <vector>

#include "packing.hpp"

namespace tandem::io {

namespace {

using Room = std::span<std::byte>;
constexpr std::size_t together = 8;  // number of elements that give the bits of a byte

/// Swaps the bits of `high` and `low` that `mask` << shift and `mask` select.
inline void swap_bits(std::uint8_t& high, std::uint8_t& low, int shift, std::uint8_t mask) {
  const auto differ = static_cast<std::uint8_t>((high >> shift ^ low) & mask);
  low = static_cast<std::uint8_t>(low ^ differ);
  high = static_cast<std::uint8_t>(high ^ differ << shift);
}

constexpr std::size_t columns = 64;  // columns of a tile, so that it stays in the cache
using Tile = std::array<std::array<std::uint8_t, columns>, together>;

/// Transposes 8 x 8 bits in each column. Before, byte k of a column has bit k of eight elements. Afterwards
/// byte k has the bits of element k. Halves are swapped, then quarters, then single bits.
void transpose(Tile& rows) {
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t k : {0, 1, 2, 3}) swap_bits(rows[k][i], rows[k + 4][i], 4, 0x0f);
    for (std::size_t k : {0, 1, 4, 5}) swap_bits(rows[k][i], rows[k + 2][i], 2, 0x33);
    for (std::size_t k : {0, 2, 4, 6}) swap_bits(rows[k][i], rows[k + 1][i], 1, 0x55);
  }
}

/// Makes elements from the rows of a block. Row 8 b + k has bit k of byte b of all its elements.
template <std::size_t width>
void join_bits(const std::byte* in, std::size_t elements, std::byte* out) {
  const std::size_t row = elements / together;
  std::array<Tile, width> tiles{};
  for (std::size_t first = 0; first < row; first += columns) {
    const std::size_t some = std::min(columns, row - first);
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t k = 0; k < together; ++k)
        std::memcpy(tiles[b][k].data(), in + (together * b + k) * row + first, some);
      transpose(tiles[b]);
    }
    for (std::size_t i = 0; i < some; ++i)
      for (std::size_t k = 0; k < together; ++k)
        for (std::size_t b = 0; b < width; ++b)
          out[((first + i) * together + k) * width + b] = static_cast<std::byte>(tiles[b][k][i]);
  }
}

using Join = void (*)(const std::byte* in, std::size_t elements, std::byte* out);
Join join_for(std::size_t width) {
  switch (width) {
    case 1:
      return join_bits<1>;
    case 2:
      return join_bits<2>;
    case 4:
      return join_bits<4>;
    case 8:
      return join_bits<8>;
    default:
      return nullptr;
  }
}

/// A function that fills a block from the stored bytes, and takes these away. False if they are damaged.
using Take = bool (*)(Bytes& stored, Room block);

bool take_plain(Bytes& stored, Room block) {
  if (stored.size() < block.size()) return false;
  std::memcpy(block.data(), stored.data(), block.size());
  stored = stored.subspan(block.size());
  return true;
}

template <bool (*unpack)(Bytes, Room)>
bool take_packed(Bytes& stored, Room block) {
  const auto packed = take_big<std::uint32_t>(stored);
  if (!packed || *packed > stored.size() || !unpack(stored.first(*packed), block)) return false;
  stored = stored.subspan(*packed);
  return true;
}

Take take_for(unsigned packing) {
  switch (packing) {
    case 0:
      return take_plain;
    case 2:
      return take_packed<unpack_lz4>;
    case 3:
      return take_packed<unpack_zstd>;
    default:
      return nullptr;
  }
}

/// Makes the elements of all blocks, one block after another. The last block is shorter, and up to seven
/// elements follow it unchanged.
bool join_blocks(Bytes stored, Take take, std::size_t width, std::size_t block_elements, Room out) {
  const Join join = join_for(width);
  const std::size_t elements = out.size() / width, whole = elements - elements % together;
  std::vector<std::byte> block(std::min(block_elements, whole) * width);
  for (std::size_t first = 0; first < whole; first += block_elements) {
    const std::size_t some = std::min(block_elements, whole - first);
    const Room bits(block.data(), some * width);
    if (!take(stored, bits)) return false;
    join(bits.data(), some, out.data() + first * width);
  }
  return take_plain(stored, out.subspan(whole * width));
}

}  // namespace

bool unpack_lz4(Bytes packed, Room out) {
  if (packed.size() > INT_MAX || out.size() > INT_MAX) return false;
  return LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()),
                             reinterpret_cast<char*>(out.data()), static_cast<int>(packed.size()),
                             static_cast<int>(out.size())) == static_cast<int>(out.size());
}

std::optional<std::size_t> claimed_bitshuffle(Bytes stored, Settings settings) {
  const bool is_packed = settings.size() > 4 && settings[4] > 0;
  return is_packed ? take_big<std::uint64_t>(stored) : std::optional<std::size_t>(stored.size());
}

std::optional<std::size_t> bitunshuffled(Bytes stored, Settings settings, Room out) {
  // version (two numbers), bytes of an element, elements of a block or 0, packing
  const auto setting = [&](std::size_t k) { return k < settings.size() ? settings[k] : 0; };
  const std::size_t width = setting(2);
  const Take take = take_for(setting(4));
  if (!join_for(width) || !take) return std::nullopt;
  constexpr std::size_t usual_bytes = 8192, fewest = 128;
  std::size_t all = stored.size();
  std::size_t block = setting(3) > 0 ? setting(3) : std::max(usual_bytes / width, fewest);
  if (setting(4) > 0) {  // then the lengths stand before the first block
    const auto bytes = take_big<std::uint64_t>(stored);
    const auto block_bytes = take_big<std::uint32_t>(stored);
    if (!block_bytes) return std::nullopt;
    all = *bytes, block = *block_bytes / width;
  }
  if (all > out.size() || all % width != 0 || block == 0 || block % together != 0) return std::nullopt;
  if (!join_blocks(stored, take, width, block, out.first(all))) return std::nullopt;
  return all;
}

}  // namespace tandem::io
