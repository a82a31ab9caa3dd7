// Zingers, bad cells and saturation, against arrays of others and against planted faults.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>

#include "../../core/random.hpp"
#include "../../counts/bad_cells.hpp"
#include "../../counts/steps/median_fill.hpp"
#include "../../counts/steps/step.hpp"
#include "../support/memory_reader.hpp"
#include "../support/npy.hpp"
#include "../support/outliers.hpp"
#include "../support/test_data.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::floats;
using test::ReferencesInMemory;

const std::filesystem::path vectors = test::test_data() / "vectors";

Image<float> image_of(std::vector<float>& data, Shape n) {
  return {data.data(), n[0], n[1], n[2], n[1] * n[2], n[2]};
}

/// All frames of a stack through the filter.
std::vector<float> dezingered(std::vector<float> data, Shape n, const std::string& window, Index size,
                              double threshold, bool both, Index* replaced = nullptr) {
  const StepValues values{{"dezinger", size},
                          {"dezinger:threshold", threshold},
                          {"dezinger:window", window},
                          {"dezinger:sign", both ? "both" : "bright"}};
  std::vector<Index> counts(static_cast<std::size_t>(n[1]), 0);
  const auto step =
      std::ranges::find(steps(), window == "row" ? "dezinger" : "dezinger-" + window, &Step::name);
  step->on_references({.values = values})(image_of(data, n), counts);
  if (replaced) *replaced = std::accumulate(counts.begin(), counts.end(), Index{0});
  return data;
}

std::vector<float> dezingered_here(const std::vector<float>& frames, Shape n, const std::string& window,
                                   const std::string& sign, Index size, double threshold) {
  return dezingered(frames, n, window, size, threshold, sign == "both");
}

TEST(Dezinger, IsTomopysRemoveOutlier) {
  if (!exists(vectors)) GTEST_SKIP() << vectors << " is not there";
  test::expect_tomopys_outliers(dezingered_here);
}

TEST(Dezinger, OfCubesIsTomopysMedianAndRemoveOutlier3d) {
  if (!exists(vectors)) GTEST_SKIP() << vectors << " is not there";
  test::expect_tomopys_medians(dezingered_here);
}

/// Values that are not finite are treated in images as in rows.
TEST(Dezinger, OfCubesLeavesOutWhatIsNotFinite) {
  std::vector<float> data(27, 10);
  data[13] = 500, data[4] = NAN, data[22] = INFINITY;
  const std::vector<float> found = dezingered(data, {3, 3, 3}, "cube", 3, 100, true);
  EXPECT_EQ(found[13], 10);
  EXPECT_TRUE(std::isnan(found[4]));
  EXPECT_TRUE(std::isinf(found[22]));
}

float normal(Random& random) {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += random.uniform();
  return static_cast<float>(sum);
}

/// 0.1 % zingers of 3000 to 30000 on counts of 20000 with photon noise: nearly all are found, nearly nothing
/// else is.
TEST(Dezinger, FindsZingersAndLittleElse) {
  const Shape n{24, 40, 250};
  const auto size = static_cast<std::size_t>(n[0] * n[1] * n[2]);
  Random random(11);
  std::vector<float> clean(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double bin = static_cast<double>(i % 250), mean = 12000 + 8000 * std::cos(bin / 40);
    clean[i] = static_cast<float>(std::round(mean + std::sqrt(mean) * normal(random)));
  }
  std::vector<float> hit = clean;
  std::vector<bool> is_zinger(size, false);
  for (int k = 0; k < 240; ++k) {
    const auto at = static_cast<std::size_t>(random.uniform() * static_cast<double>(size));
    if (!is_zinger[at]) hit[at] += static_cast<float>(3000 + 27000 * random.uniform());
    is_zinger[at] = true;
  }
  for (const auto window : {"projection", "cube"}) {
    const std::vector<float> found = dezingered(hit, n, window, 3, 1500, false);
    Index missed = 0, false_ones = 0;
    for (std::size_t i = 0; i < size; ++i) {
      missed += is_zinger[i] && found[i] == hit[i];
      false_ones += !is_zinger[i] && found[i] != hit[i];
    }
    EXPECT_EQ(missed, 0);      // out of 240: 99.9 %
    EXPECT_LE(false_ones, 2);  // out of 240 000: 1e-5
  }
}

/// Views beside each other in a cube, rows beyond a chunk, and flats and darks too.
TEST(Dezinger, WorksOnViewsAsOnFlats) {
  const Shape n{5, 6, 9};
  Random random(5);
  std::vector<float> views(270);
  for (float& v : views) v = 100 + 5 * normal(random);
  views[140] = 900, views[7] = 800, views[269] = 700;
  std::vector<float> flats(2 * 54, 200), darks(54, 0);
  flats[60] = 5000, darks[30] = 3000;
  const StepValues values{{"dezinger", Index{3}},
                          {"dezinger:threshold", 300.0},
                          {"dezinger:window", "cube"},
                          {"minus-log", false}};
  ReferencesInMemory reader(floats({2, 6, 9}, flats), floats({1, 6, 9}, darks));
  const Preprocessing how = preprocessing_of(values, {0, 9}, 0);
  const Reference reference = read_reference(reader, {0, 6}, {0, 9}, how);
  EXPECT_EQ(std::accumulate(reference.replaced.begin(), reference.replaced.end(), Index{0}), 2);
  for (const float span : reference.sets[0].span) EXPECT_EQ(span, 200);
  Findings findings;
  const LineIntegrals lines = preprocess(floats(n, views), reference, how, Space(n, Blocks::rows), findings);
  EXPECT_EQ(findings.replaced_by("dezinger-cube"), 3);
  EXPECT_EQ(findings.reference_replaced, 2);
  const std::vector<float> due = dezingered(views, n, "cube", 3, 300, false);
  for (std::size_t i = 0; i < due.size(); ++i) EXPECT_FLOAT_EQ(lines.y.data()[i], due[i] / 200) << i;
}

TEST(MedianFill, IsTomopysMedianFilterNonfinite) {
  if (!exists(vectors)) GTEST_SKIP() << vectors << " is not there";
  const auto input = test::read_npy(vectors / "median_nonfinite_input.npy");
  const std::vector<float> out = test::read_npy(vectors / "median_nonfinite_output.npy").floats();
  const Index rows = 18, bins = 22, frame = rows * bins;
  std::vector<float> in = input.floats();
  ASSERT_EQ(in.size(), out.size());
  Index filled = 0;
  for (Index f = 0; f < 8; ++f) {
    float* first = in.data() + f * frame;
    std::vector<Pixel> marks;
    for (Index i = 0; i < frame; ++i) marks.push_back(std::isfinite(first[i]) ? Pixel::good : Pixel::bad);
    const auto counts = median_fill({first, 1, rows, bins, frame, bins}, marks, {.first = f < 4 ? 3 : 5});
    filled += std::accumulate(counts.begin(), counts.end(), Index{0});
  }
  EXPECT_EQ(in, out);
  EXPECT_GT(filled, 20);
}

TEST(MedianFill, GrowsItsWindowUntilItFindsGoodPixels) {
  std::vector<float> data(7 * 7, NAN);
  std::vector<Pixel> marks(49, Pixel::bad);
  data[0] = 3, marks[0] = Pixel::good;
  data[6] = 5, marks[6] = Pixel::good;
  data[1] = 77, marks[1] = Pixel::unknown;
  const auto counts = median_fill({data.data(), 1, 7, 7, 49, 7}, marks, {.first = 3, .last = 7});
  EXPECT_EQ(data[8], 3);   // in 3 x 3
  EXPECT_EQ(data[16], 3);  // in 5 x 5
  EXPECT_EQ(data[3], 4);   // between both, in 7 x 7
  EXPECT_EQ(data[24], 4);
  EXPECT_TRUE(std::isnan(data[48]));
  EXPECT_EQ(marks[48], Pixel::bad);
  EXPECT_EQ(data[1], 77);
  EXPECT_EQ(counts[6], 0);
}

TEST(BadCells, AreThoseThatWerePlanted) {
  const Index rows = 12, bins = 60;
  Random random(2);
  std::vector<float> dark, span;
  std::vector<char> constant(static_cast<std::size_t>(rows * bins), 0);
  for (Index i = 0; i < rows * bins; ++i) {
    dark.push_back(100 + 2 * normal(random));
    span.push_back(static_cast<float>(20000 - 100 * (i % bins)) + 40 * normal(random));
  }
  std::vector<char> due(dark.size(), 0);
  const auto plant = [&](Index row, Index bin) {
    due[static_cast<std::size_t>(row * bins + bin)] = 1;
    return static_cast<std::size_t>(row * bins + bin);
  };
  dark[plant(0, 0)] = 900;
  dark[plant(11, 30)] = 30000;
  span[plant(5, 59)] = 100;
  span[plant(5, 20)] = -5;
  constant[plant(7, 44)] = 1;
  dark[static_cast<std::size_t>(3 * bins + 3)] = 140;  // far from the others, and 0.2 % of the flat: no harm
  EXPECT_EQ(bad_cells({rows, bins, dark, span, constant}), due);
  std::fill_n(constant.begin(), 60, 1);  // a row that is constant tells nothing
  EXPECT_EQ(bad_cells({rows, bins, dark, span, constant}), due);
  EXPECT_EQ(bad_cells({rows, bins, {}, {}, {}}), std::vector<char>(due.size(), 0));
  const std::vector<float> ones(due.size(), 1), zeros(due.size(), 0);
  EXPECT_EQ(bad_cells({rows, bins, zeros, ones, std::vector<char>(due.size(), 1)}),
            std::vector<char>(due.size(), 0));  // a scan without noise
}

TEST(BadCells, AreConstantInAllFlats) {
  const auto of = [](const std::vector<float>& flats) {
    return constant_cells(floats({static_cast<Index>(flats.size()) / 3, 1, 3}, flats));
  };
  EXPECT_EQ(of({1, 2, 3, 1, 2, 4, 1, 5, 3}), (std::vector<char>{1, 0, 0}));
  EXPECT_TRUE(of({1, 2, 3, 1, 2, 3}).empty());  // two frames agree by chance
}

/// Two stuck columns beside each other and one cell at the edge: 3 x 3 cells around are good.
TEST(RepairCells, GivesTheMedianOfTheCellsAround) {
  const Index rows = 5, bins = 8;
  std::vector<float> flats, views;
  for (int f = 0; f < 4; ++f)
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b)
        flats.push_back(b == 4 ? 700 : static_cast<float>(1000 + (f * 7 + r + b) % 5));
  for (Index r = 0; r < rows; ++r)
    for (Index b = 0; b < bins; ++b) views.push_back(b == 4 ? 700 : 500);
  ReferencesInMemory reader(floats({4, rows, bins}, flats), floats({0, rows, bins}, {}));
  const Preprocessing how = preprocessing_of({{"repair-cells", true}}, {0, bins}, 0);
  const Reference reference = read_reference(reader, {0, rows}, {0, bins}, how);
  EXPECT_EQ(reference.dead, rows);
  Findings findings;
  const LineIntegrals lines = preprocess(floats({1, rows, bins}, views), reference, how,
                                         Space({1, rows, bins}, Blocks::rows), findings);
  EXPECT_EQ(findings.replaced_by("repair-cells"), rows);
  EXPECT_EQ(findings.replaced_by("dead-cells"), 0);
  for (Index i = 0; i < rows * bins; ++i) EXPECT_NEAR(lines.y.data()[i], std::log(2.0), 5e-3) << i;
}

TEST(Saturation, IsCountedAtTheTopOfTheTypeOrWhereTheUserSays) {
  ReferencesInMemory reader(floats({1, 1, 4}, {60000, 60000, 60000, 60000}), floats({0, 1, 4}, {}));
  const auto found = [&](const io::Frames& views, const StepValues& values) {
    const Preprocessing how = preprocessing_of(values, {0, 4}, 0);
    const Reference reference = read_reference(reader, {0, 1}, {0, 4}, how);
    Findings findings;
    preprocess(views, reference, how, Space({1, 1, 4}, Blocks::rows), findings);
    return findings.replaced_by("saturation");
  };
  const auto shorts =
      test::frames_of<std::uint16_t>(io::PixelType::uint16, {1, 1, 4}, {65535, 65534, 65535, 7});
  const auto bytes = test::frames_of<std::uint8_t>(io::PixelType::uint8, {1, 1, 4}, {255, 254, 1, 7});
  EXPECT_EQ(found(shorts, {}), 2);
  EXPECT_EQ(found(bytes, {}), 1);
  EXPECT_EQ(found(shorts, {{"saturation", 65534.0}}), 3);
  EXPECT_EQ(found(bytes, {{"saturation", 7.0}}), 3);
  EXPECT_EQ(found(floats({1, 1, 4}, {65535, 1e30f, 255, 7}), {}), 0);
  EXPECT_EQ(found(floats({1, 1, 4}, {65535, 1e30f, 255, 7}), {{"saturation", 300.0}}), 2);
}

/// Three columns are left over when 4 x 4 pixels become a cell. They have a zinger, which is a full pixel
/// too, and pixels that are not finite, in views and flats.
TEST(Repairs, CountNothingInBinsThatMakeNoCell) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Shape n{3, 4, 7};
  const auto frame = [](float used, float last) {
    std::vector<float> all{used, used, used, last, used, 900, used};
    for (int row = 1; row < 4; ++row) all.insert(all.end(), {used, used, used, used, used, used, nan});
    return all;
  };
  std::vector<float> views;
  for (int view = 0; view < 3; ++view) std::ranges::copy(frame(100, nan), std::back_inserter(views));
  for (const char* window : {"", "row", "projection", "cube"}) {
    StepValues values{{"saturation", 500.0}};
    if (*window)
      values.insert({{"dezinger", Index{3}}, {"dezinger:threshold", 300.0}, {"dezinger:window", window}});
    const Preprocessing how = preprocessing_of(values, {0, 7}, 2);
    ReferencesInMemory reader(floats({1, 4, 7}, frame(200, 200)), floats({0, 4, 7}, {}));
    const Reference reference = read_reference(reader, {0, 4}, {0, 7}, how);
    EXPECT_EQ(reference.not_finite, std::vector<Index>{0}) << window;
    EXPECT_EQ(reference.replaced, std::vector<Index>{0}) << window;
    Findings findings;
    const Array y = preprocess(floats(n, views), reference, how, Space({3, 1, 1}, Blocks::rows), findings).y;
    for (Index i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y.data()[i], std::log(2.0f)) << window;
    for (const Findings::OfStep& done : findings.steps)
      EXPECT_EQ(done.replaced, done.name == "not-finite" ? 3 : 0) << window << ' ' << done.name;
  }
}

}  // namespace
}  // namespace tandem::pipeline
