#pragma once

#include <span>
#include <string>
#include <vector>

#include "../core/space.hpp"
#include "files/font.hpp"

namespace tandem::io {

/// A grey picture with index 0 at the top left, without a flip.
struct Picture {
  Index width = 0, height = 0;
  std::vector<float> grey;                 ///< row by row
  std::vector<std::string> captions = {};  ///< lines of text below it, see `draw_text`
  bool framed = false;                     ///< whether a white frame near its edge marks it
};

/// How pictures are shown side by side.
struct Sheet {
  float black = 0, white = 1;              ///< values that become 0 and 255; others are clipped
  std::size_t columns = 0;                 ///< pictures in a row; 0: all
  double pixel = 0;                        ///< the width of a pixel in `unit`; 0: no scale bar
  std::string unit = "mm";                 ///< "mm" or "bin"
  std::vector<std::string> captions = {};  ///< lines of text below all pictures
};

/// The grey of a value: 0 is black, 255 is white, and NaN is black.
std::uint8_t level(float value, float black, float white);

/// The length of a scale bar below a picture of this width: 1, 2 or 5 times a power of ten, at most a quarter
/// of the width.
double length_of_bar(double width);

/// Draws pictures in rows on white. Each picture has its captions below it. The first one has a scale bar, if
/// it is not too flat. Pixels of small pictures become squares of several pixels, of the same size in all
/// pictures, so that there is room for captions. The size of letters follows from the width of the sheet.
Canvas drawn(std::span<const Picture> pictures, const Sheet& sheet);

}  // namespace tandem::io
