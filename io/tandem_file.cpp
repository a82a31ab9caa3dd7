#include "tandem_file.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "../core/error.hpp"
#include "checksum.hpp"
#include "frame_source.hpp"
#include "hdf5.hpp"
#include "output.hpp"
#include "rehearsal.hpp"
#include "tiff.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t png_head = 33;  // signature and header, which has one size

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

/// A chunk of a PNG file with the text "Software".
std::string png_mark() {
  const std::string body = std::string("tEXtSoftware") + '\0' + software;
  return big_endian(static_cast<std::uint32_t>(body.size() - 4)) + body +
         big_endian(checksum(body.data(), body.size()));
}

std::string beginning(const fs::path& path, std::size_t bytes) {
  std::string start(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(bytes));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return start;
}

/// An object that names a command and a version of tandem.
bool is_report(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str().find("\"command\":") != std::string::npos &&
         text.str().find("\"version\":") != std::string::npos;
}

}  // namespace

std::string marked_png(const std::string& png) {
  return png.substr(0, png_head) + png_mark() + png.substr(png_head);
}

bool is_of_tandem(const fs::path& path) {
  const std::string start = beginning(path, png_head + png_mark().size());
  if (start.starts_with("\x89PNG")) return start.ends_with(png_mark());
  if (start.starts_with("{")) return is_report(path);
  if (written_by_tandem(start)) return true;        // a manifest or a log
  if (start.starts_with("# tandem ")) return true;  // a recipe
  if (start.starts_with("<!doctype html>"))
    return beginning(path, 1000).find("name=\"generator\" content=\"tandem\"") != std::string::npos;
  if (start.starts_with("NRRD") || start.starts_with("ObjectType = Image"))
    return beginning(path, 1000).find(" tandem ") != std::string::npos;
  if (is_tiff(path)) return written_by_tandem(tiff_description(path));
  try {
    const std::string mark = "/process/tandem";
    const auto mark_in = [&] { return hdf5::File::open(path).is_group(mark) ? mark : std::string(); };
    return hdf5::is_hdf5(path) && answer_of(path, mark_in) == mark;
  } catch (const FileError&) {
    return false;
  }
}

}  // namespace tandem::io
