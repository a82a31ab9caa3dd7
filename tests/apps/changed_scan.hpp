#pragma once

#include <filesystem>
#include <functional>

#include "../../io/scans/scan_reader.hpp"
#include "../../io/scans/scan_writer.hpp"

namespace tandem::test {

/// Counts of a frame, which may be changed.
struct Counts {
  io::FrameKind kind;
  Index frame, rows, bins;
  std::uint16_t* pixels;
};

/// A scan as another one, after `change` of each frame.
inline void write_changed(const std::filesystem::path& from, const std::filesystem::path& to,
                          const std::function<void(const Counts&)>& change) {
  const auto reader = io::open_scan(from);
  const io::ScanInfo& info = reader->info();
  const Detector& d = detector_of(info.scan);
  io::ScanWriter writer({to, io::Content::scan}, info.scan, info.pixel_size_mm, info.type, info.flats,
                        info.darks);
  const Index views = views_of(info.scan);
  for (const auto& [kind, count] : {std::pair{io::FrameKind::projection, views},
                                    {io::FrameKind::flat, info.flats},
                                    {io::FrameKind::dark, info.darks}}) {
    io::Frames frames = reader->read(kind, {0, count}, {0, d.rows}, {0, d.bins});
    auto* pixels = reinterpret_cast<std::uint16_t*>(frames.bytes.data());
    for (Index f = 0; f < count; ++f) change({kind, f, d.rows, d.bins, pixels + f * d.rows * d.bins});
    writer.write(kind, {0, d.rows}, frames);
  }
  writer.finish("{}");
}

}  // namespace tandem::test
