#include "../../counts/preprocess.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "../../core/error.hpp"
#include "../support/memory_reader.hpp"
#include "../support/normalized.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::floats;
using test::frames_of;
using MemoryReader = test::ReferencesInMemory;

Reference reference_of(Index bins, std::vector<float> flat, std::vector<float> dark, Preprocessing how = {}) {
  const Index rows = static_cast<Index>(flat.size()) / bins;
  MemoryReader reader(floats({1, rows, bins}, flat), floats({1, rows, bins}, dark));
  return read_reference(reader, {0, rows}, {0, bins}, how);
}

Space space_of(Index views, Index rows, Index bins) { return Space({views, rows, bins}, Blocks::rows); }

TEST(Preprocess, TakesTheLogarithmOfTransmission) {
  const Reference ref = reference_of(3, {110, 210, 60}, {10, 10, 10});
  Findings findings;
  const auto counts = frames_of<std::uint16_t>(io::PixelType::uint16, {1, 1, 3}, {60, 110, 35});
  const auto result = preprocess(counts, ref, {}, space_of(1, 1, 3), findings);
  for (int b = 0; b < 3; ++b) EXPECT_NEAR(result.y.data()[b], std::log(2.0), tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("minus-log"), 0);
}

TEST(Preprocess, NoiseIsOneOverThePhotonsOfDatumAndFlats) {
  // two flats of 100 net counts at 2 counts a photon: 50 photons a flat; data of 25 and 10 photons
  MemoryReader reader(floats({2, 1, 2}, {110, 110, 110, 110}), floats({1, 1, 2}, {10, 10}));
  const Preprocessing how{0, true, {}, 2.0, true};
  const Reference ref = read_reference(reader, {0, 1}, {0, 2}, how);
  Findings findings;
  const auto result = preprocess(floats({1, 1, 2}, {60, 30}), ref, how, space_of(1, 1, 2), findings);
  const double variance = 1.0 / 25 + 1.0 / 100 + 1.0 / 10 + 1.0 / 100;
  EXPECT_NEAR(result.noise_norms[0], std::sqrt(variance), tolerance::float_rounding);
}

/// p = q + 0.3 q^2 has the slope 1 + 0.6 q, and its tangent from 1 on; norms and weights follow.
TEST(Preprocess, NoiseGrowsAsBeamHardeningIsCorrected) {
  MemoryReader reader(floats({1, 1, 4}, {100, 100, 0, 100}), floats({1, 1, 4}, {0, 0, 0, 0}));
  Preprocessing how =
      preprocessing_of({{"beam-hardening", std::vector<double>{1, 0.3}}, {"beam-hardening:straight", 1.0}},
                       {0, 4}, 0, 1, true);
  const Reference ref = read_reference(reader, {0, 1}, {0, 4}, how);
  const io::Frames counts = floats({1, 1, 4}, {50, 20, 7, 80});
  const auto variance = [](double photons) {
    const double q = std::log(100 / photons), slope = 1 + 0.6 * std::min(q, 1.0);
    return slope * slope * (1 / photons + 0.01);
  };
  Findings findings;
  const std::vector<Range> counted{{0, 3}};
  const LineIntegrals norms = preprocess(counts, ref, how, space_of(1, 1, 4), findings, counted);
  EXPECT_NEAR(norms.noise_norms[0], std::sqrt(variance(50) + variance(20)), tolerance::float_rounding);
  EXPECT_FALSE(norms.weights.has_value());
  how.weights = how.keeps_variances = true;
  const LineIntegrals each = preprocess(counts, ref, how, space_of(1, 1, 4), findings, counted);
  EXPECT_EQ(each.noise_norms, norms.noise_norms);
  EXPECT_NEAR(each.weights->data()[0], variance(50), tolerance::float_rounding);
  EXPECT_NEAR(each.weights->data()[3], variance(80), tolerance::float_rounding);
  EXPECT_EQ(each.weights->data()[2], INFINITY);
}

/// Two views of two rows: 10, 20, 40 and 50 photons in flats without noise of their own.
TEST(Preprocess, NoiseIsThatOfTheBinsThatCount) {
  Reference ref = reference_of(4, std::vector<float>(8, 100), std::vector<float>(8, 0));
  std::ranges::fill(ref.sets[0].variance, 0.0f);
  const Preprocessing how{0, true, {}, 1.0, true};
  const Space space = space_of(2, 2, 4);
  const std::vector<float> photons{10, 20, 40, 50, 10, 20, 40, 50, 10, 20, 40, 50, 10, 20, 40, 50};
  const auto norms = [&](std::span<const Range> counted) {
    Findings findings;
    return preprocess(floats({2, 2, 4}, photons), ref, how, space, findings, counted).noise_norms;
  };
  const double all = std::sqrt(2 * (0.1 + 0.05 + 0.025 + 0.02));
  for (const double norm : norms({})) EXPECT_NEAR(norm, all, tolerance::float_rounding);
  const std::vector<Range> some{{1, 3}, {4, 4}};
  EXPECT_NEAR(norms(some)[0], std::sqrt(2 * (0.05 + 0.025)), tolerance::float_rounding);
  EXPECT_EQ(norms(some)[1], 0);
}

TEST(Preprocess, DeadCellsBecomeTheirNeighboursValues) {
  const Reference ref = reference_of(5, {0, 1, 1, 0, 1}, {0, 0, 0, 0, 0});
  EXPECT_EQ(ref.dead, 2);
  Findings findings;
  const float e1 = std::exp(-1.0f), e3 = std::exp(-3.0f);
  const auto result =
      preprocess(floats({1, 1, 5}, {7, e1, e1, NAN, e3}), ref, {}, space_of(1, 1, 5), findings);
  const double expected[] = {1, 1, 1, 2, 3};
  for (int b = 0; b < 5; ++b) EXPECT_NEAR(result.y.data()[b], expected[b], 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.dead, 2);
}

TEST(Preprocess, NonFinitePixelsBecomeTheMeanOfGoodNeighbours) {
  const Reference ref = reference_of(4, {1, 1, 1, 1}, {0, 0, 0, 0});
  Findings findings;
  const auto result = preprocess(floats({2, 1, 4}, {0.5f, NAN, 0.25f, INFINITY, -INFINITY, 0.5f, 0.5f, 0.5f}),
                                 ref, {}, space_of(2, 1, 4), findings);
  EXPECT_EQ(findings.replaced_by("not-finite"), 3);
  EXPECT_NEAR(result.y.data()[1], -std::log(0.375), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[3], -std::log(0.25), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[4], -std::log(0.5), tolerance::float_rounding);
}

TEST(Preprocess, FloorIsHalfACountForIntegers) {
  const Reference ref = reference_of(2, {1000, 1000}, {0, 0});
  Findings findings;
  const auto counts = frames_of<std::uint16_t>(io::PixelType::uint16, {1, 1, 2}, {0, 1});
  const auto result = preprocess(counts, ref, {}, space_of(1, 1, 2), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(2000.0), 10 * tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(1000.0), 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("minus-log"), 1);
}

TEST(Preprocess, TypesOfTheSameCountsMakeTheSameBits) {
  const std::vector<std::uint16_t> integers{0, 1, 7, 0, 900, 1000};
  const std::vector<float> reals(integers.begin(), integers.end());
  const Reference ref = reference_of(3, {1000.5f, 900, 3}, {0.25f, 2, 1});  // a weak cell beside good ones
  const Preprocessing how{0, true, {}, 1, true};
  Findings first, second;
  const auto a =
      preprocess(frames_of(io::PixelType::uint16, {2, 1, 3}, integers), ref, how, space_of(2, 1, 3), first);
  const auto b = preprocess(floats({2, 1, 3}, reals), ref, how, space_of(2, 1, 3), second);
  EXPECT_EQ(std::memcmp(a.y.data(), b.y.data(), 6 * sizeof(float)), 0);
  EXPECT_EQ(a.noise_norms, b.noise_norms);
  EXPECT_EQ(first.replaced_by("minus-log"), 3);
  EXPECT_EQ(second.replaced_by("minus-log"), 3);
  EXPECT_EQ(first.floor.lowest, second.floor.lowest);
  EXPECT_NEAR(b.y.data()[0], std::log(2 * 1000.25), 10 * tolerance::float_rounding);
  EXPECT_FLOAT_EQ(second.floor.lowest, 0.5f / 1000.25f);
  EXPECT_FLOAT_EQ(second.floor.highest, 0.25f);
}

TEST(Preprocess, FloorOfTransmissionsIsAMillionth) {
  const Reference ref = reference_of(4, {1, 1.05f, 0.95f, 1}, {0, 0, 0, 0});
  Findings findings;
  const auto result =
      preprocess(floats({1, 1, 4}, {0, -0.1f, 0.95e-5f, 1}), ref, {}, space_of(1, 1, 4), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(1e6), 20 * tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(1e6), 20 * tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[2], std::log(1e5), 20 * tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("minus-log"), 2);
  EXPECT_EQ(findings.floor.lowest, 1e-6f);
}

TEST(Preprocess, OnlyFiniteFramesCountInAMean) {
  MemoryReader reader(floats({3, 2, 2}, {100, 100, 60, 60, NAN, NAN, 80, 80, 120, 104, INFINITY, 100}),
                      floats({2, 2, 2}, {10, NAN, 10, 10, 10, 2, 10, 10}));
  const Reference ref = read_reference(reader, {0, 2}, {0, 2}, {});
  const float spans[] = {100, 100, 60, 70};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ref.sets[0].span[i], spans[i]);
  EXPECT_EQ(ref.not_finite, (std::vector<Index>{3, 1}));
  EXPECT_EQ(ref.dead, 0);
}

TEST(Preprocess, CellsWithoutAFiniteFrameAreDead) {
  MemoryReader reader(floats({2, 1, 5}, {NAN, 10, 10, 10, 10, NAN, 10, 10, 10, 10}),
                      floats({1, 1, 5}, {0, 0, NAN, 0, 0}));
  const Reference ref = read_reference(reader, {0, 1}, {0, 5}, {});
  EXPECT_EQ(ref.dead, 2);
  Findings findings;
  const auto result =
      preprocess(floats({1, 1, 5}, {3, 10, 7, 2.5f, 5}), ref, {}, space_of(1, 1, 5), findings);
  const double expected[] = {0, 0, std::log(2.0), std::log(4.0), std::log(2.0)};
  for (int b = 0; b < 5; ++b) EXPECT_NEAR(result.y.data()[b], expected[b], 10 * tolerance::float_rounding);
  // without flats a dark alone may say so; binned, one such pixel spoils its cell
  MemoryReader dark(floats({0, 1, 4}, {}), floats({1, 1, 4}, {0, NAN, 0, 0}));
  EXPECT_EQ(read_reference(dark, {0, 1}, {0, 4}, {0, true, {Range{2, 3}}, 1}).dead, 1);
  EXPECT_EQ(read_reference(dark, {0, 1}, {0, 4}, {1, true, {Range{1, 2}}, 1}).dead, 1);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const FileError& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(Preprocess, RefusesRowsThatNothingCanFill) {
  MemoryReader dead(floats({1, 2, 2}, {9, 9, NAN, 1}), floats({1, 2, 2}, {1, 1, 1, 1}));
  EXPECT_NE(refusal([&] { read_reference(dead, {40, 42}, {0, 2}, {}); }).find("row 41"), std::string::npos);
  MemoryReader good(floats({1, 2, 2}, {9, 9, 9, 9}), floats({1, 2, 2}, {1, 1, 1, 1}));
  const Reference ref = read_reference(good, {40, 42}, {0, 2}, {});
  const auto lost = [&] {
    Findings findings;
    preprocess(floats({2, 2, 2}, {2, 2, NAN, NAN, 2, 2, NAN, NAN}), ref, {}, space_of(2, 2, 2), findings);
  };
  EXPECT_NE(refusal(lost).find("row 41 has no finite pixel"), std::string::npos) << refusal(lost);
}

TEST(Preprocess, RefusesLineIntegralsThatAreNotFinite) {
  const Reference ref = reference_of(2, {1e-40f, 1e-40f}, {0, 0});
  const auto act = [&] {
    Findings findings;
    preprocess(floats({1, 1, 2}, {1, 1}), ref, {}, space_of(1, 1, 2), findings);
  };
  EXPECT_NE(refusal(act).find("view 0, row 0"), std::string::npos) << refusal(act);
}

TEST(Preprocess, OneRowAloneIsBinnedAlongItsBins) {
  const Preprocessing how{1, true, {}, 1, true};
  const Reference ref = reference_of(5, {10, 30, 20, 20, 9}, std::vector<float>(5, 0.0f), how);
  EXPECT_EQ(ref.rows, 1);
  EXPECT_EQ(ref.bins, 2);
  Findings findings;
  const auto result =
      preprocess(floats({1, 1, 5}, {10, 10, 20, 0, 9}), ref, how, space_of(1, 1, 2), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(2.0), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(2.0), tolerance::float_rounding);
  // two cells: 20 photons each, 40 in each flat
  EXPECT_NEAR(result.noise_norms[0], std::sqrt(2.0 / 20 + 2.0 / 40), tolerance::float_rounding);
}

/// The beam falls to a half in the second view, and flats have a slope.
TEST(Preprocess, AirColumnsAfterFlatsTakeTheBeamsDriftAway) {
  MemoryReader reader(floats({1, 1, 4}, {110, 210, 410, 810}), floats({1, 1, 4}, {10, 10, 10, 10}));
  const Preprocessing how{0, true, {Range{0, 2}}, 1, true};
  const Reference ref = read_reference(reader, {0, 1}, {0, 4}, how);
  Findings findings;
  const auto counts =
      frames_of<std::uint16_t>(io::PixelType::uint16, {2, 1, 4}, {110, 210, 210, 10, 60, 110, 110, 210});
  const auto result = preprocess(counts, ref, how, space_of(2, 1, 4), findings);
  const double half = std::log(2.0), expected[] = {0, 0, half, std::log(1600.0), 0, 0, half, half};
  for (int b = 0; b < 8; ++b) EXPECT_NEAR(result.y.data()[b], expected[b], 20 * tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("minus-log"), 1);
  EXPECT_FLOAT_EQ(findings.floor.highest, 0.5f / 50);  // floor of the first cell in the weaker beam
  // photons of the data, the flats' own, and twice the variance of the air's mean, in every datum
  const double data = 1.0 / 100 + 1.0 / 200 + 1.0 / 200 + 1.0 / 0.5 + 1.0 / 50 + 1.0 / 100 + 1.0 / 100 +
                      1.0 / 200,
               flats = 2 * (1.0 / 100 + 1.0 / 200 + 1.0 / 400 + 1.0 / 800),
               air = 4 * (1.0 / 100 + 1.0 / 200) / 4 + 4 * (0.5 / 100 + 0.5 / 200) / 1;
  EXPECT_NEAR(result.noise_norms[0], std::sqrt(data + flats + air), 1e-6);
}

/// One margin has a level, and two have a line between their middles.
TEST(Preprocess, AirColumnsAreTakenFromLineIntegrals) {
  const auto lines = [](std::vector<Range> margins) {
    const Preprocessing how{0, false, std::move(margins), 1, true};
    MemoryReader reader(floats({0, 1, 6}, {}), floats({0, 1, 6}, {}));
    Findings findings;
    const auto result =
        preprocess(floats({2, 1, 6}, {-1, 2, 7, 7, 4, 5, 0, 0, 3, 3, 0, 0}),
                   read_reference(reader, {0, 1}, {0, 6}, how), how, space_of(2, 1, 6), findings);
    return std::vector<float>(result.y.data(), result.y.data() + 12);
  };
  EXPECT_EQ(lines({{0, 2}}), (std::vector<float>{-1.5f, 1.5f, 6.5f, 6.5f, 3.5f, 4.5f, 0, 0, 3, 3, 0, 0}));
  EXPECT_EQ(lines({{0, 2}, {4, 6}}), (std::vector<float>{-1, 1, 5, 4, 0, 0, 0, 0, 3, 3, 0, 0}));
}

TEST(Preprocess, RefusesAirThatIsDark) {
  MemoryReader reader(floats({0, 1, 3}, {}), floats({1, 1, 3}, {10, 10, 10}));
  const Preprocessing how{0, true, {Range{0, 1}}, 1};
  const Reference ref = read_reference(reader, {0, 1}, {0, 3}, how);
  const auto act = [&] {
    Findings findings;
    preprocess(floats({1, 1, 3}, {10, 60, 60}), ref, how, space_of(1, 1, 3), findings);
  };
  EXPECT_NE(refusal(act).find("air-columns"), std::string::npos) << refusal(act);
}

TEST(Preprocess, BinningAveragesCountsAndFlats) {
  const Preprocessing how{1, true, {}, 1};
  const Reference ref = reference_of(5, {1, 3, 2, 2, 9, 1, 3, 2, 2, 9}, std::vector<float>(10, 0.0f), how);
  EXPECT_EQ(ref.bins, 2);
  EXPECT_EQ(ref.rows, 1);
  Findings findings;
  const auto result =
      preprocess(floats({1, 2, 5}, {1, 1, 2, 0, 9, 1, 1, 1, 1, 9}), ref, how, space_of(1, 1, 2), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(2.0), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(2.0), tolerance::float_rounding);
}

TEST(Preprocess, AirColumnsTakeThePlaceOfFlats) {
  MemoryReader reader(floats({0, 1, 4}, {}), floats({1, 1, 4}, {10, 10, 10, 10}));
  const Preprocessing how{0, true, {Range{0, 2}}, 1};
  const Reference ref = read_reference(reader, {0, 1}, {0, 4}, how);
  Findings findings;
  const auto counts =
      frames_of<std::uint16_t>(io::PixelType::uint16, {2, 1, 4}, {100, 120, 60, 10, 210, 210, 110, 35});
  const auto result = preprocess(counts, ref, how, space_of(2, 1, 4), findings);
  EXPECT_NEAR(result.y.data()[2], std::log(2.0), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[3], std::log(200.0), 10 * tolerance::float_rounding);  // half a count of 100
  EXPECT_NEAR(result.y.data()[7], std::log(8.0), 10 * tolerance::float_rounding);
}

TEST(Preprocess, AirColumnsMustLieWithinWhatIsRead) {
  using Ranges = std::vector<Range>;
  const ColumnsOption air{"air ", "columns of air"};
  EXPECT_EQ(columns_within(air, {Range{10, 20}}, {8, 100}, 0), (Ranges{{2, 12}}));
  EXPECT_EQ(columns_within(air, {Range{11, 21}}, {8, 100}, 1), (Ranges{{2, 6}}));
  EXPECT_EQ(columns_within(air, {Range{10, 20}, Range{90, 100}}, {8, 100}, 1), (Ranges{{1, 6}, {41, 46}}));
  EXPECT_TRUE(columns_within(air, {}, {8, 100}, 1).empty());
  EXPECT_THROW(columns_within(air, {Range{5, 20}}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(columns_within(air, {Range{90, 101}}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(columns_within(air, {Range{9, 11}}, {8, 100}, 3), GeometryError);
  EXPECT_THROW(columns_within(air, {Range{10, 20}, Range{90, 101}}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(columns_within(air, {Range{10, 20}, Range{19, 30}}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(columns_within(air, {Range{40, 50}, Range{10, 20}}, {8, 100}, 0), GeometryError);
}

/// The beam rises along the row, by another slope in each view, on top of flats; one cell of a margin is
/// dead.
TEST(Preprocess, TwoMarginsOfAirAreALine) {
  const std::vector<float> flat{200, 100, 0, 100, 400, 100, 100};
  MemoryReader reader(floats({1, 1, 7}, flat), floats({0, 1, 7}, {}));
  const Preprocessing how{0, true, {Range{0, 3}, Range{6, 7}}, 1, true};
  const Reference ref = read_reference(reader, {0, 1}, {0, 7}, how);
  Findings findings;
  std::vector<float> counts;
  for (const float slope : {0.1f, -0.05f})
    for (std::size_t b = 0; b < flat.size(); ++b)
      counts.push_back(flat[b] * (1 + slope * static_cast<float>(b)) * (b == 4 ? 0.25f : 1));
  const auto result = preprocess(floats({2, 1, 7}, counts), ref, how, space_of(2, 1, 7), findings);
  for (int b = 0; b < 14; ++b)
    EXPECT_NEAR(result.y.data()[b], b % 7 == 4 ? std::log(4.0) : 0, 10 * tolerance::float_rounding) << b;
}

TEST(Preprocess, RefusesALineOfAirThatComesDownToNothing) {
  MemoryReader reader(floats({0, 1, 5}, {}), floats({0, 1, 5}, {}));
  const Preprocessing how{0, true, {Range{0, 1}, Range{2, 3}}, 1};
  const Reference ref = read_reference(reader, {0, 1}, {0, 5}, how);
  const auto act = [&] {
    Findings findings;
    preprocess(floats({1, 1, 5}, {100, 80, 50, 60, 60}), ref, how, space_of(1, 1, 5), findings);
  };
  EXPECT_NE(refusal(act).find("not above 0"), std::string::npos) << refusal(act);
}

TEST(Preprocess, AirOfBothSidesIsThatOfTomopy) {
  if (!exists(test::vectors_folder())) GTEST_SKIP() << test::vectors_folder() << " is not there";
  test::expect_tomopys_normalize_bg(test::on_the_cpu);
}

/// Each view takes its rows from the places where they are, by linear interpolation between rows.
TEST(Preprocess, RowsOfViewsAreMovedBack) {
  MemoryReader reader(floats({0, 1, 2}, {}), floats({0, 1, 2}, {}));
  Preprocessing how{0, false};
  how.row_shifts = {7, 0, 1, -0.25};  // shifts of the views of the file; the first one is not read
  const Reference ref = read_reference(reader, {0, 4}, {0, 2}, how);
  Findings findings;
  std::vector<float> views;
  for (int v = 0; v < 3; ++v) views.insert(views.end(), {0, 1, 4, 5, 8, 9, 16, 17});
  io::Frames some = floats({3, 4, 2}, views);
  some.first = 1;
  const auto result = preprocess(some, ref, how, space_of(3, 4, 2), findings);
  const std::vector<float> expected{0, 1, 4, 5, 8,  9,  16, 17,   // as it is
                                    4, 5, 8, 9, 16, 17, 16, 17,   // one row lower, the last one again
                                    0, 1, 3, 4, 7,  8,  14, 15};  // a quarter of a row higher
  EXPECT_EQ((std::vector<float>(result.y.data(), result.y.data() + 24)), expected);
}

TEST(Preprocess, RowsWithoutAFinitePixelBecomeTheirNeighbouringViews) {
  const Reference ref = reference_of(2, {1, 1}, {0, 0});
  Findings findings;
  const float e1 = std::exp(-1.0f), e3 = std::exp(-3.0f);
  const auto result = preprocess(floats({5, 1, 2}, {NAN, NAN, e1, e1, NAN, NAN, NAN, NAN, e3, e3}), ref, {},
                                 space_of(5, 1, 2), findings);
  const double expected[] = {1, 1, 2, 2, 3};
  for (int v = 0; v < 5; ++v)
    EXPECT_NEAR(result.y.data()[2 * v], expected[v], 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("not-finite"), 6);
}

TEST(Preprocess, CountsPixelsOfFlatsThatAreNotFinite) {
  const Reference ref = reference_of(3, {2, NAN, 4}, {0, 0, INFINITY});
  EXPECT_EQ(ref.not_finite, std::vector<Index>{2});
}

TEST(Preprocess, LineIntegralsPassUnchanged) {
  MemoryReader reader(floats({0, 1, 3}, {}), floats({0, 1, 3}, {}));
  const Preprocessing how{0, false, {}, 1};
  Findings findings;
  const auto result =
      preprocess(floats({1, 1, 3}, {-0.5f, 0, 7}), read_reference(reader, {0, 1}, {0, 3}, how), how,
                 space_of(1, 1, 3), findings);
  EXPECT_EQ(result.y.data()[0], -0.5f);
  EXPECT_EQ(result.y.data()[2], 7.0f);
}

TEST(Preprocess, RefusesCountsWithoutFlats) {
  io::ScanInfo info;
  EXPECT_THROW(require_reference(info, {}, false), FileError);
  EXPECT_NO_THROW(require_reference(info, {0, false, {}, 1}, false));
  EXPECT_NO_THROW(require_reference(info, {0, true, {Range{0, 2}}, 1}, false));
  EXPECT_THROW(require_reference(info, {0, true, {Range{0, 2}}, 1}, true), FileError);
  info.flats = 3;
  EXPECT_NO_THROW(require_reference(info, {0, true, {Range{0, 2}}, 1}, true));
}

}  // namespace
}  // namespace tandem::pipeline
