#include "chunk_filters.hpp"

#include <blosc.h>
#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "bitshuffle.hpp"

namespace tandem::io {

namespace {

using Made = std::optional<std::size_t>;
using Room = std::span<std::byte>;

Made copied(Bytes bytes, Room out) {
  if (bytes.size() > out.size()) return std::nullopt;
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return bytes.size();
}

/// A zlib stream.
Made inflated(Bytes stored, Settings, Room out) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  std::size_t made = 0;
  if (!decompressor || libdeflate_zlib_decompress(decompressor.get(), stored.data(), stored.size(),
                                                  out.data(), out.size(), &made) != LIBDEFLATE_SUCCESS)
    return std::nullopt;
  return made;
}

template <std::size_t width>
void join_bytes(const std::byte* in, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < width; ++b) out[i * width + b] = in[b * count + i];
}

/// The bytes of all elements stand by their place: first the first byte of each element. What is less than an
/// element stands at the end.
Made unshuffled(Bytes stored, Settings settings, Room out) {
  const std::size_t width = settings.empty() ? 1 : settings[0];
  if (width < 2 || stored.size() > out.size()) return copied(stored, out);
  const std::size_t count = stored.size() / width, whole = count * width;
  switch (width) {
    case 2:
      join_bytes<2>(stored.data(), count, out.data());
      break;
    case 4:
      join_bytes<4>(stored.data(), count, out.data());
      break;
    case 8:
      join_bytes<8>(stored.data(), count, out.data());
      break;
    default:
      for (std::size_t b = 0; b < width; ++b)
        for (std::size_t i = 0; i < count; ++i) out[i * width + b] = stored[b * count + i];
  }
  std::copy(stored.begin() + static_cast<std::ptrdiff_t>(whole), stored.end(),
            out.begin() + static_cast<std::ptrdiff_t>(whole));
  return stored.size();
}

/// Fletcher (1982), with sums of big-endian words of 16 bits, modulo 65535. A sum that is a multiple of it is
/// 65535, unless all words are 0.
std::uint32_t fletcher32(Bytes bytes) {
  constexpr std::size_t at_once = 1 << 14;  // words, so that 64 bits hold the sums
  std::uint64_t first = 0, second = 0;
  const auto folded = [](std::uint64_t sum) { return sum == 0 ? 0 : (sum - 1) % 65535 + 1; };
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t end = std::min(bytes.size(), i + 2 * at_once);
    for (; i < end; i += 2) {
      const auto low = i + 1 < bytes.size() ? static_cast<std::uint64_t>(bytes[i + 1]) : 0;
      first += static_cast<std::uint64_t>(bytes[i]) << 8 | low;
      second += first;
    }
    first = folded(first), second = folded(second);
  }
  return static_cast<std::uint32_t>(second << 16 | first);
}

/// The checksum follows the bytes, little endian. Files of HDF5 before 1.6.3 have the bytes of its two words
/// swapped.
Made checked(Bytes stored, Settings, Room out) {
  std::uint32_t sum = 0;
  if (stored.size() < sizeof sum) return std::nullopt;
  const Bytes bytes = stored.first(stored.size() - sizeof sum);
  for (std::size_t b = 0; b < sizeof sum; ++b)
    sum |= static_cast<std::uint32_t>(stored[bytes.size() + b]) << 8 * b;
  const std::uint32_t due = fletcher32(bytes), swapped = (due & 0xff00ff) << 8 | (due >> 8 & 0xff00ff);
  if (sum != due && sum != swapped) return std::nullopt;
  return copied(bytes, out);
}

Made unpacked_zstd(Bytes stored, Settings, Room out) {
  const std::size_t made = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(made)) return std::nullopt;
  return made;
}

/// The length of all and the length of a block; then each block after its packed length, as it is if packing
/// did not make it shorter.
/// https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md
Made unpacked_lz4(Bytes stored, Settings, Room out) {
  const auto all = take_big<std::uint64_t>(stored);
  const auto block = take_big<std::uint32_t>(stored);
  if (!block || *block == 0 || *all > out.size()) return std::nullopt;
  for (std::size_t made = 0; made < *all;) {
    const std::size_t due = std::min<std::size_t>(*block, *all - made);
    const auto packed = take_big<std::uint32_t>(stored);
    if (!packed || *packed > stored.size()) return std::nullopt;
    if (*packed == due)
      std::memcpy(out.data() + made, stored.data(), due);
    else if (!unpack_lz4(stored.first(*packed), out.subspan(made, due)))
      return std::nullopt;
    stored = stored.subspan(*packed);
    made += due;
  }
  return *all;
}

/// A chunk of Blosc 1 says itself how it was packed.
Made unpacked_blosc(Bytes stored, Settings, Room out) {
  std::size_t due = 0;
  if (blosc_cbuffer_validate(stored.data(), stored.size(), &due) < 0 || due > out.size()) return std::nullopt;
  constexpr int threads = 1;  // chunks are unpacked side by side
  if (blosc_decompress_ctx(stored.data(), out.data(), due, threads) != static_cast<int>(due))
    return std::nullopt;
  return due;
}

constexpr std::array<ChunkFilter, 7> filters{{{1, "deflate", inflated},
                                              {2, "shuffle", unshuffled},
                                              {3, "Fletcher-32", checked},
                                              {32001, "Blosc", unpacked_blosc},
                                              {32004, "LZ4", unpacked_lz4},
                                              {32008, "bitshuffle", bitunshuffled},
                                              {32015, "zstd", unpacked_zstd}}};

}  // namespace

const ChunkFilter* chunk_filter(int number) {
  const auto found = std::find_if(filters.begin(), filters.end(),
                                  [number](const ChunkFilter& filter) { return filter.number == number; });
  return found == filters.end() ? nullptr : &*found;
}

}  // namespace tandem::io
