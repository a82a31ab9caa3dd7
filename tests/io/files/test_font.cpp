// Letters of captions.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../../support/png_canvas.hpp"

namespace tandem::test {
namespace {

constexpr double em = 40;

io::Canvas blank(Index width, Index height, std::uint8_t grey = 0) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), grey)};
}

io::Canvas drawn(const std::string& text, double size = em) {
  io::Canvas canvas =
      blank(static_cast<Index>(io::text_width(text, size)) + 20, static_cast<Index>(2 * size));
  io::draw_text(canvas, 10, static_cast<Index>(1.5 * size), size, text, 255);
  return canvas;
}

/// The area of all ink, in pixels.
double ink_of(const io::Canvas& canvas) {
  double sum = 0;
  for (const std::uint8_t grey : canvas.grey) sum += grey / 255.0;
  return sum;
}

TEST(Font, CoversOfEachPixelWhatLiesWithinTheOutline) {
  // The dot of DejaVu Sans is the rectangle from (219, 0) to (430, 254), in 1/2048 of an em.
  const double size = 64, unit = size / 2048;
  const Index base = 60;
  io::Canvas canvas = blank(30, 70);
  io::draw_text(canvas, 3, base, size, ".", 255);
  for (Index y = 0; y < canvas.height; ++y)
    for (Index x = 0; x < canvas.width; ++x) {
      const auto part = [](Index pixel, double from, double to) {
        const auto at = static_cast<double>(pixel);
        return std::max(0.0, std::min(at + 1, to) - std::max(at, from));
      };
      const double wanted = part(x, 3 + 219 * unit, 3 + 430 * unit) * part(y, base - 254 * unit, base);
      constexpr double finer_row = 1.0 / 16, rounding = 0.5 / 255;  // rows are cut into 16
      EXPECT_NEAR(grey_at(canvas, x, y) / 255.0, wanted, finer_row / 2 + rounding) << x << ' ' << y;
    }
}

TEST(Font, HasTheSameLettersInAnySize) {
  for (const char* text : {"o", "8 voxels", "0.5 µm"}) {
    const double small = ink_of(drawn(text, em)), large = ink_of(drawn(text, 3 * em));
    EXPECT_NEAR(large / small, 9, 0.01 * 9) << text;  // levels are rounded: 1/510 on each pixel of an edge
  }
}

TEST(Font, LeavesHolesAndKeepsLettersApart) {
  const io::Canvas canvas = drawn("oo");
  const double width = io::text_width("o", em);
  const auto middle = static_cast<Index>(1.5 * em - 560 * em / 2048);  // half as high as the letter
  std::string crossed;
  for (Index x = 0; x < canvas.width; ++x) {
    const char now = grey_at(canvas, x, middle) > 127 ? '#' : '.';
    if (crossed.empty() || crossed.back() != now) crossed += now;
  }
  EXPECT_EQ(crossed, ".#.#.#.#.");
  EXPECT_EQ(grey_at(canvas, static_cast<Index>(10 + width / 2), middle), 0);
}

TEST(Font, PutsLettersOneBehindTheOther) {
  EXPECT_DOUBLE_EQ(io::text_width("slice 3", em), io::text_width("slice", em) + io::text_width(" 3", em));
  for (const char digit : std::string("123456789"))
    EXPECT_DOUBLE_EQ(io::text_width(std::string(1, digit), em), io::text_width("0", em)) << digit;
  EXPECT_DOUBLE_EQ(em, io::em_of(1) * 1120 / 2048 * em);  // a small letter has 1120 / 2048 of an em
  io::Canvas both = blank(60, 60), apart = blank(60, 60);
  io::draw_text(both, 5, 45, em, "no", 255);
  io::draw_text(apart, 5, 45, em, "n", 255);
  io::draw_text(apart, 5 + io::text_width("n", em), 45, em, "o", 255);
  EXPECT_EQ(both.grey, apart.grey);
}

TEST(Font, LeavesOutWhatDoesNotFit) {
  io::Canvas whole = blank(60, 60), part = blank(20, 15);
  io::draw_text(whole, 5, 45, em, "Qg", 255);
  io::draw_text(part, 5 - 15, 45 - 30, em, "Qg", 255);
  for (Index y = 0; y < part.height; ++y)
    for (Index x = 0; x < part.width; ++x)
      EXPECT_EQ(grey_at(part, x, y), grey_at(whole, x + 15, y + 30)) << x << ' ' << y;
  io::draw_text(part, 1000, 1000, em, "Qg", 255);
  io::draw_text(part, -1000, -1000, em, "Qg", 255);
}

TEST(Font, HasASCIIAndSignsOfUnits) {
  std::vector<std::string> signs{"°", "±", "²", "³", "µ", "·", "×"};
  for (char letter = '!'; letter <= '~'; ++letter) signs.emplace_back(1, letter);
  for (const std::string& sign : signs) EXPECT_GT(ink_of(drawn(sign)), 1) << sign;
  EXPECT_EQ(ink_of(drawn(" ")), 0);
  EXPECT_GT(io::text_width(" ", em), 0);
  for (const std::string sign : {"ß", "€", "\xc3", "\xff", "\n"}) EXPECT_EQ(ink_of(drawn(sign)), 0) << sign;
}

TEST(Font, DrawsDarkOnBright) {
  io::Canvas dark = blank(60, 60, 200), bright = blank(60, 60, 0);
  io::draw_text(dark, 5, 45, em, "a", 0);
  io::draw_text(bright, 5, 45, em, "a", 200);
  for (std::size_t k = 0; k < dark.grey.size(); ++k) EXPECT_NEAR(dark.grey[k] + bright.grey[k], 200, 1);
}

}  // namespace
}  // namespace tandem::test
