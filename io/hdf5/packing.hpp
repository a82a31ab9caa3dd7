#pragma once

// Compression of HDF5 chunks.

#include <cstddef>
#include <span>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::io {

/// How the slices of a volume are packed: by Zstandard (HDF5 filter 32015, after a shuffle of bytes), or by
/// Blosc (filter 32001, LZ4 after a shuffle of bits). Zstandard packs better, and Blosc is faster.
enum class Compression { none, zstd, blosc };

/// A filter of an HDF5 data set, with its settings.
struct Hdf5Filter {
  int id;
  std::vector<unsigned> settings;
};

/// The filters that make a chunk of `chunk_bytes` of numbers of `number_bytes` each, in the order in which
/// they are applied. zstd: HDF5's own shuffle of bytes, then Zstandard (32015), level 1. blosc: Blosc (32001)
/// with LZ4 and a shuffle of bits, level 5. Measured on noisy slices of 768 x 768 voxels in float32, float16
/// and uint16: zstd packed 1.27, 1.30 and 1.15 to 1, with 0.8, 0.5 and 0.9 GB/s a core; blosc
/// packed 1.21, 1.25 and 1.13 to 1, with 1.3 to 1.4 GB/s. Higher levels were slower and packed less than 2 %
/// better. Without a shuffle, zstd packed 1.11, 1.17 and 1.08 to 1.
std::vector<Hdf5Filter> filters_of(Compression compression, Index number_bytes, Index chunk_bytes);

/// A chunk as these filters make it. Several threads may call this at once.
std::vector<std::byte> packed(Compression compression, Index number_bytes, std::span<const std::byte> chunk);

/// The `bytes` bytes of a chunk that was packed like that; empty if it is damaged.
std::vector<std::byte> unpacked(Compression compression, Index number_bytes, std::span<const std::byte> chunk,
                                Index bytes);

/// The same packing as a codec of Zarr 3, which is Blosc in both: its chunk takes the shuffle of bytes too.
struct BloscCodec {
  const char* packer;
  int level;
  bool shuffles_bits;  ///< else bytes
};
BloscCodec blosc_codec(Compression compression);
std::vector<std::byte> packed_by(const BloscCodec& codec, Index number_bytes,
                                 std::span<const std::byte> chunk);

/// Unpacks what Zstandard, Blosc or gzip packed, and fills `to`. False if it is damaged.
bool unpack_zstd(std::span<const std::byte> from, std::span<std::byte> to);
bool unpack_blosc(std::span<const std::byte> from, std::span<std::byte> to);
bool unpack_gzip(std::span<const std::byte> from, std::span<std::byte> to);

}  // namespace tandem::io
