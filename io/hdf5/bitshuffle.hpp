#pragma once

// Used only within io/.

#include "chunk_filters.hpp"

namespace tandem::io {

/// Undoes HDF5's filter 32008, which sorts bits by their place in the element, and then packs them by LZ4, by
/// zstd or not at all. Elements have 1, 2, 4 or 8 bytes. The format is that of K. Masui et al., A compression
/// scheme for radio data in high performance computing, Astronomy and Computing 12, 2015
/// (https://github.com/kiyo-masui/bitshuffle).
std::optional<std::size_t> bitunshuffled(Bytes stored, Settings settings, std::span<std::byte> out);

/// The number of bytes before that filter, as the stored bytes claim it.
std::optional<std::size_t> claimed_bitshuffle(Bytes stored, Settings settings);

/// Unpacks LZ4 into `out`. False if the bytes are damaged, or have another length.
bool unpack_lz4(Bytes packed, std::span<std::byte> out);

}  // namespace tandem::io
