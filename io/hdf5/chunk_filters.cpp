#include "chunk_filters.hpp"

#include <blosc.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "bitshuffle.hpp"
#include "packing.hpp"

namespace tandem::io {

namespace {

using Made = std::optional<std::size_t>;
using Room = std::span<std::byte>;

Made copied(Bytes bytes, Room out) {
  if (bytes.size() > out.size()) return std::nullopt;
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return bytes.size();
}

/// Unpacks a zlib stream.
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

/// Undoes the shuffle of bytes, which puts the first bytes of all elements first, then the second bytes, and
/// so on. Bytes that do not fill an element are at the end.
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
  std::copy(stored.begin() + whole, stored.end(), out.begin() + whole);
  return stored.size();
}

/// The checksum of Fletcher (1982), with sums of big-endian words of 16 bits, modulo 65535. A sum that is a
/// multiple of 65535 is written as 65535, unless all words are 0.
std::uint32_t fletcher32(Bytes bytes) {
  constexpr std::size_t at_once = 1 << 14;  // words; 64 bits hold their sums
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

/// Checks the checksum, which follows the bytes, little endian. In files of HDF5 before 1.6.3 the bytes of
/// its two words are swapped.
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

/// Unpacks LZ4. First stand the length of all and the length of a block. Then comes each block after its
/// packed length. A block that packing did not make shorter is stored as it was.
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

Made claimed_zstd(Bytes stored, Settings) {
  const unsigned long long bytes = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

Made claimed_lz4(Bytes stored, Settings) { return take_big<std::uint64_t>(stored); }

Made claimed_blosc(Bytes stored, Settings) {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(stored.data(), stored.size(), &bytes) < 0) return std::nullopt;
  return bytes;
}

/// Unpacks Blosc 1, whose chunks say themselves how they were packed.
Made unpacked_blosc(Bytes stored, Settings settings, Room out) {
  const Made due = claimed_blosc(stored, settings);
  if (!due || *due > out.size() || !unpack_blosc(stored, out.first(*due))) return std::nullopt;
  return due;
}

constexpr std::array<ChunkFilter, 7> filters{{{H5Z_FILTER_DEFLATE, "deflate", nullptr, inflated},
                                              {H5Z_FILTER_SHUFFLE, "shuffle", nullptr, unshuffled},
                                              {H5Z_FILTER_FLETCHER32, "Fletcher-32", nullptr, checked},
                                              {32001, "Blosc", claimed_blosc, unpacked_blosc},
                                              {32004, "LZ4", claimed_lz4, unpacked_lz4},
                                              {32008, "bitshuffle", claimed_bitshuffle, bitunshuffled},
                                              {32015, "Zstandard", claimed_zstd, unpacked_zstd}}};

/// A filter for libhdf5 (H5Z_func_t), which replaces the buffer; 0 if it cannot. It only unpacks.
template <int number>
std::size_t undo_for_library(unsigned flags, std::size_t count, const unsigned* values, std::size_t bytes,
                             std::size_t* room, void** buffer) noexcept {
  constexpr std::size_t most = std::size_t{1} << 32;  // libhdf5 counts the bytes of a chunk in 32 bits
  if (!(flags & H5Z_FLAG_REVERSE)) return 0;
  const ChunkFilter& filter = *chunk_filter(number);
  const Bytes stored(static_cast<const std::byte*>(*buffer), bytes);
  const Settings settings(values, count);
  const std::size_t claimed = filter.claimed(stored, settings).value_or(0);
  std::unique_ptr<void, herr_t (*)(void*)> out(
      0 < claimed && claimed < most ? H5allocate_memory(claimed, false) : nullptr, H5free_memory);
  if (!out || filter.undo(stored, settings, {static_cast<std::byte*>(out.get()), claimed}) != claimed)
    return 0;
  H5free_memory(std::exchange(*buffer, out.release()));
  return *room = claimed;
}

template <int number>
void register_filter() {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS,           number,  1,       1,
                            chunk_filter(number)->name, nullptr, nullptr, undo_for_library<number>};
  H5Zregister(&filter);
}

}  // namespace

const ChunkFilter* chunk_filter(int number) {
  const auto found = std::find_if(filters.begin(), filters.end(),
                                  [number](const ChunkFilter& filter) { return filter.number == number; });
  return found == filters.end() ? nullptr : &*found;
}

void register_filters() {
  register_filter<32001>();
  register_filter<32004>();
  register_filter<32008>();
  register_filter<32015>();
}

}  // namespace tandem::io
