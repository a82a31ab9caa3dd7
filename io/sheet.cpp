#include "sheet.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

#include "../core/ceil_div.hpp"
#include "../core/rounding.hpp"

namespace tandem::io {

namespace {

using TextLines = std::vector<std::string>;

constexpr Index gap = 10;           // pixels between pictures
constexpr Index least_side = 256;   // the least width of the widest picture
constexpr Index least_letters = 8;  // the least height of a small letter
constexpr std::uint8_t ink = 0, paper = 255;

double width_of(const TextLines& lines, double em) {
  double most = 0;
  for (const std::string& line : lines) most = std::max(most, text_width(line, em));
  return most;
}

std::string words_of_length(double length, const std::string& unit) {
  std::ostringstream text;
  const bool small = unit == "mm" && length < 0.0995;
  text.precision(3);
  text << (small ? 1000 * length : length) << ' ' << (small ? "µm" : unit);
  return text.str() + (unit != "mm" && length != 1 ? "s" : "");
}

/// Draws a sheet.
class Drawing {
 public:
  Drawing(std::span<const Picture> pictures, const Sheet& sheet) : pictures_(pictures), sheet_(sheet) {
    Index widest = 1;
    for (const Picture& p : pictures) widest = std::max(widest, p.width);
    factor_ = ceil_div(least_side, widest);
    choose_letters();
    canvas_.width = std::max(across(), room_for(sheet.captions));
  }

  Canvas made() {
    for (std::span<const Picture> row : rows()) add_row(row);
    if (!sheet_.captions.empty()) {
      const Index top = canvas_.height;
      grow(height_of(sheet_.captions));
      write(sheet_.captions, 0, canvas_.width, top);
    }
    if (sheet_.pixel > 0) draw_bar();
    return std::move(canvas_);
  }

 private:
  std::vector<std::span<const Picture>> rows() const {
    std::vector<std::span<const Picture>> all;
    for (auto left = pictures_; !left.empty(); left = left.subspan(all.back().size()))
      all.push_back(left.first(sheet_.columns == 0 ? left.size() : std::min(sheet_.columns, left.size())));
    return all;
  }

  /// The width of lines with half an em on either side.
  Index room_for(const TextLines& lines) const { return ceil_index(width_of(lines, em_) + em_); }

  /// The width that a picture takes with its captions.
  Index column(const Picture& p) const { return std::max(factor_ * p.width, room_for(p.captions)); }

  Index across() const {
    Index most = 0;
    for (const auto row : rows())
      most = std::max(most, std::accumulate(row.begin(), row.end(), gap * (std::ssize(row) - 1),
                                            [&](Index sum, const Picture& p) { return sum + column(p); }));
    return most;
  }

  /// Chooses letters of 17 pixels on a page that shows the sheet 900 pixels wide. They are smaller if a
  /// caption is wider than its picture.
  void choose_letters() {
    constexpr double em_of_page = 17, width_of_page = 900;
    em_ = 0;  // so that columns have the width of pictures
    const double width = across();
    const double wanted = em_of_page / width_of_page * width;
    double fits = 1;
    const auto fit = [&](const TextLines& lines, double room) {
      if (const double needed = width_of(lines, wanted) + wanted; needed > room)
        fits = std::min(fits, room / needed);
    };
    for (const Picture& p : pictures_) fit(p.captions, factor_ * p.width);
    fit(sheet_.captions, width);
    em_ = em_of(std::max(least_letters, floor_index(fits * wanted / em_of(1))));
  }

  Index line_height() const { return std::lround(1.25 * em_); }
  Index height_of(const TextLines& lines) const {
    return lines.empty() ? 0 : std::ssize(lines) * line_height() + line_height() / 2;
  }

  void grow(Index rows) {
    canvas_.height += rows;
    canvas_.grey.resize(canvas_.width * canvas_.height, paper);
  }

  void fill(Index left, Index top, Index width, Index height, std::uint8_t grey) {
    for (Index y = top; y < top + height; ++y)
      std::fill_n(canvas_.grey.begin() + y * canvas_.width + left, width, grey);
  }

  /// Writes lines in the middle of a column.
  void write(const TextLines& lines, Index left, Index width, Index top) {
    Index base = top + line_height() + line_height() / 8;
    for (const std::string& line : lines) {
      const double room = width - text_width(line, em_);
      draw_text(canvas_, left + std::floor(room / 2), base, em_, line, ink);
      base += line_height();
    }
  }

  void add_row(std::span<const Picture> row) {
    Index height = 0, left = 0;
    for (const Picture& p : row) height = std::max(height, factor_ * p.height + height_of(p.captions));
    const Index top = canvas_.height == 0 ? 0 : canvas_.height + gap;
    grow(top - canvas_.height + height);
    for (const Picture& p : row) {
      const Index width = column(p), at = left + (width - factor_ * p.width) / 2;
      for (Index y = 0; y < p.height; ++y)
        for (Index x = 0; x < p.width; ++x)
          fill(at + factor_ * x, top + factor_ * y, factor_, factor_,
               level(p.grey[y * p.width + x], sheet_.black, sheet_.white));
      if (p.framed) draw_frame(at, top, factor_ * p.width, factor_ * p.height);
      write(p.captions, left, width, top + factor_ * p.height);
      left += width + gap;
    }
  }

  /// Draws a white frame with black edges.
  void draw_frame(Index left, Index top, Index width, Index height) {
    constexpr Index from = 7, to = 14;  // the edge of the picture
    for (Index k = from; k < std::min({to, width / 2, height / 2}); ++k) {
      const std::uint8_t grey = k == from || k + 1 == to ? ink : paper;
      for (const Index y : {top + k, top + height - 1 - k}) fill(left + k, y, width - 2 * k, 1, grey);
      for (const Index x : {left + k, left + width - 1 - k}) fill(x, top + k, 1, height - 2 * k, grey);
    }
  }

  /// Draws a white scale bar at the lower left of the first picture, and its length above it. Both have a
  /// black edge.
  void draw_bar() {
    const Picture& p = pictures_.front();
    const double width = sheet_.pixel * p.width, length = length_of_bar(width);
    if (8 * p.height <= p.width || (sheet_.unit != "mm" && length < 1)) return;
    const Index high = factor_ * p.height, thick = std::max<Index>(3, line_height() / 6),
                edge = (thick + 2) / 3;
    const Index inset = std::max(high / 40, 2 * edge);
    const Index left = (column(p) - factor_ * p.width) / 2 + inset, top = high - inset - thick;
    const Index wide = std::lround(length / width * (factor_ * p.width));
    fill(left - edge, top - edge, wide + 2 * edge, thick + 2 * edge, ink);
    fill(left, top, wide, thick, paper);
    const double em = std::max(0.75 * em_, em_of(least_letters));
    const std::string words = words_of_length(length, sheet_.unit);
    const auto text = [&](Index x, Index y, std::uint8_t grey) {
      draw_text(canvas_, left + x, top - thick - edge + y, em, words, grey);
    };
    for (Index y = -edge; y <= edge; ++y)
      for (Index x = -edge; x <= edge; ++x) text(x, y, ink);
    text(0, 0, paper);
  }

  std::span<const Picture> pictures_;
  const Sheet& sheet_;
  Index factor_ = 1;
  double em_ = 0;
  Canvas canvas_{0, 0, {}};
};

}  // namespace

std::uint8_t level(float value, float black, float white) {
  const float scaled = 255 * (value - black) / (white - black);
  return std::isnan(scaled) ? 0 : static_cast<std::uint8_t>(std::lround(std::clamp(scaled, 0.0f, 255.0f)));
}

double length_of_bar(double width) {
  constexpr double rounding = 1e-9;
  const double step = std::pow(10, std::floor(std::log10(width / 4) + rounding));
  for (const double many : {5, 2})
    if (many * step <= width / 4 * (1 + rounding)) return many * step;
  return step;
}

Canvas drawn(std::span<const Picture> pictures, const Sheet& sheet) {
  return Drawing(pictures, sheet).made();
}

}  // namespace tandem::io
