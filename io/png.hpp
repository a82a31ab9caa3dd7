#pragma once

#include <string>
#include <vector>

#include "../core/space.hpp"
#include "files/output.hpp"

namespace tandem::io {

/// A grey picture with index 0 at the top left, without a flip.
struct Picture {
  Index width = 0, height = 0;
  std::vector<float> grey;                 ///< row by row
  std::vector<std::string> captions = {};  ///< lines of text below it, see `draw_text`
};

/// Writes pictures side by side with a gap, in 8-bit grey, in rows of `columns` (0: all in one row). [black,
/// white] becomes 0..255, and values outside are clipped. The file names tandem as its software.
/// @throws FileError
void write_png(Output output, const std::vector<Picture>& pictures, float black, float white,
               std::size_t columns = 0);

/// The bytes of a PNG file of one picture, made for speed. Where the picture is NaN, it is transparent.
/// @throws FileError
std::string png_of(const Picture& picture, float black, float white);

}  // namespace tandem::io
