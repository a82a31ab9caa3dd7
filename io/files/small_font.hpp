#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::io {

/// The size of a letter in dots, with the space after it.
constexpr Index letter_width = 6, letter_height = 9;

/// A grey picture that is being drawn, row by row.
struct Canvas {
  Index width, height;
  std::vector<std::uint8_t> grey;
};

/// Draws one line of text with its upper left corner at (left, top) and `scale` pixels per dot. What does not
/// fit is left out. It draws small letters, digits and . , - + : / =, and leaves other letters blank.
void draw_text(Canvas& canvas, Index left, Index top, Index scale, std::string_view text, std::uint8_t grey);

}  // namespace tandem::io
