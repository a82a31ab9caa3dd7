#pragma once

#include <memory>
#include <optional>
#include <string>

#include "../files/output.hpp"
#include "scan_reader.hpp"

namespace tandem::io {

/// Writes a DXchange scan by ranges of rows, in any order: /exchange/data, theta (degrees), data_white and
/// data_dark, and the geometry under /measurement/instrument (tandem/{kind,sod,sdd,...} and
/// detector/pixel_size_{x,y}). As with volumes, nothing has the final name until `finish`.
class ScanWriter {
 public:
  /// If `pixel_size_mm` is empty, no pixel sizes are written. @throws FileError
  ScanWriter(Output output, const Scan& scan, std::optional<double> pixel_size_mm, PixelType type,
             Index flats, Index darks);
  ~ScanWriter();
  /// Writes some rows of all frames of a kind, with all bins.
  void write(FrameKind kind, Range rows, const Frames& frames);
  void finish(const std::string& recipe_json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::io
