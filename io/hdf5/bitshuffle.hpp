#pragma once

// Used only within io/.

#include "chunk_filters.hpp"

namespace tandem::io {

/// Undoes HDF5's filter 32008: bits sorted by their place in the element, then packed by LZ4, by zstd or not
/// at all. Elements have 1, 2, 4 or 8 bytes. The format is that of K. Masui et al., A compression scheme for
/// radio data in high performance computing, Astronomy and Computing 12, 2015
/// (https://github.com/kiyo-masui/bitshuffle).
std::optional<std::size_t> bitunshuffled(Bytes stored, Settings settings, std::span<std::byte> out);

/// How many bytes there were before that filter, by what stands in the stored ones.
std::optional<std::size_t> claimed_bitshuffle(Bytes stored, Settings settings);

/// Fills `out` with what LZ4 packed. False if that is damaged, or has another length.
bool unpack_lz4(Bytes packed, std::span<std::byte> out);

}  // namespace tandem::io
