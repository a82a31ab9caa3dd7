#include "packing.hpp"

#include <blosc.h>
#include <hdf5.h>
#include <zstd.h>

#include <cstdlib>
#include <memory>

#include "../core/error.hpp"

namespace tandem::io {

namespace {

constexpr int zstd_id = 32015, blosc_id = 32001;  // as registered with the HDF Group
constexpr int zstd_level = 1, blosc_level = 5;
constexpr std::size_t most_bytes = std::size_t{1} << 32;  // of a chunk: HDF5 counts them in 32 bits

/// All first bytes of the numbers, then all second ones, ..., as the filter H5Z_FILTER_SHUFFLE orders them.
std::vector<std::byte> shuffled(std::span<const std::byte> chunk, std::size_t number_bytes) {
  std::vector<std::byte> out(chunk.size());
  const std::size_t count = chunk.size() / number_bytes;
  for (std::size_t k = 0; k < number_bytes; ++k)
    for (std::size_t i = 0; i < count; ++i) out[k * count + i] = chunk[i * number_bytes + k];
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

std::vector<std::byte> by_blosc(std::span<const std::byte> chunk, std::size_t number_bytes) {
  std::vector<std::byte> out(chunk.size() + BLOSC_MAX_OVERHEAD);
  const int bytes = blosc_compress_ctx(blosc_level, BLOSC_BITSHUFFLE, number_bytes, chunk.size(),
                                       chunk.data(), out.data(), out.size(), BLOSC_LZ4_COMPNAME, 0, 1);
  require<FileError>(bytes > 0, "blosc: ", chunk.size(), " bytes cannot be packed");
  out.resize(static_cast<std::size_t>(bytes));
  return out;
}

/// How large a chunk becomes; 0 if the bytes are damaged.
std::size_t bytes_unpacked(int id, std::span<const std::byte> from) {
  if (id == zstd_id) {
    const unsigned long long bytes = ZSTD_getFrameContentSize(from.data(), from.size());
    return bytes < most_bytes ? static_cast<std::size_t>(bytes) : 0;
  }
  std::size_t bytes = 0;
  return blosc_cbuffer_validate(from.data(), from.size(), &bytes) == 0 ? bytes : 0;
}

/// As H5Z_func_t: takes the buffer and gives another one; 0 if it cannot.
template <int id>
std::size_t unpack_filter(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t* room,
                          void** buffer) noexcept {
  if (!(flags & H5Z_FLAG_REVERSE)) return 0;  // what tandem packs does not come here
  const std::span from(static_cast<const std::byte*>(*buffer), bytes);
  const std::size_t size = bytes_unpacked(id, from);
  std::unique_ptr<void, void (*)(void*)> out(size > 0 ? std::malloc(size) : nullptr, std::free);
  if (!out) return 0;
  const std::span to(static_cast<std::byte*>(out.get()), size);
  if (!(id == zstd_id ? unpack_zstd(from, to) : unpack_blosc(from, to))) return 0;
  std::free(*buffer);
  *buffer = out.release();
  return *room = size;
}

template <int id>
void register_filter(const char* name) {
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, id, 1, 1, name, nullptr, nullptr, unpack_filter<id>};
  H5Zregister(&filter);
}

}  // namespace

std::vector<Hdf5Filter> filters_of(Compression compression, Index number_bytes, Index chunk_bytes) {
  const auto number = static_cast<unsigned>(number_bytes), chunk = static_cast<unsigned>(chunk_bytes);
  if (compression == Compression::zstd)
    return {{H5Z_FILTER_SHUFFLE, {number}}, {zstd_id, {static_cast<unsigned>(zstd_level)}}};
  constexpr unsigned revision = 2;  // of the filter
  return {{blosc_id,
           {revision, BLOSC_VERSION_FORMAT, number, chunk, static_cast<unsigned>(blosc_level),
            BLOSC_BITSHUFFLE, BLOSC_LZ4}}};
}

std::vector<std::byte> packed(Compression compression, Index number_bytes, std::span<const std::byte> chunk) {
  const auto size = static_cast<std::size_t>(number_bytes);
  return compression == Compression::zstd ? by_zstd(chunk, size) : by_blosc(chunk, size);
}

bool unpack_zstd(std::span<const std::byte> from, std::span<std::byte> to) {
  return ZSTD_decompress(to.data(), to.size(), from.data(), from.size()) == to.size();
}

bool unpack_blosc(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &bytes) != 0 || bytes != to.size()) return false;
  return blosc_decompress_ctx(from.data(), to.data(), to.size(), 1) == static_cast<int>(bytes);
}

void register_filters() {
  register_filter<zstd_id>("Zstandard");
  register_filter<blosc_id>("Blosc");
}

}  // namespace tandem::io
