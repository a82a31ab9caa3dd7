#pragma once

#include <array>

#include "scan_reader.hpp"

namespace tandem::io {

/// A scan whose frames are all in memory.
class MemoryScan final : public ScanReader {
 public:
  /// Reads all frames of another scan. @throws FileError
  explicit MemoryScan(ScanReader& scan);

  using ScanReader::read;
  void read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) override;
  std::optional<FramesView> in_memory(FrameKind kind, Range frames, Range rows, Range bins) override;

 private:
  std::array<Frames, 3> frames_;
};

}  // namespace tandem::io
