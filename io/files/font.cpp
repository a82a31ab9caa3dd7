#include "font.hpp"

#include <algorithm>
#include <cmath>
#include <dejavu_sans.hpp>
#include <iterator>
#include <utility>

#include "../../core/rounding.hpp"

namespace tandem::io {

namespace {

using dejavu_sans::Glyph;

/// Takes the first character away from a text in UTF-8, and returns its glyph; null if the font lacks it.
const Glyph* next_glyph(std::string_view& text) {
  unsigned code = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (code >= 0xc0 && !text.empty()) {  // a character of two bytes
    code = (code & 0x1f) << 6 | (static_cast<unsigned char>(text.front()) & 0x3f);
    text.remove_prefix(1);
  }
  const Glyph* last = std::end(dejavu_sans::glyphs) - 1;
  const Glyph* found =
      std::find_if(dejavu_sans::glyphs, last, [&](const Glyph& g) { return g.code == code; });
  return found == last ? nullptr : found;
}

struct Point {
  double x, y;
};

/// The share of each pixel of a rectangle that lies within a closed path.
class Coverage {
 public:
  Coverage(Index width, Index height) : width_(width), height_(height), parts_(width * height) {}

  Index width() const { return width_; }
  Index height() const { return height_; }
  double at(Index x, Index y) const { return std::min(1.0, std::abs(parts_[y * width_ + x])); }

  /// Adds what lies to the right of a line, with the sign of its direction. Rows of pixels are cut into finer
  /// rows, on which the share is exact.
  void add_line(Point from, Point to) {
    const double sign = from.y < to.y ? 1.0 / finer : -1.0 / finer;
    if (from.y > to.y) std::swap(from, to);
    const auto first = ceil_index(from.y * finer - 0.5);
    const auto last = ceil_index(to.y * finer - 0.5);
    for (Index row = std::max<Index>(0, first); row < std::min(last, finer * height_); ++row) {
      const double y = (row + 0.5) / finer;
      const double x = from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y);
      for (Index column = 0; column < width_; ++column)
        parts_[row / finer * width_ + column] += sign * std::clamp(column + 1 - x, 0.0, 1.0);
    }
  }

  /// Adds what lies to the right of a quadratic Bézier curve.
  void add_curve(Point from, Point control, Point to) {
    constexpr int lines = 8;
    Point before = from;
    for (int k = 1; k <= lines; ++k) {
      const double t = 1.0 * k / lines, a = (1 - t) * (1 - t), b = 2 * t * (1 - t), c = t * t;
      const Point next{a * from.x + b * control.x + c * to.x, a * from.y + b * control.y + c * to.y};
      add_line(before, next);
      before = next;
    }
  }

 private:
  static constexpr Index finer = 16;
  Index width_, height_;
  std::vector<double> parts_;
};

void draw_glyph(Canvas& canvas, const Glyph& glyph, double left, Index base, double em, std::uint8_t grey) {
  const double scale = em / dejavu_sans::em;
  const Index x0 = floor_index(left - 0.25 * em),
              y0 = base - ceil_index(em);  // above all letters, and to the left of them
  Coverage coverage(ceil_index(scale * glyph.advance + 0.5 * em) + 1, ceil_index(1.25 * em));
  const auto at = [&](int k) {
    const auto& [x, y] = dejavu_sans::points[k];
    return Point{left + scale * x - x0, base - y0 - scale * y};
  };
  for (int k = glyph.first; k + 2 < (&glyph)[1].first; k += 2)
    coverage.add_curve(at(k), at(k + 1), at(k + 2));
  for (Index y = std::max<Index>(0, y0); y < std::min(canvas.height, y0 + coverage.height()); ++y)
    for (Index x = std::max<Index>(0, x0); x < std::min(canvas.width, x0 + coverage.width()); ++x) {
      std::uint8_t& pixel = canvas.grey[y * canvas.width + x];
      pixel = static_cast<std::uint8_t>(std::lround(pixel + coverage.at(x - x0, y - y0) * (grey - pixel)));
    }
}

}  // namespace

double em_of(Index x_height) { return 1.0 * (x_height * dejavu_sans::em) / dejavu_sans::x_height; }

double text_width(std::string_view text, double em) {
  int units = 0;
  while (!text.empty())
    if (const Glyph* glyph = next_glyph(text)) units += glyph->advance;
  return em * units / dejavu_sans::em;
}

void draw_text(Canvas& canvas, double left, Index base, double em, std::string_view text, std::uint8_t grey) {
  while (!text.empty())
    if (const Glyph* glyph = next_glyph(text)) {
      draw_glyph(canvas, *glyph, left, base, em, grey);
      left += em * glyph->advance / dejavu_sans::em;
    }
}

}  // namespace tandem::io
