#include "packed_chunks.hpp"

#include <blosc.h>
#include <hdf5.h>
#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tandem::test {

namespace {

void append_big(Packed& to, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    to.push_back(static_cast<unsigned char>(number >> shift));
}

void append(Packed& to, const Packed& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

Packed piece(const Packed& bytes, std::size_t first, std::size_t count) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(first),
          bytes.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

Packed deflated(const Packed& bytes) {
  libdeflate_compressor* packer = libdeflate_alloc_compressor(6);
  Packed out(libdeflate_zlib_compress_bound(packer, bytes.size()));
  out.resize(libdeflate_zlib_compress(packer, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(packer);
  return out;
}

Packed shuffled(const Packed& bytes, std::size_t width) {
  Packed out = bytes;
  const std::size_t count = bytes.size() / width;
  for (std::size_t i = 0; i < count * width; ++i) out[i % width * count + i / width] = bytes[i];
  return out;
}

Packed with_checksum(const Packed& bytes) {
  std::uint64_t first = 0, second = 0;
  const auto fold = [](std::uint64_t& sum) { sum = (sum & 0xffff) + (sum >> 16); };
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    first += static_cast<std::uint64_t>(bytes[i]) << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0);
    second += first;
    fold(first), fold(second);
  }
  fold(first), fold(second);
  Packed out = bytes;
  for (const std::uint64_t sum : {first, second})
    for (int shift : {0, 8}) out.push_back(static_cast<unsigned char>(sum >> shift));
  return out;
}

Packed lz4(const Packed& bytes) {
  Packed out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
  out.resize(static_cast<std::size_t>(
      LZ4_compress_default(reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(out.data()),
                           static_cast<int>(bytes.size()), static_cast<int>(out.size()))));
  return out;
}

Packed zstd(const Packed& bytes) {
  Packed out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

Packed lz4_blocks(const Packed& bytes, std::size_t block) {
  Packed out;
  append_big(out, bytes.size(), 8);
  append_big(out, block, 4);
  for (std::size_t first = 0; first < bytes.size(); first += block) {
    const Packed plain = piece(bytes, first, std::min(block, bytes.size() - first)), small = lz4(plain);
    const Packed& shorter = small.size() < plain.size() ? small : plain;
    append_big(out, shorter.size(), 4);
    append(out, shorter);
  }
  return out;
}

/// Bit by bit: bit k of byte b of element e is bit e % 8 of byte e / 8 of row 8 b + k.
Packed bits_sorted(const Packed& elements, std::size_t width) {
  const std::size_t count = elements.size() / width, row = count / 8;
  Packed out(elements.size(), 0);
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t bit = 0; bit < 8 * width; ++bit)
      if (elements[e * width + bit / 8] >> bit % 8 & 1)
        out[bit * row + e / 8] = static_cast<unsigned char>(out[bit * row + e / 8] | 1u << e % 8);
  return out;
}

Packed bitshuffled(const Packed& bytes, const std::vector<unsigned>& settings) {
  const std::size_t width = settings[2], packing = settings[4];
  const std::size_t block =
      (settings[3] > 0 ? settings[3] : std::max<std::size_t>(8192 / width, 128)) * width;
  const std::size_t whole = bytes.size() / (8 * width) * 8 * width;
  Packed out;
  if (packing > 0) append_big(out, bytes.size(), 8), append_big(out, block, 4);
  for (std::size_t first = 0; first < whole; first += block) {
    const Packed sorted = bits_sorted(piece(bytes, first, std::min(block, whole - first)), width);
    const Packed small = packing == 2 ? lz4(sorted) : packing == 3 ? zstd(sorted) : sorted;
    if (packing > 0) append_big(out, small.size(), 4);
    append(out, small);
  }
  append(out, piece(bytes, whole, bytes.size() - whole));
  return out;
}

Packed blosc(const Packed& bytes, const std::vector<unsigned>& settings) {
  static const char* const packers[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  Packed out(bytes.size() + BLOSC_MAX_OVERHEAD);
  const int made =
      blosc_compress_ctx(static_cast<int>(settings[4]), static_cast<int>(settings[5]), settings[2],
                         bytes.size(), bytes.data(), out.data(), out.size(), packers[settings[6]], 0, 1);
  if (made <= 0) throw std::runtime_error("blosc");
  out.resize(static_cast<std::size_t>(made));
  return out;
}

/// The bytes of a chunk: what lies beyond the end of the data set is zero.
Packed chunk_bytes(const ChunkedSet& set, const Packed& all, const std::vector<hsize_t>& corner,
                   std::size_t width) {
  std::size_t count = 1;
  for (const auto n : set.chunk) count *= n;
  Packed bytes(count * width, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t place = 0, rest = i, step = 1;
    bool inside = true;
    for (std::size_t axis = set.shape.size(); axis-- > 0; step *= set.shape[axis], rest /= set.chunk[axis]) {
      const std::size_t at = corner[axis] + rest % set.chunk[axis];
      inside = inside && at < set.shape[axis];
      place += at * step;
    }
    if (inside) std::memcpy(&bytes[i * width], &all[place * width], width);
  }
  return bytes;
}

/// The numbers as they are stored, by libhdf5.
Packed stored_numbers(const fs::path& path, const std::string& type, const Extents& shape,
                      const std::vector<double>& numbers) {
  Hdf5Maker(path).numbers("/d", type, shape, numbers);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
              set = H5Dopen2(file, "/d", H5P_DEFAULT);
  const hid_t stored = H5Dget_type(set);
  Packed bytes(numbers.size() * H5Tget_size(stored));
  H5Dread(set, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  H5Tclose(stored), H5Dclose(set), H5Fclose(file);
  return bytes;
}

}  // namespace

std::vector<Filter> known_filters(unsigned width) {
  std::vector<Filter> all{{1, {6}}, {2, {width}}, {3, {}}, {32004, {40}}, {32015, {3}}};
  for (const unsigned packing : {0u, 2u, 3u})
    for (const unsigned block : {0u, 16u}) all.push_back({32008, {0, 4, width, block, packing}});
  for (const unsigned shuffle : {0u, 1u, 2u})
    for (const unsigned packer : {0u, 1u, 4u, 5u})
      all.push_back({32001, {2, 2, width, 0, 5, shuffle, packer}});
  return all;
}

Packed packed(const Packed& bytes, const Filter& filter) {
  switch (filter.number) {
    case 1:
      return deflated(bytes);
    case 2:
      return shuffled(bytes, filter.settings[0]);
    case 3:
      return with_checksum(bytes);
    case 32001:
      return blosc(bytes, filter.settings);
    case 32004:
      return lz4_blocks(bytes, filter.settings[0]);
    case 32008:
      return bitshuffled(bytes, filter.settings);
    case 32015:
      return zstd(bytes);
    default:
      throw std::invalid_argument("filter");
  }
}

void write_chunked(const fs::path& path, const ChunkedSet& set, const std::vector<double>& numbers) {
  const Packed all = stored_numbers(path, set.type, set.shape, numbers);
  const std::size_t width = all.size() / numbers.size(), rank = set.shape.size();
  const hid_t plain = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT),
              first = H5Dopen2(plain, "/d", H5P_DEFAULT);
  const hid_t type = H5Dget_type(first), plan = H5Pcreate(H5P_DATASET_CREATE);
  const std::vector<hsize_t> n(set.shape.begin(), set.shape.end()), chunk(set.chunk.begin(), set.chunk.end());
  const std::vector<hsize_t> ends(rank, H5S_UNLIMITED);
  const hid_t space = H5Screate_simple(static_cast<int>(rank), n.data(), set.endless ? ends.data() : nullptr);
  H5Pset_chunk(plan, static_cast<int>(rank), chunk.data());
  for (const Filter& filter : set.filters)
    H5Pset_filter(plan, filter.number, H5Z_FLAG_OPTIONAL, filter.settings.size(), filter.settings.data());
  H5Dclose(first), H5Ldelete(plain, "/d", H5P_DEFAULT);
  const hid_t made = H5Dcreate2(plain, "/d", type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  if (made < 0) throw std::runtime_error("no data set of these filters");
  std::vector<hsize_t> at(rank, 0);
  for (std::size_t number = 0; at[0] < n[0]; ++number) {
    Packed bytes = chunk_bytes(set, all, at, width);
    const unsigned skipped = set.skipped(number);
    for (std::size_t k = 0; k < set.filters.size(); ++k)
      if (!(skipped >> k & 1)) bytes = packed(bytes, set.filters[k]);
    set.damage(bytes);
    H5Dwrite_chunk(made, H5P_DEFAULT, skipped, at.data(), bytes.size(), bytes.data());
    std::size_t axis = rank - 1;
    for (at[axis] += chunk[axis]; axis > 0 && at[axis] >= n[axis]; at[axis] += chunk[axis])
      at[axis] = 0, --axis;
  }
  H5Dclose(made), H5Sclose(space), H5Pclose(plan), H5Tclose(type), H5Fclose(plain);
}

}  // namespace tandem::test
