#include "tandem_file.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>

#include "../core/error.hpp"
#include "files/checksum.hpp"
#include "files/output.hpp"
#include "hdf5/hdf5.hpp"
#include "hdf5/rehearsal.hpp"
#include "scans/frame_source.hpp"
#include "volumes/volume_format.hpp"
#include "volumes/volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t png_head = 33;  // signature and header, whose size is fixed

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
  file.read(start.data(), bytes);
  start.resize(std::max<std::streamsize>(file.gcount(), 0));
  return start;
}

/// Whether a file is a JSON object that names a command and a version of tandem.
bool is_report(const fs::path& path) {
  constexpr std::uintmax_t most = 256 << 20;  // bytes; a report of 300,000 iterations has 20 MB
  std::error_code fault;
  if (fs::file_size(path, fault) > most) return false;
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str().find("\"command\":") != std::string::npos &&
         text.str().find("\"version\":") != std::string::npos;
}

/// The content of an HDF5 file that tandem wrote: volume or scan; empty for others.
std::optional<Content> content_of_hdf5(const fs::path& path) {
  const auto look = [&]() -> std::string {
    const hdf5::File file = hdf5::File::open(path);
    if (!file.is_group("/process/tandem")) return "";
    const auto data = file.find("/exchange/data");
    return data && data->text("description") == "ReconData" ? "volume" : "scan";
  };
  try {
    const std::string found = hdf5::is_hdf5(path) ? answer_of(path, look) : "";
    if (!found.empty()) return found == "volume" ? Content::volume : Content::scan;
  } catch (const FileError&) {
  }
  return std::nullopt;
}

/// The content of a text whose beginning says that tandem wrote it; empty for others.
std::optional<Content> content_of_text(const std::string& start) {
  const std::string line = start.substr(0, start.find('\n'));
  if (line.starts_with("# tandem geometry") || start.find("<!-- tandem geometry -->") != std::string::npos)
    return Content::geometry;
  if (line.starts_with("# tandem ")) return Content::recipe;
  if (!line.starts_with("tandem ")) return std::nullopt;
  if (line == "tandem checkpoint") return Content::checkpoint;
  if (line.ends_with(" volume of slices")) return Content::manifest;
  if (line.find(": log of ") != std::string::npos) return Content::log;
  return std::nullopt;
}

}  // namespace

std::string marked_png(const std::string& png) {
  return png.substr(0, png_head) + png_mark() + png.substr(png_head);
}

std::optional<Content> content_of(const fs::path& path) {
  constexpr std::size_t head = 1000;
  const auto if_it = [](bool holds, Content content) {
    return holds ? std::optional(content) : std::nullopt;
  };
  const std::string start = beginning(path, head);
  if (start.starts_with("\x89PNG"))
    return if_it(start.substr(0, png_head + png_mark().size()).ends_with(png_mark()), Content::picture);
  if (start.starts_with("{")) return if_it(is_report(path), Content::report);
  if (const std::optional<Content> text = content_of_text(start)) return text;
  if (start.starts_with("<!doctype html>"))
    return if_it(start.find("name=\"generator\" content=\"tandem\"") != std::string::npos, Content::page);
  if (start.starts_with("NRRD") || start.starts_with("ObjectType = Image"))
    return if_it(start.find(" tandem ") != std::string::npos, Content::volume);
  for (const VolumeKind& kind : volume_kinds())
    if (kind.slice_file && written_by_tandem(kind.slice_file->description(path))) return Content::volume;
  return content_of_hdf5(path);
}

}  // namespace tandem::io
