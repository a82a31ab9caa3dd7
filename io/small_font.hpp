#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "../core/space.hpp"

namespace tandem::io {

/// Rows and columns of a letter, with the space after it.
constexpr Index letter_width = 6, letter_height = 9;

/// A grey picture under way, row by row.
struct Canvas {
  Index width, height;
  std::vector<std::uint8_t> grey;
};

/// Writes one line of text, its upper left corner at (left, top), `scale` pixels a dot; what does not fit is
/// left out. Small letters, digits and . , - + : / = are drawn, others are blank.
void draw_text(Canvas& canvas, Index left, Index top, Index scale, std::string_view text, std::uint8_t grey);

}  // namespace tandem::io
