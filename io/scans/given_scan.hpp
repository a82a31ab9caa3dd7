#pragma once

#include <array>
#include <memory>

#include "scan_reader.hpp"

namespace tandem::io {

/// A scan in the memory of a program, which runs a command within itself, in the place of a file. Frames are
/// not copied: they must outlive all readers.
struct GivenScan {
  Scan scan;
  bool pitch_is_known = true;        ///< if not, lengths are in bins
  std::array<FramesView, 3> frames;  ///< frames by FrameKind, in C order; shape[0] is 0 if there are none
};

/// Opens a given scan as if it were a file with these frames and this geometry. @throws GeometryError,
/// FileError
std::unique_ptr<ScanReader> open_given_scan(const GivenScan& given, const OpenOptions& options);

}  // namespace tandem::io
