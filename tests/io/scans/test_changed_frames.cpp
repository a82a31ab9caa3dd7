// Views that are left out, and images that are turned.

#include <algorithm>

#include "../../../io/scans/orientation.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::orientation_of;

TEST(Orientation, IsDoneInTheOrderOfItsWords) {
  EXPECT_EQ(orientation_of("flip-rows"), (io::Orientation{false, true, false}));
  EXPECT_EQ(orientation_of("flip-rows,transpose"), orientation_of("transpose,flip-columns"));
  EXPECT_EQ(orientation_of("transpose,flip-rows,transpose"), orientation_of("flip-columns"));
  EXPECT_EQ(orientation_of("flip-rows,flip-rows"), io::Orientation{});
  for (const char* bad : {"", ",", "flip", "transpose,", "flip-rows flip-columns"})
    EXPECT_FALSE(orientation_of(bad)) << bad;
}

/// Element by element: what numpy calls transpose, flipud and fliplr, one after another.
class OrientedScan : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(OrientedScan, HasTheImagesThatItsWordsMake) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "a.h5");
  using Image = std::vector<std::vector<double>>;
  std::string words;
  for (const std::string& word : GetParam()) words += (words.empty() ? "" : ",") + word;
  io::OpenOptions options;
  options.orientation = orientation_of(words).value();
  const auto reader = io::open_scan(folder / "a.h5", options);
  const Index all_rows = detector_of(reader->info().scan).rows,
              all_bins = detector_of(reader->info().scan).bins;
  std::vector<double> expected, part;
  for (std::size_t v = 0; v < views; ++v) {
    Image image(rows, std::vector<double>(bins));
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t b = 0; b < bins; ++b) image[r][b] = pixel(v, r, b);
    for (const std::string& word : GetParam()) {
      if (word == "flip-rows") std::reverse(image.begin(), image.end());
      if (word == "flip-columns")
        for (auto& row : image) std::reverse(row.begin(), row.end());
      if (word != "transpose") continue;
      Image turned(image[0].size(), std::vector<double>(image.size()));
      for (std::size_t r = 0; r < image.size(); ++r)
        for (std::size_t b = 0; b < image[0].size(); ++b) turned[b][r] = image[r][b];
      image = turned;
    }
    ASSERT_EQ(static_cast<Index>(image.size()), all_rows);
    for (const auto& row : image) expected.insert(expected.end(), row.begin(), row.end());
    for (std::size_t r = 1; r < 3; ++r)
      for (std::size_t b = 0; b < 2; ++b)
        if (v >= 2) part.push_back(image[r][b]);
  }
  EXPECT_EQ(all_of(*reader, FrameKind::projection), expected);
  EXPECT_EQ(values(reader->read(FrameKind::projection, {2, 4}, {1, 3}, {0, 2})), part);
  EXPECT_EQ(reader->read(FrameKind::flat, {0, 1}, {0, all_rows}, {0, all_bins}).shape,
            (Shape{1, all_rows, all_bins}));
}

INSTANTIATE_TEST_SUITE_P(
    All, OrientedScan,
    ::testing::Values(std::vector<std::string>{"transpose"}, std::vector<std::string>{"flip-rows"},
                      std::vector<std::string>{"flip-columns"},
                      std::vector<std::string>{"flip-rows", "flip-columns"},
                      std::vector<std::string>{"transpose", "flip-rows"},
                      std::vector<std::string>{"flip-rows", "transpose"},
                      std::vector<std::string>{"transpose", "flip-rows", "flip-columns"}));

TEST(OrientedScan, TakesItsAxisAlong) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "a.nxs");  // axis 0.75 bins before the middle, bins of 2 and rows of 4 microns
  const auto with = [&](const char* words) {
    io::OpenOptions options;
    options.orientation = orientation_of(words).value();
    return io::open_scan(folder / "a.nxs", options)->info();
  };
  EXPECT_DOUBLE_EQ(with("flip-rows").axis_bin.value(), 1.25);
  EXPECT_DOUBLE_EQ(with("flip-columns").axis_bin.value(), 2.75);
  const io::ScanInfo turned = with("transpose");
  EXPECT_FALSE(turned.axis_bin);
  EXPECT_DOUBLE_EQ(turned.pixel_size_mm.value(), 0.004);
  EXPECT_DOUBLE_EQ(detector_of(turned.scan).row_pitch, 0.002);
}

TEST(ViewStep, TakesEveryOtherViewWithItsAngle) {
  const TemporaryFolder folder;
  write_nxtomo(folder / "a.nxs");
  io::OpenOptions options;
  options.view_step = 2, options.first_view = 1;
  const auto reader = io::open_scan(folder / "a.nxs", options);
  EXPECT_EQ(reader->info().views_stored, 4);
  ASSERT_EQ(angles_of(reader->info().scan).size(), 2u);
  EXPECT_DOUBLE_EQ(angles_of(reader->info().scan)[0],
                   angles_of(io::open_scan(folder / "a.nxs")->info().scan)[1]);
  std::vector<double> expected = frames(1, 1);
  const std::vector<double> last = frames(3, 1);
  expected.insert(expected.end(), last.begin(), last.end());
  EXPECT_EQ(all_of(*reader, FrameKind::projection), expected);
  options.first_view = 4;
  EXPECT_TRUE(says(refusal<GeometryError>([&] { io::open_scan(folder / "a.nxs", options); }),
                   {"view 4 is wanted; there are 4"}));
}

TEST(ViewStep, GoesOnFromFileToFile) {
  const TemporaryFolder folder;
  for (int k = 0; k < 3; ++k) {
    const auto first = static_cast<std::size_t>(3 * k);
    write_edf(folder / ("s_" + std::to_string(k) + ".edf"),
              {frames(first, 1), frames(first + 1, 1), frames(first + 2, 1)});
  }
  const auto reader = io::open_scan(folder.path(), {.arc_deg = 90, .view_step = 4});
  std::vector<double> expected;
  for (const std::size_t view : {0u, 4u, 8u}) {
    const std::vector<double> one = frames(view, 1);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_EQ(all_of(*reader, FrameKind::projection), expected);
}

}  // namespace tandem::test
