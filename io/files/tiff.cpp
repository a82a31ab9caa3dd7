#include "tiff.hpp"

#include <fcntl.h>
#include <tiffio.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sstream>

#include "../../core/error.hpp"
#include "plain_file.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

constexpr double max_packing = 2000;      // deflate and LZW pack less
constexpr double small_bytes = 64 << 20;  // a smaller claim does no harm
constexpr double max_pages = 1e7;

thread_local std::string last_fault;

/// Keeps libtiff from printing to standard error, for the whole process.
void silence() {
  static std::once_flag once;
  std::call_once(once, [] {
    TIFFSetWarningHandler(nullptr);
    TIFFSetErrorHandler([](const char*, const char* format, va_list values) {
      std::array<char, 256> text{};
      std::vsnprintf(text.data(), text.size(), format, values);
      last_fault = text.data();
      std::replace(last_fault.begin(), last_fault.end(), '\n', ' ');
    });
  });
  last_fault.clear();
}

/// The reason of a failure: libtiff says what it could not do, and the system says why.
std::string because_of_disk() {
  return ": " + (errno != 0 ? std::string(std::strerror(errno)) + " (" + last_fault + ")" : last_fault);
}

std::string because() { return last_fault.empty() ? "; the file may be damaged" : ": " + last_fault; }

/// Opens a file as TIFFOpen does, but the kernel does not read ahead, since only the directory of an image or
/// some of its blocks are wanted. Mode m: the file is read, not mapped, so that a file cut short gives an
/// error.
TIFF* open_for_reading(const std::filesystem::path& path, const char* mode) {
  Descriptor own(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!own.valid()) last_fault = std::strerror(errno);
  if (!own.valid()) return nullptr;
  ::posix_fadvise(own.number(), 0, 0, POSIX_FADV_RANDOM);
  TIFF* tiff = TIFFFdOpen(own.number(), path.c_str(), mode);
  if (tiff) own.release();
  return tiff;
}

std::string description_of(TIFF* tiff) {
  const char* text = nullptr;
  return TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text ? text : "";
}

template <class T>
T tag_of(TIFF* tiff, std::uint32_t tag, T otherwise) {
  T value{};
  return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : otherwise;
}

void require_known(const std::string& name, int bits, int format) {
  const bool whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_INT;
  const bool known = (whole && (bits == 8 || bits == 16 || bits == 32)) ||
                     (format == SAMPLEFORMAT_IEEEFP && (bits == 16 || bits == 32 || bits == 64));
  require<FileError>(known, name, ": has ", bits, "-bit pixels of sample format ", format,
                     "; integers of 8, 16 or 32 bits or floats of 16, 32 or 64 are needed");
}

/// The form of the pixels as they are stored; or as libtiff returns them, in the byte order of this machine.
NumberForm form_of(const TiffPage& page, bool swapped) {
  const NumberKind kind = page.sample_format == SAMPLEFORMAT_UINT  ? NumberKind::natural
                          : page.sample_format == SAMPLEFORMAT_INT ? NumberKind::integer
                                                                   : NumberKind::real;
  return number_form(kind, page.bits / 8, swapped).value();  // read_page has checked it
}

/// The numbers after a key; empty if the text does not have the key.
std::vector<Index> numbers_after(const std::string& text, const std::string& key) {
  std::vector<Index> numbers;
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return numbers;
  std::istringstream rest(text.substr(at + key.size()));
  for (Index n = 0; rest >> n && numbers.size() < 8; rest.ignore(1, ',')) numbers.push_back(n);
  return numbers;
}

/// The axes of the array, as the first description of a file tells them.
std::vector<Index> axes_in(const std::string& text) {
  if (text.starts_with("ImageJ=")) {
    const std::vector<Index> images = numbers_after(text, "\nimages="),
                             times = numbers_after(text, "\nframes=");
    if (images.empty() || images[0] < 1) return {};
    if (times.empty() || times[0] < 2 || images[0] % times[0] != 0) return {images[0]};
    return {times[0], images[0] / times[0]};
  }
  if (!text.starts_with("{")) return {};
  std::vector<Index> shape = numbers_after(text, "\"shape\": [");
  if (shape.size() < 3) return {};
  shape.resize(shape.size() - 2);
  for (Index& count : shape) count = std::clamp<Index>(count, 0, 1 << 20);
  Index times = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis)
    times = std::min<Index>(times * shape[axis], 1 << 30);
  return times == 1 ? std::vector{shape.back()} : std::vector{times, shape.back()};
}

/// A note of the calibration c0 + c1 x that ImageJ applies to stored numbers. For example, ImageJ stores
/// signed numbers of 16 bits as unsigned ones with a calibration.
std::string note_of_calibration(const std::string& text) {
  if (!text.starts_with("ImageJ=") || text.find("\ncf=0") == std::string::npos) return {};
  const auto after = [&](const char* key, const char* otherwise) {
    const std::size_t at = text.find(key);
    return at == std::string::npos ? otherwise : text.substr(at + 4, text.find('\n', at + 1) - at - 4);
  };
  const std::string c0 = after("\nc0=", "0"), c1 = after("\nc1=", "1");
  if (std::atof(c0.c_str()) == 0 && std::atof(c1.c_str()) == 1) return {};
  return "ImageJ shows c0 + c1 x for a stored number x, c0 = " + c0.substr(0, 20) +
         " and c1 = " + c1.substr(0, 20) +
         ", which is not obeyed: x is taken; a dark of the same kind takes c0 away";
}

TIFF* opened(void* library) { return static_cast<TIFF*>(library); }

}  // namespace

void TiffFile::Close::operator()(void* tiff) const { TIFFClose(opened(tiff)); }

TiffFile::TiffFile(const std::filesystem::path& path) : name_(path.string()) {
  silence();
  const Library tiff(open_for_reading(path, "rm"));
  require<FileError>(tiff != nullptr, name_, ": cannot be opened as TIFF", because());
  stamp_ = stamp_of(path, name_);
  file_bytes_ = stamp_.bytes;
  const std::string text = description_of(opened(tiff.get()));
  axes_ = axes_in(text), note_ = note_of_calibration(text);
  do pages_.push_back(read_page(tiff.get()));
  while (pages_.size() < max_pages && TIFFReadDirectory(opened(tiff.get())));
  require<FileError>(last_fault.empty(), name_, ": page ", pages_.size(), " cannot be read", because());
  add_pages_behind();
}

/// Adds the images of a stack that has one directory, as ImageJ (above 4 GB) and tifffile (truncate) write
/// it. Its images follow one another.
void TiffFile::add_pages_behind() {
  double claimed = 1;
  for (const Index count : axes_) claimed *= count;
  if (pages_.size() != 1 || claimed < 2 || pages_[0].extents.size() != 1) return;
  const Extent first = pages_[0].extents.front();
  const double begin = first.offset, directory = pages_[0].directory;
  const double room = (directory > begin ? directory : file_bytes_) - begin;
  const double there = first.offset > 0 ? std::floor(room / first.bytes) : 0;
  if (there < 2) return;
  require<FileError>(claimed <= there && claimed <= max_pages, name_, ": says that it holds ", claimed,
                     " images one behind the other, and has room for ", there,
                     "; it was cut short or is damaged");
  while (pages_.size() < claimed) {
    TiffPage page = pages_.back();
    page.extents.front().offset += first.bytes;
    pages_.push_back(std::move(page));
  }
}

TiffPage TiffFile::read_page(void* library) const {
  auto* tiff = opened(library);
  TiffPage page;
  page.rows = tag_of<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0);
  page.bins = tag_of<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0);
  require<FileError>(page.rows > 0 && page.bins > 0, name_, ": is ", page.rows, " x ", page.bins,
                     " pixels; at least 1 x 1 is needed");
  const int samples = tag_of<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  const int colours = tag_of<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  require<FileError>(samples == 1 && colours == PHOTOMETRIC_MINISBLACK, name_, ": has ", samples,
                     " samples a pixel and photometric interpretation ", colours,
                     "; a grey image with black as zero is needed (1 sample, 1)");
  page.bits = tag_of<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  page.sample_format = tag_of<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
  require_known(name_, page.bits, page.sample_format);
  page.is_float16 = page.bits == 16 && page.sample_format == SAMPLEFORMAT_IEEEFP;
  page.tiled = TIFFIsTiled(tiff);
  page.swapped = TIFFIsByteSwapped(tiff);
  page.type = form_of(page, page.swapped).type;
  page.compressed = tag_of<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) != COMPRESSION_NONE ||
                    tag_of<std::uint16_t>(tiff, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) != FILLORDER_MSB2LSB;
  page.block_rows = std::min<Index>(page.rows, tag_of<std::uint32_t>(tiff, TIFFTAG_ROWSPERSTRIP, 0xffffffff));
  page.block_bins = page.bins;
  if (page.tiled) {
    page.block_rows = tag_of<std::uint32_t>(tiff, TIFFTAG_TILELENGTH, 0);
    page.block_bins = tag_of<std::uint32_t>(tiff, TIFFTAG_TILEWIDTH, 0);
  }
  page.orientation = tag_of<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  page.directory = TIFFCurrentDirOffset(tiff);

  const double pixel = page.bits / 8.0,
               limit = page.compressed ? max_packing * file_bytes_ + small_bytes : file_bytes_;
  const double image = pixel * page.rows * page.bins;
  const double block = pixel * page.block_rows * page.block_bins;
  require<FileError>(image <= limit && block > 0 && block <= std::max(limit, small_bytes), name_, ": claims ",
                     page.rows, " x ", page.bins, " pixels, more than its ", file_bytes_,
                     " bytes can hold; it is damaged or was cut short");
  if (!page.tiled && !page.compressed) page.extents = strips(tiff, page);
  return page;
}

/// Where the strips lie. Strips that follow one another in the file, as they mostly do, are one extent. A
/// strip that the file does not hold has the offset 0.
std::vector<Extent> TiffFile::strips(void* library, const TiffPage& page) const {
  auto* tiff = opened(library);
  std::vector<Extent> found;
  for (Index row = 0; row < page.rows; row += page.block_rows) {
    const auto strip = static_cast<std::uint32_t>(row / page.block_rows);
    const auto behind = static_cast<std::uint64_t>(file_bytes_) + 1;
    const std::uint64_t offset =
        TIFFGetStrileByteCount(tiff, strip) > 0 ? std::min(TIFFGetStrileOffset(tiff, strip), behind) : 0;
    const Extent extent{0, static_cast<Index>(offset),
                        std::min(page.block_rows, page.rows - row) * page.bins * page.bits / 8};
    if (found.empty() || extent.offset == 0 || found.back().offset == 0 ||
        found.back().offset + found.back().bytes != extent.offset)
      found.push_back(extent);
    else
      found.back().bytes += extent.bytes;
  }
  return found;
}

/// Refuses a block that the file does not hold. libtiff would read zeros, or bytes of something else.
void TiffFile::require_block(std::uint64_t offset, std::uint64_t bytes, Index row) const {
  require<FileError>(offset > 0 && bytes > 0, name_, ": the pixels of row ", row,
                     " are not in the file (a strip or tile at ", offset, " of ", bytes,
                     " bytes); a sparse image cannot be used, save it whole");
}

std::size_t TiffFile::decoded_bytes(Index index) const {
  const TiffPage& wanted = page(index);
  const Index block = wanted.block_rows * wanted.block_bins * wanted.bits / 8;
  return wanted.compressed ? 2 * block : 0;
}

void TiffFile::read(Index index, Range rows, Range bins, std::byte* out) const {
  const TiffPage& wanted = page(index);
  std::vector<InputFile> file;
  file.emplace_back(stamp_.path, name_);
  require_unchanged(stamp_, name_);
  if (wanted.extents.empty())
    read_blocks(file[0].path(), wanted, rows, bins, out);
  else
    read_plain(file, wanted, rows, bins, out);
  require_unchanged(stamp_, name_);
}

/// Reads lines of a plain image straight from the file, so that a slab of a large stack costs its own bytes
/// and not whole strips.
void TiffFile::read_plain(const std::vector<InputFile>& file, const TiffPage& page, Range rows, Range bins,
                          std::byte* out) const {
  const NumberForm form = form_of(page, page.swapped);
  Index row = 0;
  for (const Extent& extent : page.extents) {
    const Index lines = extent.bytes / (page.bins * form.bytes), wanted = std::max(row, rows.first);
    if (wanted < std::min(row + lines, rows.last)) {
      require_block(extent.offset, 1, wanted);
      const Index end = extent.offset + (std::min(row + lines, rows.last) - row) * page.bins * form.bytes;
      require<FileError>(end <= file_bytes_, name_, ": row ", wanted,
                         " lies behind the end of the file, which was cut short or is damaged");
    }
    row += lines;
  }
  const std::array<Index, 2> shape{page.rows, page.bins}, first{rows.first, bins.first};
  const std::array<Index, 2> extents{rows.size(), bins.size()}, corner{0, 0};
  read_lines({file, page.extents}, form, Lines(extents, {shape, first}, {extents, corner}), out);
}

void TiffFile::read_block(void* library, const TiffPage& page, Index row, Index bin,
                          std::vector<std::byte>& block) const {
  auto* tiff = opened(library);
  const auto x = static_cast<std::uint32_t>(bin), y = static_cast<std::uint32_t>(row);
  const tmsize_t size = block.size();
  const std::uint32_t number = page.tiled ? TIFFComputeTile(tiff, x, y, 0, 0) : TIFFComputeStrip(tiff, y, 0);
  require_block(TIFFGetStrileOffset(tiff, number), TIFFGetStrileByteCount(tiff, number), row);
  const tmsize_t got = page.tiled ? TIFFReadEncodedTile(tiff, number, block.data(), size)
                                  : TIFFReadEncodedStrip(tiff, number, block.data(), size);
  const Index lines = page.tiled ? page.block_rows : std::min(page.block_rows, page.rows - row);
  require<FileError>(got >= lines * page.block_bins * page.bits / 8, name_, ": row ", row, " cannot be read",
                     because());
}

void TiffFile::read_blocks(const std::filesystem::path& path, const TiffPage& page, Range rows, Range bins,
                           std::byte* out) const {
  silence();
  const Library tiff(open_for_reading(path, "rmh"));  // h: does not read its first directory
  const bool found = tiff && TIFFSetSubDirectory(opened(tiff.get()), page.directory);
  require<FileError>(found, name_, ": the page at byte ", page.directory, " cannot be read", because());
  const Index height = page.block_rows, width = page.block_bins, stored = page.bits / 8;
  const Index pixel = bytes_of(page.type);
  const NumberForm form = form_of(page, false);
  std::vector<std::byte> block(height * width * stored);
  for (Index y = rows.first / height * height; y < rows.last; y += height)
    for (Index x = bins.first / width * width; x < bins.last; x += width) {
      read_block(tiff.get(), page, y, x, block);
      const Range lines{std::max(y, rows.first), std::min(y + height, rows.last)};
      const Range columns{std::max(x, bins.first), std::min(x + width, bins.last)};
      for (Index row = lines.first; row < lines.last; ++row) {
        const std::byte* from = block.data() + ((row - y) * width + columns.first - x) * stored;
        std::byte* to = out + ((row - rows.first) * bins.size() + columns.first - bins.first) * pixel;
        if (form.convert)
          form.convert(from, columns.size(), to);
        else
          std::memcpy(to, from, columns.size() * pixel);
      }
    }
}

std::string tiff_description(const std::filesystem::path& path) {
  silence();
  const std::unique_ptr<TIFF, void (*)(TIFF*)> file(TIFFOpen(path.c_str(), "rm"), TIFFClose);
  return file ? description_of(file.get()) : "";
}

void write_tiff(const PlainFile& made, NumberType type, Index rows, Index bins, const void* pixels,
                const std::string& description, const std::optional<std::array<double, 2>>& pixels_per_cm) {
  silence();
  errno = 0;
  const Index line = bins * bytes_of(type);
  const bool big = rows * line > (Index{4} << 30) - (Index{1} << 20);  // TIFF's offsets have 32 bits
  Descriptor own(::fcntl(made.descriptor(), F_DUPFD_CLOEXEC, 0));      // libtiff closes what it is given
  require<FileError>(own.valid(), made.name(), ": cannot be made: ", reason_of(errno));
  std::unique_ptr<TIFF, void (*)(TIFF*)> file(TIFFFdOpen(own.number(), made.name().c_str(), big ? "w8" : "w"),
                                              TIFFClose);
  require<FileError>(file != nullptr, made.name(), ": cannot be made", because_of_disk());
  own.release();
  TIFF* tiff = file.get();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(bins));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * bytes_of(type)));
  TIFFSetField(
      tiff, TIFFTAG_SAMPLEFORMAT,
      type == NumberType::float32 || type == NumberType::float16 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
  if (!description.empty()) TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, description.c_str());
  if (pixels_per_cm) {
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, (*pixels_per_cm)[0]);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, (*pixels_per_cm)[1]);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
  }
  // libtiff does not change the pixels, since the byte order is that of the machine; it only forgot the const
  const bool written =
      TIFFWriteEncodedStrip(tiff, 0, const_cast<void*>(pixels), rows * line) == rows * line &&
      TIFFWriteDirectory(tiff);
  require<FileError>(written && last_fault.empty(), made.name(), ": cannot be written", because_of_disk());
  file.reset();
  require<FileError>(last_fault.empty(), made.name(), ": cannot be written", because_of_disk());
}

}  // namespace tandem::io
