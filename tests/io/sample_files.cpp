#include "sample_files.hpp"

#include <hdf5.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace tandem::test {

namespace {

/// Made once for each byte order, and never closed.
hid_t half_type(bool big) {
  const auto made = [](hid_t base) {
    const hid_t type = H5Tcopy(base);
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
    return type;
  };
  static const hid_t little = made(H5T_IEEE_F32LE), swapped = made(H5T_IEEE_F32BE);
  return big ? swapped : little;
}

hid_t hdf5_type(const std::string& name) {
  const bool big = name.starts_with('>');
  const std::string type = name.substr(big ? 1 : 0);
  if (type == "u8") return big ? H5T_STD_U8BE : H5T_STD_U8LE;
  if (type == "u16") return big ? H5T_STD_U16BE : H5T_STD_U16LE;
  if (type == "u32") return big ? H5T_STD_U32BE : H5T_STD_U32LE;
  if (type == "u64") return big ? H5T_STD_U64BE : H5T_STD_U64LE;
  if (type == "i8") return big ? H5T_STD_I8BE : H5T_STD_I8LE;
  if (type == "i16") return big ? H5T_STD_I16BE : H5T_STD_I16LE;
  if (type == "i32") return big ? H5T_STD_I32BE : H5T_STD_I32LE;
  if (type == "i64") return big ? H5T_STD_I64BE : H5T_STD_I64LE;
  if (type == "f32") return big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
  if (type == "f64") return big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  if (type == "f16") return half_type(big);
  throw std::invalid_argument(name);
}

hid_t text_type(const std::string& value, bool variable) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, variable ? H5T_VARIABLE : value.size() + 1);
  return type;
}

hid_t links() {
  const hid_t plan = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(plan, 1);
  return plan;
}

std::vector<unsigned char> packed_pixels(const std::vector<double>& pixels, int bits, int format) {
  std::vector<unsigned char> bytes;
  const auto put = [&](auto value) {
    unsigned char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  };
  for (double p : pixels) {
    if (format == SAMPLEFORMAT_IEEEFP && bits == 32) put(static_cast<float>(p));
    if (format == SAMPLEFORMAT_IEEEFP && bits == 64) put(p);
    if (format == SAMPLEFORMAT_IEEEFP) continue;
    if (bits == 8) put(static_cast<std::uint8_t>(static_cast<std::int64_t>(p)));
    if (bits == 16) put(static_cast<std::uint16_t>(static_cast<std::int64_t>(p)));
    if (bits == 32) put(static_cast<std::uint32_t>(static_cast<std::int64_t>(p)));
    if (bits == 64) put(static_cast<std::uint64_t>(p));
  }
  return bytes;
}

void write_tiles(TIFF* tiff, std::vector<unsigned char>& bytes, const TiffOptions& options) {
  const std::size_t pixel = static_cast<std::size_t>(options.bits) / 8, side = options.tile;
  std::vector<unsigned char> tile(side * side * pixel);
  for (unsigned y = 0; y < std::min(options.height, options.lines_written); y += options.tile)
    for (unsigned x = 0; x < options.width; x += options.tile) {
      for (unsigned line = 0; line < std::min(options.tile, options.height - y); ++line)
        std::memcpy(&tile[line * side * pixel], &bytes[((y + line) * options.width + x) * pixel],
                    std::min(options.tile, options.width - x) * pixel);
      TIFFWriteTile(tiff, tile.data(), x, y, 0, 0);
    }
}

}  // namespace

Hdf5Maker::Hdf5Maker(const fs::path& path, bool add)
    : file_(add ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                : H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
  if (file_ < 0) throw std::runtime_error(path.string());
}

Hdf5Maker::~Hdf5Maker() { H5Fclose(file_); }

Hdf5Maker& Hdf5Maker::numbers(const std::string& path, const std::string& type,
                              const std::vector<unsigned long long>& extents,
                              const std::vector<double>& values, const std::vector<unsigned long long>& chunk,
                              bool packed) {
  const std::vector<hsize_t> n(extents.begin(), extents.end()), pieces(chunk.begin(), chunk.end());
  const hid_t space =
      n.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(n.size()), n.data(), nullptr);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), link = links();
  if (!pieces.empty()) H5Pset_chunk(plan, static_cast<int>(pieces.size()), pieces.data());
  if (packed) H5Pset_deflate(plan, 4);
  const hid_t set = H5Dcreate2(file_, path.c_str(), hdf5_type(type), space, link, plan, H5P_DEFAULT);
  if (set < 0) throw std::runtime_error(path);
  if (!values.empty()) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set), H5Pclose(plan), H5Pclose(link), H5Sclose(space);
  return *this;
}

Hdf5Maker& Hdf5Maker::text(const std::string& path, const std::string& value, bool variable) {
  const hid_t space = H5Screate(H5S_SCALAR), type = text_type(value, variable), link = links();
  const hid_t set = H5Dcreate2(file_, path.c_str(), type, space, link, H5P_DEFAULT, H5P_DEFAULT);
  const char* start = value.c_str();
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, variable ? static_cast<const void*>(&start) : start);
  H5Dclose(set), H5Pclose(link), H5Tclose(type), H5Sclose(space);
  return *this;
}

Hdf5Maker& Hdf5Maker::texts(const std::string& path, const std::vector<std::string>& values) {
  std::size_t length = 1;
  for (const std::string& value : values) length = std::max(length, value.size());
  std::string all;
  for (const std::string& value : values) all += value + std::string(length - value.size(), '\0');
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr), type = H5Tcopy(H5T_C_S1), link = links();
  H5Tset_size(type, length);
  const hid_t set = H5Dcreate2(file_, path.c_str(), type, space, link, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  H5Dclose(set), H5Pclose(link), H5Tclose(type), H5Sclose(space);
  return *this;
}

Hdf5Maker& Hdf5Maker::flag(const std::string& path, bool value) {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE), space = H5Screate(H5S_SCALAR), link = links();
  const signed char no = 0, yes = 1, kept = value ? yes : no;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  const hid_t set = H5Dcreate2(file_, path.c_str(), type, space, link, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &kept);
  H5Dclose(set);
  H5Pclose(link);
  H5Sclose(space);
  H5Tclose(type);
  return *this;
}

Hdf5Maker& Hdf5Maker::attribute(const std::string& path, const std::string& name, const std::string& value,
                                bool variable) {
  const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR), type = text_type(value, variable);
  const hid_t made = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* start = value.c_str();
  H5Awrite(made, type, variable ? static_cast<const void*>(&start) : start);
  H5Aclose(made), H5Tclose(type), H5Sclose(space), H5Oclose(object);
  return *this;
}

Hdf5Maker& Hdf5Maker::texts_attribute(const std::string& path, const std::string& name,
                                      const std::vector<std::string>& values) {
  const hsize_t count = values.size();
  const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT), type = text_type("", true),
              space = H5Screate_simple(1, &count, nullptr);
  const hid_t made = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<const char*> starts;
  for (const std::string& value : values) starts.push_back(value.c_str());
  H5Awrite(made, type, starts.data());
  H5Aclose(made), H5Tclose(type), H5Sclose(space), H5Oclose(object);
  return *this;
}

Hdf5Maker& Hdf5Maker::number_attribute(const std::string& path, const std::string& name, double value) {
  const hid_t object = H5Oopen(file_, path.c_str(), H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
  const hid_t attribute =
      H5Acreate2(object, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
  H5Aclose(attribute), H5Sclose(space), H5Oclose(object);
  return *this;
}

Hdf5Maker& Hdf5Maker::remove(const std::string& path) {
  H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
  return *this;
}

Hdf5Maker& Hdf5Maker::group(const std::string& path) {
  const hid_t link = links();
  H5Gclose(H5Gcreate2(file_, path.c_str(), link, H5P_DEFAULT, H5P_DEFAULT));
  H5Pclose(link);
  return *this;
}

Hdf5Maker& Hdf5Maker::external_link(const std::string& path, const std::string& file,
                                    const std::string& target) {
  const hid_t link = links();
  H5Lcreate_external(file.c_str(), target.c_str(), file_, path.c_str(), link, H5P_DEFAULT);
  H5Pclose(link);
  return *this;
}

Hdf5Maker& Hdf5Maker::soft_link(const std::string& path, const std::string& target) {
  const hid_t link = links();
  H5Lcreate_soft(target.c_str(), file_, path.c_str(), link, H5P_DEFAULT);
  H5Pclose(link);
  return *this;
}

Hdf5Maker& Hdf5Maker::hard_link(const std::string& path, const std::string& target) {
  const hid_t link = links();
  H5Lcreate_hard(file_, target.c_str(), file_, path.c_str(), link, H5P_DEFAULT);
  H5Pclose(link);
  return *this;
}

Hdf5Maker& Hdf5Maker::begun(const std::string& path, const std::string& type,
                            const std::vector<unsigned long long>& extents,
                            const std::vector<double>& values) {
  std::vector<unsigned long long> chunk = extents;
  chunk[0] = 1;
  numbers(path, type, extents, {}, chunk);
  std::vector<hsize_t> start(extents.size(), 0), count(extents.begin(), extents.end());
  hsize_t each = 1;
  for (std::size_t i = 1; i < count.size(); ++i) each *= count[i];
  count[0] = values.size() / each;
  const hid_t set = H5Dopen2(file_, path.c_str(), H5P_DEFAULT), space = H5Dget_space(set);
  const hid_t memory = H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values.data());
  H5Sclose(memory), H5Sclose(space), H5Dclose(set);
  return *this;
}

Hdf5Maker& Hdf5Maker::stitched(const std::string& path, const std::string& type,
                               const std::vector<unsigned long long>& extents, unsigned long long each,
                               const std::vector<Source>& sources) {
  const std::vector<hsize_t> n(extents.begin(), extents.end());
  std::vector<hsize_t> start(n.size(), 0), part = n;
  part[0] = each;
  const int rank = static_cast<int>(n.size());
  const hid_t whole = H5Screate_simple(rank, n.data(), nullptr),
              source = H5Screate_simple(rank, part.data(), nullptr);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), link = links();
  const std::vector<hsize_t> corner(n.size(), 0);
  H5Sselect_hyperslab(source, H5S_SELECT_SET, corner.data(), nullptr, part.data(), nullptr);
  for (const Source& from : sources) {
    H5Sselect_hyperslab(whole, H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr);
    H5Pset_virtual(plan, whole, from.file.c_str(), from.set.c_str(), source);
    start[0] += each;
  }
  H5Sselect_all(whole);
  H5Dclose(H5Dcreate2(file_, path.c_str(), hdf5_type(type), whole, link, plan, H5P_DEFAULT));
  H5Pclose(plan), H5Pclose(link), H5Sclose(whole), H5Sclose(source);
  return *this;
}

Hdf5Maker& Hdf5Maker::endless(const std::string& path, const std::string& type,
                              const std::vector<unsigned long long>& extents, const Source& blocks) {
  std::vector<hsize_t> n(extents.begin(), extents.end()), most = n, start(n.size(), 0), part = n,
                                                          stride(n.size(), 1), count(n.size(), 1);
  most[0] = H5S_UNLIMITED, part[0] = 1, count[0] = H5S_UNLIMITED;
  const int rank = static_cast<int>(n.size());
  const hid_t whole = H5Screate_simple(rank, n.data(), most.data()),
              source = H5Screate_simple(rank, part.data(), nullptr);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), link = links();
  H5Sselect_hyperslab(whole, H5S_SELECT_SET, start.data(), stride.data(), count.data(), part.data());
  H5Pset_virtual(plan, whole, blocks.file.c_str(), blocks.set.c_str(), source);
  H5Dclose(H5Dcreate2(file_, path.c_str(), hdf5_type(type), whole, link, plan, H5P_DEFAULT));
  H5Pclose(plan), H5Pclose(link), H5Sclose(whole), H5Sclose(source);
  return *this;
}

Hdf5Maker& Hdf5Maker::raw(const std::string& path, const std::string& type,
                          const std::vector<unsigned long long>& extents, const fs::path& file) {
  return raw_parts(path, type, extents, {{file, 0, H5F_UNLIMITED}});
}

Hdf5Maker& Hdf5Maker::raw_parts(const std::string& path, const std::string& type,
                                const std::vector<unsigned long long>& extents,
                                const std::vector<RawPart>& parts) {
  const std::vector<hsize_t> n(extents.begin(), extents.end());
  const hid_t space = H5Screate_simple(static_cast<int>(n.size()), n.data(), nullptr);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE), link = links();
  for (const RawPart& part : parts)
    H5Pset_external(plan, part.file.c_str(), static_cast<off_t>(part.offset), part.bytes);
  H5Dclose(H5Dcreate2(file_, path.c_str(), hdf5_type(type), space, link, plan, H5P_DEFAULT));
  H5Pclose(plan), H5Pclose(link), H5Sclose(space);
  return *this;
}

double pixel(std::size_t view, std::size_t row, std::size_t bin) {
  return static_cast<double>(24 * view + 6 * row + bin);
}

std::vector<double> frames(std::size_t first, std::size_t count) {
  std::vector<double> values;
  for (std::size_t v = first; v < first + count; ++v)
    for (std::size_t y = 0; y < rows; ++y)
      for (std::size_t x = 0; x < bins; ++x) values.push_back(pixel(v, y, x));
  return values;
}

void write_data_exchange(const fs::path& path, const std::string& type, bool chunked) {
  using Extents = std::vector<unsigned long long>;
  const Extents chunk = chunked ? Extents{1, rows, bins} : Extents{};
  Hdf5Maker file(path);
  file.numbers("/exchange/data", type, {views, rows, bins}, frames(0, views), chunk, chunked);
  file.attribute("/exchange/data", "axes", "theta:y:x", true);
  file.numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135})
      .attribute("/exchange/theta", "units", "degrees", true);
  file.numbers("/exchange/data_white", type, {2, rows, bins}, frames(0, 2));
  file.numbers("/exchange/data_dark", type, {1, rows, bins}, frames(1, 1));
}

void write_nxtomo(const fs::path& path, const std::string& entry) {
  const std::string detector = entry + "/instrument/detector";
  std::vector<double> data;
  for (std::size_t source : {8u, 9u, 0u, 1u, 9u, 7u, 2u, 3u, 6u}) {
    const std::vector<double> frame = frames(source, 1);
    data.insert(data.end(), frame.begin(), frame.end());
  }
  Hdf5Maker file(path);
  file.text(entry + "/definition", "NXtomo");
  file.numbers(detector + "/data", "u16", {9, rows, bins}, data);
  file.numbers(detector + "/image_key", "i32", {9}, {2, 1, 0, 0, 1, 0, 0, 0, 3});
  file.numbers(detector + "/image_key_control", "i32", {9}, {2, 1, 0, 0, 1, -1, 0, 0, 3});
  file.numbers(detector + "/x_pixel_size", "f64", {}, {2e-6});
  file.numbers(detector + "/y_pixel_size", "f64", {}, {4e-6});
  file.numbers(detector + "/x_rotation_axis_pixel_position", "f64", {}, {-0.75});
  file.numbers(entry + "/sample/rotation_angle", "f64", {9}, {-1, -1, 0, 45, -1, 0, 90, 135, -1});
}

void write_tiff_pages(const fs::path& path, const std::vector<std::vector<double>>& pages,
                      const TiffOptions& options) {
  TIFF* tiff = TIFFOpen(path.c_str(), options.mode.c_str());
  if (!tiff) throw std::runtime_error(path.string());
  for (const std::vector<double>& page : pages) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, options.width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, options.height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, options.bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, options.format);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, options.samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, options.photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, options.compression);
    if (options.orientation != 1) TIFFSetField(tiff, TIFFTAG_ORIENTATION, options.orientation);
    if (!options.description.empty())
      TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, options.description.c_str());
    std::vector<unsigned char> bytes = packed_pixels(page, options.bits, options.format);
    if (options.tile > 0) {
      TIFFSetField(tiff, TIFFTAG_TILEWIDTH, options.tile);
      TIFFSetField(tiff, TIFFTAG_TILELENGTH, options.tile);
      write_tiles(tiff, bytes, options);
    } else {
      TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, options.rows_per_strip);
      for (unsigned y = 0; y < std::min(options.height, options.lines_written); ++y)
        TIFFWriteScanline(tiff, &bytes[y * bytes.size() / options.height], y, 0);
    }
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
}

namespace {

template <class T>
std::string number_bytes(double value, bool high_byte_first) {
  const T number = static_cast<T>(value);
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  if (high_byte_first) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string edf_number(double value, const EdfOptions& options) {
  const std::string& type = options.type;
  const bool high = options.high_byte_first;
  if (type == "UnsignedByte") return number_bytes<std::uint8_t>(value, high);
  if (type == "SignedByte") return number_bytes<std::int8_t>(value, high);
  if (type == "SignedShort") return number_bytes<std::int16_t>(value, high);
  if (type == "UnsignedInteger" || type == "UnsignedLong") return number_bytes<std::uint32_t>(value, high);
  if (type == "SignedInteger" || type == "SignedLong") return number_bytes<std::int32_t>(value, high);
  if (type == "Unsigned64") return number_bytes<std::uint64_t>(value, high);
  if (type == "Signed64") return number_bytes<std::int64_t>(value, high);
  if (type == "FloatValue") return number_bytes<float>(value, high);
  if (type == "DoubleValue") return number_bytes<double>(value, high);
  return number_bytes<std::uint16_t>(value, high);
}

}  // namespace

void write_edf(const fs::path& path, const std::vector<std::vector<double>>& images,
               const EdfOptions& options) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t k = 0; k < images.size(); ++k) {
    std::string pixels;
    for (const double value : images[k]) pixels += edf_number(value, options);
    std::string header = "{\nHeaderID = EH:" + std::to_string(k + 1) +
                         ":000000:000000 ;\nImage = " + std::to_string(k + 1) +
                         " ;\nByteOrder = " + (options.high_byte_first ? "HighByteFirst" : "LowByteFirst") +
                         " ;\nDataType = " + options.type + " ;\nDim_1 = " + std::to_string(options.width) +
                         " ;\nDim_2 = " + std::to_string(options.height) +
                         " ;\nSize = " + std::to_string(pixels.size()) + " ;\n" + options.more;
    const std::size_t least = std::max(header.size() + 2, options.header_bytes);
    header.resize((least + 511) / 512 * 512 - 2, ' ');
    file << header << "}\n" << pixels;
  }
}

void write_lines(const fs::path& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  for (const std::string& line : lines) file << line << '\n';
}

}  // namespace tandem::test
