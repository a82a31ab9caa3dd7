// Pictures side by side, with captions and a scale bar.

#include <gtest/gtest.h>

#include <algorithm>

#include "../../io/png.hpp"
#include "../support/png_canvas.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

io::Picture flat(Index width, Index height, float grey = 0.5f) {
  return {width, height, std::vector<float>(static_cast<std::size_t>(width * height), grey)};
}

/// The sheet as it comes back from a file.
io::Canvas written(const std::vector<io::Picture>& pictures, const io::Sheet& sheet) {
  const TemporaryFolder folder;
  io::write_png({folder / "p.png", io::Content::picture}, pictures, sheet);
  return canvas_of(folder / "p.png");
}

struct Box {
  Index left, top, right, bottom;  ///< half open
  Index width() const { return right - left; }
  Index height() const { return bottom - top; }
};

/// The smallest box around all pixels in a part of a canvas that are so.
template <class Is>
Box box_of(const io::Canvas& canvas, const Box& part, const Is& is) {
  Box box{part.right, part.bottom, part.left, part.top};
  for (Index y = part.top; y < part.bottom; ++y)
    for (Index x = part.left; x < part.right; ++x)
      if (is(grey_at(canvas, x, y)))
        box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x + 1),
               std::max(box.bottom, y + 1)};
  return box;
}

constexpr auto is_ink = [](int grey) { return grey < 128; };
constexpr auto is_white = [](int grey) { return grey == 255; };

TEST(Sheet, MakesSquaresOfThePixelsOfSmallPictures) {
  io::Picture picture = flat(3, 2);
  picture.grey = {0, 0.2f, 0.4f, 0.6f, 0.8f, 1};
  const io::Canvas all = written({picture}, {});
  ASSERT_EQ(all.width, 3 * 86);  // at least 256
  ASSERT_EQ(all.height, 2 * 86);
  for (Index y = 0; y < all.height; ++y)
    for (Index x = 0; x < all.width; ++x) ASSERT_EQ(grey_at(all, x, y), 51 * (3 * (y / 86) + x / 86));
  const io::Canvas large = written({flat(256, 4)}, {});
  EXPECT_EQ(large.width, 256);
  EXPECT_EQ(large.height, 4);
}

TEST(Sheet, HasRowsOfPicturesOnWhite) {
  const io::Canvas all = written({flat(300, 40, 1), flat(500, 20, 0), flat(900, 60, 0.2f)}, {.columns = 2});
  ASSERT_EQ(all.width, 900);
  ASSERT_EQ(all.height, 40 + 10 + 60);
  EXPECT_EQ(grey_at(all, 299, 39), 255);  // the first
  EXPECT_EQ(grey_at(all, 309, 0), 255);   // the gap behind it
  EXPECT_EQ(grey_at(all, 310, 0), 0);     // the second
  EXPECT_EQ(grey_at(all, 310, 20), 255);  // below it
  EXPECT_EQ(grey_at(all, 0, 49), 255);    // the gap between rows
  EXPECT_EQ(grey_at(all, 0, 50), 51);
  EXPECT_EQ(grey_at(all, 899, 109), 51);
}

TEST(Sheet, HasCaptionsInTheMiddleBelowEachPicture) {
  std::vector<io::Picture> pictures{flat(400, 30, 1), flat(300, 50, 1)};
  pictures[0].captions = {"ox"};
  pictures[1].captions = {"xo", "oxo"};
  const io::Canvas all = written(pictures, {.captions = {"xx"}});
  ASSERT_EQ(all.width, 710);
  const Box first = box_of(all, {0, 0, 400, 60}, is_ink), second = box_of(all, {410, 0, 710, 90}, is_ink),
            last = box_of(all, {0, 95, 710, all.height}, is_ink);
  EXPECT_NEAR(first.left + first.right, 400, 3);
  EXPECT_NEAR(second.left + second.right, 2 * 410 + 300, 3);
  EXPECT_NEAR(last.left + last.right, 710, 3);
  EXPECT_GT(first.top, 30);
  EXPECT_GT(second.top, 50);
  EXPECT_GT(last.top, second.bottom + 5);
  EXPECT_LT(last.bottom, all.height);
}

/// The height of the letters of a caption below a picture that is so wide.
Index letters_of(Index width, const std::string& caption) {
  io::Picture picture = flat(width, 8, 1);
  picture.captions = {caption};
  const io::Canvas all = written({picture}, {});
  return box_of(all, {0, 8 * ((256 + width - 1) / width), all.width, all.height}, is_ink).height();
}

TEST(Sheet, HasLettersAsLargeAsItsWidthAsksFor) {
  constexpr double rounding = 1;                // a letter is a whole number of pixels high
  for (const Index width : {1000, 1800, 3600})  // an x is 1120/2048 of 17/900 of the width
    EXPECT_NEAR(static_cast<double>(letters_of(width, "x")),
                17.0 / 900 * 1120 / 2048 * static_cast<double>(width), rounding)
        << width;
  EXPECT_EQ(letters_of(300, "x"), 8);
  EXPECT_EQ(letters_of(16, "x"), 8);
}

TEST(Sheet, HasSmallerLettersWhereACaptionIsLong) {
  const std::string caption(95, 'x');
  const Index height = letters_of(1000, caption);
  EXPECT_GE(height, 8);
  EXPECT_LT(height, letters_of(1000, "x"));
  io::Picture picture = flat(256, 8, 1);
  picture.captions = {caption};
  const io::Canvas all = written({picture}, {});  // nothing is cut off
  const Box text = box_of(all, {0, 8, all.width, all.height}, is_ink);
  EXPECT_GT(all.width, 256);
  EXPECT_GT(text.left, 0);
  EXPECT_LT(text.right, all.width);
  EXPECT_NEAR(static_cast<double>(text.width()), io::text_width(caption, io::em_of(8)), 3);
}

/// The white bar at the lower left of a grey picture, without its length.
Box bar_of(const io::Canvas& all, Index width, Index height) {
  const Box ink = box_of(all, {0, 0, width, height}, [](int grey) { return grey != 128; });
  const Box bottom = box_of(all, {0, ink.bottom - 4, width, ink.bottom}, is_white);
  return box_of(all, {0, bottom.top, width, height}, is_white);
}

TEST(Sheet, HasAScaleBarOfARoundLength) {
  for (const auto& [width, pixel, unit, bar] :
       std::initializer_list<std::tuple<Index, double, const char*, double>>{
           {400, 1, "bin", 100},
           {390, 1, "bin", 50},
           {300, 0.01, "mm", 50},
           {256, 0.0007, "mm", 0.02 / 0.0007},
           {40, 2, "bin", 7 * 10},
           {64, 0.05, "mm", 4 * 10}}) {
    const Index side = width < 256 ? (256 + width - 1) / width : 1, shown = side * width;
    const io::Canvas all = written({flat(width, width)}, {.pixel = pixel, .unit = unit});
    ASSERT_EQ(all.width, shown);
    const Box found = bar_of(all, shown, shown);
    EXPECT_NEAR(static_cast<double>(found.width()), bar, 0.5) << width << ' ' << pixel;
    EXPECT_LT(found.right, shown / 3) << width;
    EXPECT_GT(found.top, 9 * shown / 10) << width;
    const Box words = box_of(all, {0, 0, shown, found.top - 3}, is_white);
    EXPECT_NEAR(words.left, found.left, 4) << "the length stands above the bar";
    EXPECT_GT(words.top, 8 * shown / 10) << width;
  }
}

TEST(Sheet, HasAScaleBarThatIsSeenOnWhite) {
  const io::Canvas all = written({flat(300, 300, 1)}, {.pixel = 1, .unit = "bin"});
  const Box edge = box_of(all, {0, 0, 300, 300}, [](int grey) { return grey == 0; });
  EXPECT_GT(edge.left, 0);
  EXPECT_LT(edge.bottom, 300);
  EXPECT_GE(edge.width(), 50);
}

TEST(Sheet, HasNoScaleBarWhereItIsNotKnownOrAPictureIsFlat) {
  EXPECT_EQ(written({flat(300, 300)}, {}).grey, std::vector<std::uint8_t>(300 * 300, 128));
  EXPECT_EQ(written({flat(300, 37)}, {.pixel = 1}).grey, std::vector<std::uint8_t>(300 * 37, 128));
  EXPECT_EQ(written({flat(3, 3)}, {.pixel = 1, .unit = "bin"}).grey,
            std::vector<std::uint8_t>(258 * 258, 128));
  const io::Canvas two = written({flat(300, 300), flat(300, 300)}, {.pixel = 1});
  EXPECT_EQ(box_of(two, {310, 0, 610, 300}, [](int grey) { return grey != 128; }).width(), -300)
      << "one is enough";
}

TEST(Sheet, MarksAPictureByAFrame) {
  io::Picture picture = flat(300, 280);
  picture.framed = true;
  const io::Canvas all = written({picture}, {});
  const Box frame = box_of(all, {0, 0, 300, 280}, is_white);
  EXPECT_EQ(frame.left, 8);
  EXPECT_EQ(frame.top, 8);
  EXPECT_EQ(frame.right, 292);
  EXPECT_EQ(frame.bottom, 272);
  EXPECT_EQ(grey_at(all, 150, 12), 255);
  EXPECT_EQ(grey_at(all, 150, 13), 0);
  EXPECT_EQ(grey_at(all, 150, 14), 128);
}

TEST(Sheet, SaysLengthsOfBarsThatAreRound) {
  for (const auto& [width, length] : {std::pair(4.0, 1.0),
                                      {3.99, 0.5},
                                      {8.0, 2.0},
                                      {20.0, 5.0},
                                      {39.9, 5.0},
                                      {40.0, 10.0},
                                      {0.0123, 0.002}})
    EXPECT_NEAR(io::length_of_bar(width) / length, 1, 1e-12) << width;
}

}  // namespace
}  // namespace tandem::test
