#pragma once

// What HDF5 did to a chunk before it was stored, undone. Used only within io/.

#include <cstddef>
#include <optional>
#include <span>

namespace tandem::io {

using Bytes = std::span<const std::byte>;
using Settings = std::span<const unsigned>;  ///< the numbers that the data set gives to a filter

struct ChunkFilter {
  int number;  ///< in HDF5's registry of filters
  const char* name;
  /// How many bytes were there before the filter, by what stands in the stored ones: a claim. Null if libhdf5
  /// has the filter itself.
  std::optional<std::size_t> (*claimed)(Bytes stored, Settings settings);
  /// Writes what was there before the filter to `out`, and returns how many bytes that are. Empty if the
  /// bytes are damaged, or if `out` has no room for them. It reads nothing outside `stored`.
  std::optional<std::size_t> (*undo)(Bytes stored, Settings settings, std::span<std::byte> out);
};

/// Null if the filter is not known here.
const ChunkFilter* chunk_filter(int number);

/// Tells libhdf5 how the filters that it lacks are undone. So it needs no plugins for what it reads itself.
void register_filters();

/// Reads a big-endian number at the beginning of some bytes, and takes it away from them. Empty if they are
/// fewer.
template <class T>
std::optional<T> take_big(Bytes& bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T number = 0;
  for (const std::byte byte : bytes.first(sizeof(T)))
    number = static_cast<T>(number << 8 | static_cast<T>(byte));
  bytes = bytes.subspan(sizeof(T));
  return number;
}

}  // namespace tandem::io
