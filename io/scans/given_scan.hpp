#pragma once

#include <array>
#include <memory>

#include "scan_reader.hpp"

namespace tandem::io {

/// A scan in the memory of a program that runs a command within itself, in the place of a file. It takes no
/// copy: the frames outlive all readers of it.
struct GivenScan {
  Scan scan;
  bool pitch_is_known = true;        ///< else lengths are in bins
  std::array<FramesView, 3> frames;  ///< by FrameKind, in C order; no views, flats or darks: shape[0] is 0
};

/// Opens it as a file with the same frames and the same geometry. @throws GeometryError, FileError
std::unique_ptr<ScanReader> open_given_scan(const GivenScan& given, const OpenOptions& options);

}  // namespace tandem::io
