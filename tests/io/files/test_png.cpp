// Previews: captions below pictures.

#include <gtest/gtest.h>
#include <png.h>

#include "../../../io/files/small_font.hpp"
#include "../../../io/png.hpp"
#include "../../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

io::Canvas blank(Index width, Index height) {
  return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), 0)};
}

std::string lines_of(const io::Canvas& canvas) {
  std::string text;
  for (Index y = 0; y < canvas.height; ++y, text += '\n')
    for (Index x = 0; x < canvas.width; ++x)
      text += canvas.grey[static_cast<std::size_t>(y * canvas.width + x)] ? '#' : '.';
  return text;
}

TEST(SmallFont, DrawsLettersDotByDot) {
  io::Canvas canvas = blank(11, 7);
  io::draw_text(canvas, 0, 0, 1, "z7", 255);
  EXPECT_EQ(lines_of(canvas),
            "......#####\n"
            "..........#\n"
            "#####....#.\n"
            "...#....#..\n"
            "..#.....#..\n"
            ".#.....#...\n"
            "#####..#...\n");
}

TEST(SmallFont, ScalesAndLeavesOutWhatDoesNotFit) {
  io::Canvas canvas = blank(5, 4);
  io::draw_text(canvas, 0, -4, 2, "l...", 255);  // its third and fourth rows of dots, two pixels each
  EXPECT_EQ(lines_of(canvas), "....#\n....#\n....#\n....#\n");
}

TEST(SmallFont, HasTheLettersOfCaptions) {
  for (const char letter : std::string("abcdefghijklmnopqrstuvwxyz0123456789.,-+:/=")) {
    io::Canvas canvas = blank(6, 7);
    io::draw_text(canvas, 0, 0, 1, std::string(1, letter), 1);
    EXPECT_NE(lines_of(canvas).find('#'), std::string::npos) << letter;
  }
}

TEST(Png, HasLargerCaptionsBelowALargePicture) {
  const TemporaryFolder folder;
  const io::Picture picture{
      .width = 3, .height = 512, .grey = std::vector<float>(3 * 512), .captions = {"a", "b"}};
  io::write_png({folder / "p.png", io::Content::picture}, {picture}, 0, 1);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&header, (folder / "p.png").c_str()), 0);
  EXPECT_EQ(header.height, 512 + 2 * (2 + 2 * io::letter_height));
  EXPECT_EQ(header.width, 2 * io::letter_width);
  png_image_free(&header);
}

TEST(Png, HasRowsOfPictures) {
  const TemporaryFolder folder;
  const auto picture = [](Index width, Index height, float grey) {
    return io::Picture{width, height, std::vector<float>(static_cast<std::size_t>(width * height), grey)};
  };
  io::write_png({folder / "p.png", io::Content::picture},
                {picture(3, 4, 1), picture(5, 2, 0), picture(20, 6, 1)}, 0, 1, 2);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&header, (folder / "p.png").c_str()), 0);
  EXPECT_EQ(header.width, 20u);
  EXPECT_EQ(header.height, 4u + 8 + 6);
  header.format = PNG_FORMAT_GRAY;
  io::Canvas all = blank(header.width, header.height);
  png_image_finish_read(&header, nullptr, all.grey.data(), 0, nullptr);
  const auto at = [&](Index x, Index y) { return all.grey[static_cast<std::size_t>(y * all.width + x)]; };
  EXPECT_EQ(at(2, 3), 255);   // the first
  EXPECT_EQ(at(3, 0), 128);   // the gap behind it
  EXPECT_EQ(at(11, 1), 0);    // the second
  EXPECT_EQ(at(0, 11), 128);  // the gap between rows
  EXPECT_EQ(at(19, 12), 255);
  EXPECT_EQ(at(0, 17), 255);
}

TEST(Png, HasCaptionsBelowThePicture) {
  const TemporaryFolder folder;
  const io::Picture picture{.width = 3, .height = 2, .grey = {1, 1, 1, 1, 1, 1}, .captions = {"white 1"}};
  io::write_png({folder / "p.png", io::Content::picture}, {picture}, 0, 1);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&header, (folder / "p.png").c_str()), 0);
  header.format = PNG_FORMAT_GRAY;
  const io::Canvas all = [&] {
    io::Canvas canvas = blank(header.width, header.height);
    png_image_finish_read(&header, nullptr, canvas.grey.data(), 0, nullptr);
    return canvas;
  }();
  EXPECT_EQ(all.width, 7 * io::letter_width);
  EXPECT_EQ(all.height, 2 + 2 + io::letter_height);
  io::Canvas wanted = blank(all.width, all.height);
  for (Index y = 0; y < all.height; ++y)
    for (Index x = 0; x < all.width; ++x)
      wanted.grey[static_cast<std::size_t>(y * all.width + x)] = x < 3 && y < 2 ? 255 : 128;
  io::draw_text(wanted, 0, 4, 1, "white 1", 255);
  EXPECT_EQ(all.grey, wanted.grey);
}

}  // namespace
}  // namespace tandem::test
