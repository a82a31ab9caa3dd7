#pragma once

// Undoes what HDF5 did to a chunk before it was stored. Used only within io/.

#include <cstddef>
#include <optional>
#include <span>

namespace tandem::io {

using Bytes = std::span<const std::byte>;
using Settings = std::span<const unsigned>;  ///< the numbers that a data set gives to a filter

struct ChunkFilter {
  int number;  ///< number in HDF5's registry of filters
  const char* name;
  /// The number of bytes before the filter, as the stored bytes claim it. Null if libhdf5 has the filter
  /// itself.
  std::optional<std::size_t> (*claimed)(Bytes stored, Settings settings);
  /// Writes the bytes before the filter to `out`, and returns their number. Empty if the stored bytes are
  /// damaged, or if `out` is too small. It reads nothing outside `stored`.
  std::optional<std::size_t> (*undo)(Bytes stored, Settings settings, std::span<std::byte> out);
};

/// The filter with this number; null if it is not known here.
const ChunkFilter* chunk_filter(int number);

/// Gives libhdf5 the filters that it lacks, so that it needs no plugins for what it reads itself.
void register_filters();

/// Reads a big-endian number at the beginning of some bytes, and takes it away from them. Empty if there are
/// too few bytes.
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
