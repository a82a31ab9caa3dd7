#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "../../io/scans/scan_reader.hpp"

namespace tandem::test {

/// Frames of numbers in C order.
template <class T>
io::Frames frames_of(io::PixelType type, Shape shape, const std::vector<T>& values) {
  io::Frames frames{type, shape, {}};
  frames.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(frames.bytes.data(), values.data(), frames.bytes.size());
  return frames;
}

inline io::Frames floats(Shape shape, const std::vector<float>& values) {
  return frames_of(io::PixelType::float32, shape, values);
}

/// Flats and darks in memory, and whatever metadata a test gives them. Rows beyond the last one begin anew,
/// so that a test may take any numbers for them.
class ReferencesInMemory final : public io::ScanReader {
 public:
  ReferencesInMemory(io::Frames flats, io::Frames darks)
      : flats_(std::move(flats)), darks_(std::move(darks)) {
    info_.flats = flats_.shape[0];
    info_.darks = darks_.shape[0];
  }
  io::ScanInfo& info_to_change() { return info_; }

  using io::ScanReader::read;
  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override {
    const io::Frames& all = kind == io::FrameKind::flat ? flats_ : darks_;
    const Index pixel = static_cast<Index>(io::bytes_of(all.type)), line = bins.size() * pixel;
    into.type = all.type;
    into.shape = {frames.size(), rows.size(), bins.size()};
    into.first = frames.first;
    into.bytes.resize(static_cast<std::size_t>(frames.size() * rows.size() * line));
    std::byte* to = into.bytes.data();
    for (Index f = frames.first; f < frames.last; ++f)
      for (Index r = rows.first; r < rows.last; ++r, to += line)
        std::copy_n(
            all.bytes.data() + ((f * all.shape[1] + r % all.shape[1]) * all.shape[2] + bins.first) * pixel,
            line, to);
  }

 private:
  io::Frames flats_, darks_;
};

}  // namespace tandem::test
