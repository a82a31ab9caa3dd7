// Hot pixels: the step alone against rows with planted ones, and from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "../../counts/steps/step.hpp"
#include "../support/test_data.hpp"
#include "program.hpp"

namespace tandem::pipeline {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

RowWork dezinger(const StepValues& values) {
  for (const Step& step : steps())
    if (step.name == "dezinger") return step.on_row(preprocessing_of(values, {0, 100}, 0));
  throw std::runtime_error("the table has no such step");
}

struct Clipped {
  std::vector<float> row;
  Index replaced;
};

Clipped clipped(std::vector<float> row, Index size, double threshold) {
  const Reference reference;
  ViewRow of_view{
      .reference = reference, .row = 0, .counted = {}, .integers = false, .y = {row.data(), row.size()}};
  const Index replaced = dezinger({{"dezinger", size}, {"dezinger:threshold", threshold}})(of_view);
  return {row, replaced};
}

void expect(const Clipped& result, const std::vector<float>& row, Index replaced) {
  EXPECT_EQ(result.replaced, replaced);
  ASSERT_EQ(result.row.size(), row.size());
  for (std::size_t b = 0; b < row.size(); ++b)
    if (std::isnan(row[b]))
      EXPECT_TRUE(std::isnan(result.row[b])) << "bin " << b << ": " << result.row[b];
    else
      EXPECT_EQ(result.row[b], row[b]) << "bin " << b;
}

TEST(Dezinger, HotPixelsBecomeTheMedianOfTheBinsAroundThem) {
  expect(clipped({10, 11, 10, 500, 12, 11, 10}, 3, 100), {10, 11, 10, 12, 12, 11, 10}, 1);
  expect(clipped({13, 11, 10, 500, 12, 14, 10}, 5, 100), {13, 11, 10, 12, 12, 14, 10}, 1);
  expect(clipped({10, 11, -400, 12, 11}, 3, 100), {10, 11, -400, 12, 11}, 0);  // bright ones alone
}

TEST(Dezinger, TheThresholdIsTheLeastThatIsReplaced) {
  expect(clipped({10, 10, 110, 10, 10}, 3, 100), {10, 10, 10, 10, 10}, 1);
  expect(clipped({10, 10, 109.875f, 10, 10}, 3, 100), {10, 10, 109.875f, 10, 10}, 0);
}

TEST(Dezinger, RowsGoOnAsInAMirror) {
  expect(clipped({500, 10, 11, 12, 13, 14, 500}, 3, 100), {10, 10, 11, 12, 13, 14, 14}, 2);
  expect(clipped({500, 10, 11, 12, 13, 400, 11}, 5, 100), {11, 10, 11, 12, 13, 13, 11}, 2);
  // windows wider than the row: 500, 10, 500, 10, 500 and 10, 500, 10, 500, 10
  expect(clipped({500, 10}, 5, 100), {500, 10}, 0);
  expect(clipped({500, 10, 11}, 7, 100), {10, 10, 11}, 1);  // 10, 11, 10, 500, 10, 11, 10
  expect(clipped({500}, 3, 100), {500}, 0);
}

/// Medians are those of the row as it came: a bin that was replaced does not help its neighbour.
TEST(Dezinger, ClustersTakeWindowsOfMoreThanTwiceTheirSize) {
  const std::vector<float> pair{10, 10, 500, 600, 10, 10, 10};
  expect(clipped(pair, 3, 200), pair, 0);
  expect(clipped(pair, 5, 200), std::vector<float>(7, 10), 2);
  expect(clipped({10, 500, 10, 600, 10}, 3, 200), std::vector<float>(5, 10), 2);
  expect(clipped({10, 10, 500, 10, 600, 10, 10}, 5, 200), std::vector<float>(7, 10), 2);
}

TEST(Dezinger, EvenWindowsHaveOneBinMoreBefore) {
  // the third of 40, 30, 500, 20; nothing is hot among 500, 20, 10, 11
  expect(clipped({40, 30, 500, 20, 10, 11}, 4, 100), {40, 30, 40, 20, 10, 11}, 1);
}

TEST(Dezinger, ValuesThatAreNotFiniteStayAndDoNotCount) {
  expect(clipped({10, nan, 500, 12, 11}, 3, 100), {10, nan, 12, 12, 11}, 1);
  expect(clipped({nan, 500, nan, 11, 12}, 3, 100), {nan, 500, nan, 11, 12}, 0);
  expect(clipped({10, infinity, 500, -infinity, 11}, 5, 100), {10, infinity, 11, -infinity, 11}, 1);
  expect(clipped({nan, nan}, 3, 100), {nan, nan}, 0);
}

/// Counts of the file: before darks, flats and binning.
TEST(Dezinger, ComesBeforeAllOtherSteps) {
  EXPECT_EQ(steps().front().name, "dezinger");
  Reference reference;
  reference.rows = 1, reference.bins = 2, reference.rows_together = 2;
  reference.dark = {10, 10}, reference.counts = {1}, reference.flats = true;
  reference.not_finite = {0}, reference.replaced = {0};
  reference.sets = {{{100, 100}, {0, 0}, {0.005f, 0.005f}, {{0.005f, 0.005f}}}};
  io::Frames counts{io::PixelType::uint16, {1, 2, 4}, {}};
  const std::vector<std::uint16_t> pixels{60, 60, 9000, 60, 60, 60, 60, 60};
  counts.bytes.resize(pixels.size() * sizeof(pixels[0]));
  std::memcpy(counts.bytes.data(), pixels.data(), counts.bytes.size());
  const Space space({1, 1, 2}, Blocks::rows);
  for (const bool asked : {false, true}) {
    Findings findings;
    const StepValues values = asked ? StepValues{{"dezinger", Index{3}}} : StepValues{};
    const auto lines = preprocess(counts, reference, preprocessing_of(values, {0, 4}, 1), space, findings);
    EXPECT_FLOAT_EQ(lines.y.data()[0], -std::log(0.5f));
    EXPECT_FLOAT_EQ(lines.y.data()[1], asked ? -std::log(0.5f) : -std::log(22.85f));
    EXPECT_EQ(findings.replaced_by("dezinger"), asked);
  }
}

std::vector<float> numpy_floats(const std::filesystem::path& path) {
  constexpr std::size_t header = 128;  // bytes of the header of these files
  const std::string bytes = test::text_of(path).substr(header);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// The cases along rows of the six cases (threshold, size, axis) of these files: 0.5, 3 and 0.2, 4.
TEST(Dezinger, IsTomopysRemoveOutlier1d) {
  const auto folder = test::test_data() / "vectors";
  if (!exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto input = numpy_floats(folder / "remove_outlier1d_input.npy"),
             output = numpy_floats(folder / "remove_outlier1d_output.npy");
  constexpr std::ptrdiff_t bins = 11, rows = 9 * 7;
  ASSERT_EQ(input.size(), static_cast<std::size_t>(6 * rows * bins));
  Index replaced = 0;
  for (const auto& [number, size, threshold] : {std::tuple(2, 3, 0.5), {4, 4, 0.2}})
    for (std::ptrdiff_t row = number * rows; row < (number + 1) * rows; ++row) {
      const auto [found, count] = clipped({&input[row * bins], &input[row * bins] + bins}, size, threshold);
      replaced += count;
      EXPECT_EQ(found, std::vector<float>(&output[row * bins], &output[row * bins] + bins)) << "row " << row;
    }
  EXPECT_GT(replaced, 100);
}

TEST(Dezinger, FromTheCommandLine) {
  test::Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 30 --photons 1000").code, 0);
  const auto steps_of = [&run](const std::string& options) {
    const test::Ended ended = run("recon scan.h5 -o v.h5 --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["steps"];
  };
  const auto plain = steps_of("");
  EXPECT_NE(plain[0]["name"], "dezinger");
  for (const char* options : {"--dezinger 3", "--dezinger 3:threshold=5000", "--dezinger 5:Threshold=900"})
    EXPECT_EQ(steps_of(options)[0], nlohmann::json({{"name", "dezinger"}, {"replaced", 0}})) << options;
  EXPECT_GT(steps_of("--dezinger 3:threshold=1")[0]["replaced"], 10);
  for (const std::string option :
       {"--dezinger 3:threshold=0", "--dezinger 3:threshold=-5", "--dezinger 0", "--dezinger 1",
        "--dezinger 3.5", "--dezinger 3:threshold=nan", "--dezinger 3:", "--dezinger 3:sign=dark"}) {
    const test::Ended refused = run("recon scan.h5 -o w.h5 " + option);
    EXPECT_EQ(refused.code, 2) << option;
    EXPECT_NE(refused.err.find(option.substr(0, option.find(' '))), std::string::npos) << refused.err;
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  }
}

}  // namespace
}  // namespace tandem::pipeline
