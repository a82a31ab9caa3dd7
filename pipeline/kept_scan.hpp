#pragma once

#include <cstddef>
#include <list>

#include "../io/scans/scan_reader.hpp"

namespace tandem::pipeline {

/// A scan that keeps the parts that were read, for work that asks for the same parts again and again. A part
/// stays where it lies until `forget`.
class KeptScan final : public io::ScanReader {
 public:
  explicit KeptScan(io::ScanReader& scan) : scan_(scan) { info_ = scan.info(); }

  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override;
  std::optional<io::FramesView> in_memory(io::FrameKind kind, Range frames, Range rows, Range bins) override;
  /// Frees the parts that were asked for longest ago, until at most `most` bytes are left. It keeps the last
  /// part of each kind.
  void forget(std::size_t most);

 private:
  struct Part {
    io::FrameKind kind;
    Range frames, rows, bins;
    io::Frames pixels{};
  };
  io::FramesView kept(io::FrameKind kind, Range frames, Range rows, Range bins);

  io::ScanReader& scan_;
  std::list<Part> parts_;  ///< the part that was asked for last comes first
};

}  // namespace tandem::pipeline
