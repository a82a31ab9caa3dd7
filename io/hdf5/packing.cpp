#include "packing.hpp"

#include <blosc.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <zstd.h>

#include <memory>

#include "../../core/error.hpp"

namespace tandem::io {

namespace {

constexpr int zstd_id = 32015, blosc_id = 32001;  // as registered with the HDF Group
constexpr int zstd_level = 1, blosc_level = 5;

/// The first bytes of all numbers, then the second bytes, ..., as the filter H5Z_FILTER_SHUFFLE orders them.
std::vector<std::byte> shuffled(std::span<const std::byte> chunk, std::size_t number_bytes) {
  std::vector<std::byte> out(chunk.size());
  const std::size_t count = chunk.size() / number_bytes;
  for (std::size_t k = 0; k < number_bytes; ++k)
    for (std::size_t i = 0; i < count; ++i) out[k * count + i] = chunk[i * number_bytes + k];
  return out;
}

std::vector<std::byte> unshuffled(std::span<const std::byte> chunk, std::size_t number_bytes) {
  std::vector<std::byte> out(chunk.size());
  const std::size_t count = chunk.size() / number_bytes;
  for (std::size_t k = 0; k < number_bytes; ++k)
    for (std::size_t i = 0; i < count; ++i) out[i * number_bytes + k] = chunk[k * count + i];
  return out;
}

std::vector<std::byte> by_zstd(std::span<const std::byte> chunk, std::size_t number_bytes) {
  const std::vector<std::byte> in = shuffled(chunk, number_bytes);
  std::vector<std::byte> out(ZSTD_compressBound(in.size()));
  const std::size_t bytes = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), zstd_level);
  require<FileError>(!ZSTD_isError(bytes), "zstd: ", ZSTD_getErrorName(bytes));
  out.resize(bytes);
  return out;
}

}  // namespace

std::vector<Hdf5Filter> filters_of(Compression compression, Index number_bytes, Index chunk_bytes) {
  const auto number = static_cast<unsigned>(number_bytes), chunk = static_cast<unsigned>(chunk_bytes);
  if (compression == Compression::zstd)
    return {{H5Z_FILTER_SHUFFLE, {number}}, {zstd_id, {static_cast<unsigned>(zstd_level)}}};
  constexpr unsigned revision = 2;  // revision of the filter
  return {{blosc_id,
           {revision, BLOSC_VERSION_FORMAT, number, chunk, static_cast<unsigned>(blosc_level),
            BLOSC_BITSHUFFLE, BLOSC_LZ4}}};
}

std::vector<std::byte> packed(Compression compression, Index number_bytes, std::span<const std::byte> chunk) {
  return compression == Compression::zstd ? by_zstd(chunk, number_bytes)
                                          : packed_by(blosc_codec(compression), number_bytes, chunk);
}

BloscCodec blosc_codec(Compression compression) {
  if (compression == Compression::zstd) return {BLOSC_ZSTD_COMPNAME, zstd_level, false};
  return {BLOSC_LZ4_COMPNAME, blosc_level, true};
}

std::vector<std::byte> packed_by(const BloscCodec& codec, Index number_bytes,
                                 std::span<const std::byte> chunk) {
  std::vector<std::byte> out(chunk.size() + BLOSC_MAX_OVERHEAD);
  const int shuffle = codec.shuffles_bits ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
  const int bytes = blosc_compress_ctx(codec.level, shuffle, number_bytes, chunk.size(), chunk.data(),
                                       out.data(), out.size(), codec.packer, 0, 1);
  require<FileError>(bytes > 0, "blosc: ", chunk.size(), " bytes cannot be packed");
  out.resize(bytes);
  return out;
}

std::vector<std::byte> unpacked(Compression compression, Index number_bytes, std::span<const std::byte> chunk,
                                Index bytes) {
  std::vector<std::byte> out(bytes);
  const bool zstd = compression == Compression::zstd;
  if (!(zstd ? unpack_zstd(chunk, out) : unpack_blosc(chunk, out))) return {};
  return zstd ? unshuffled(out, number_bytes) : out;
}

bool unpack_zstd(std::span<const std::byte> from, std::span<std::byte> to) {
  return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
}

bool unpack_blosc(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &bytes) != 0 || bytes != to.size()) return false;
  return blosc_decompress_ctx(from.data(), to.data(), to.size(), 1) == static_cast<int>(bytes);
}

bool unpack_gzip(std::span<const std::byte> from, std::span<std::byte> to) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> tool(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  std::size_t made = 0;
  return tool &&
         libdeflate_gzip_decompress(tool.get(), from.data(), from.size(), to.data(), to.size(), &made) ==
             LIBDEFLATE_SUCCESS &&
         made == to.size();
}

}  // namespace tandem::io
