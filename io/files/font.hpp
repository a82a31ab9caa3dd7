#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "../../core/space.hpp"

namespace tandem::io {

/// A grey picture that is being drawn, row by row.
struct Canvas {
  Index width, height;
  std::vector<std::uint8_t> grey;
};

/// The em of the font, in pixels, whose small letters are this many pixels high.
double em_of(Index x_height);

/// The width of a line of text in pixels.
double text_width(std::string_view text, double em);

/// Draws one line of text in DejaVu Sans with smooth edges: from `left` on, its letters standing on the upper
/// edge of row `base`. It draws ASCII and ° ± ² ³ µ · ×, and leaves out other letters and what lies outside
/// of the canvas.
void draw_text(Canvas& canvas, double left, Index base, double em, std::string_view text, std::uint8_t grey);

}  // namespace tandem::io
