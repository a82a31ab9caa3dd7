#pragma once

#include <string>

#include "../../core/space.hpp"

namespace tandem::io {

/// How frames are stored in files that do not say it themselves: one frame after another, behind a header.
struct RawFrames {
  std::string type;  ///< "uint16"
  Index bins = 0, rows = 0;
  Index header = 0;         ///< bytes at the beginning of each file
  bool big_endian = false;  ///< order of the bytes of a number
};

/// Reads TYPE,BINSxROWS[,header=BYTES][,big|little]. Returns what is wrong with the text; empty if nothing
/// is.
std::string read_raw_frames(const std::string& text, RawFrames& into);

}  // namespace tandem::io
