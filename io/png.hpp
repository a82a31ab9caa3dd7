#pragma once

#include <string>
#include <vector>

#include "../core/space.hpp"
#include "output.hpp"

namespace tandem::io {

/// One grey picture, index 0 at the top and left, unflipped.
struct Picture {
  Index width = 0, height = 0;
  std::vector<float> grey;                 ///< row by row
  std::vector<std::string> captions = {};  ///< lines below it, as `draw_text` draws them
};

/// Writes pictures side by side with a gap, as 8-bit grey; [black, white] maps to 0..255, and clips.
/// The file calls its software tandem. @throws FileError
void write_png(Output output, const std::vector<Picture>& pictures, float black, float white);

}  // namespace tandem::io
