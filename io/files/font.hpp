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

/// The em, in pixels, of the font whose small letters are this many pixels high.
double em_of(Index x_height);

/// The width of a line of text in pixels.
double text_width(std::string_view text, double em);

/// Draws one line of text in DejaVu Sans with smooth edges. The line begins at `left`, and its letters stand
/// on the upper edge of row `base`. It draws ASCII and ° ± ² ³ µ · ×. It leaves out other letters, and all
/// that lies outside of the canvas.
void draw_text(Canvas& canvas, double left, Index base, double em, std::string_view text, std::uint8_t grey);

}  // namespace tandem::io
