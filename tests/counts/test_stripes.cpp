// Removal of stripes as a step: edges, options, bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../counts/steps/stripes/banded.hpp"
#include "../../counts/steps/stripes/columns.hpp"
#include "../../counts/steps/stripes/slow.hpp"
#include "../../kernels/spectra.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/stripes.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline::stripes {
namespace {

using test::without_stripes;

Plane noise_around_one(Index views, Index bins) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Plane plane(views, bins);
  for (Index b = 0; b < bins; ++b) {
    const double gain = 1 + 0.05 * normal(random) + (b % 17 == 3 ? 0.4 : 0);
    for (Index view = 0; view < views; ++view)
      plane(view, b) = static_cast<float>(gain * (1 + 0.01 * normal(random)));
  }
  return plane;
}

TEST(Stripes, OfSmallSinogramsGiveFiniteValues) {
  for (const Method& method : methods())
    for (const auto& [views, bins] :
         {std::pair<Index, Index>{1, 40}, {40, 1}, {1, 1}, {2, 3}, {5, 4}, {7, 40}, {33, 8}}) {
      const Plane result = without_stripes(noise_around_one(views, bins), method.name);
      ASSERT_EQ(result.rows, views) << method.name;
      ASSERT_EQ(result.columns, bins) << method.name;
      for (const float v : result.values)
        ASSERT_TRUE(std::isfinite(v)) << method.name << ' ' << views << ' ' << bins;
    }
}

/// Nothing to remove: every method gives back a constant, also if it is 0 (a dead row, or air). The views are
/// even in number: of an odd one, the window of vo-fitting makes a ripple, as its authors' does.
TEST(Stripes, AreNotMadeOutOfConstants) {
  for (const Method& method : methods())
    for (const float constant : {0.0f, 0.7f, 1.0f}) {
      Plane plane(46, 50);
      std::ranges::fill(plane.values, constant);
      for (const float v : without_stripes(plane, method.name).values)
        ASSERT_NEAR(v, constant, 3e-6) << method.name;  // some roundings of float
    }
}

TEST(Stripes, HaveTheSameBitsForAnyNumberOfThreads) {
  const Plane plane = noise_around_one(61, 130);
  for (const Method& method : methods()) {
    const Plane many = without_stripes(plane, method.name);
    const ThreadLimit one(1);
    EXPECT_TRUE(test::same_bits(many.values, without_stripes(plane, method.name).values)) << method.name;
    EXPECT_TRUE(method.name == "auto" || !test::same_bits(many.values, plane.values)) << method.name;
  }
}

TEST(Stripes, WindowsAreAtMostAsWideAsARow) {
  EXPECT_NO_THROW(without_stripes(noise_around_one(20, 10), "vo-all"));
  try {
    without_stripes(noise_around_one(20, 10), "vo-sorting", {{"vo-sorting:size", Index{11}}});
    FAIL() << "not refused";
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find("vo-sorting:size=11"), std::string::npos) << e.what();
  }
}

TEST(Stripes, OptionsGoWithTheirMethod) {
  const auto step = std::ranges::find_if(steps(), [](const Step& some) { return some.name == "stripes"; });
  ASSERT_NE(step, steps().end());
  const auto fault = [&](StepValues values) { return step->conflict(values); };
  const std::string method = "remove-stripe-method";
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({{method, std::string("fw")}, {"fw:level", Index{3}}}), "");
  EXPECT_EQ(fault({{"fw:level", Index{3}}}), "fw:level goes with --remove-stripe-method fw");
  EXPECT_NE(fault({{method, std::string("fw")}, {"ti:beta", 0.1}}), "");
  EXPECT_NE(fault({{method, std::string("ti")}, {"ti:beta", 0.1}, {"ti:alpha", 1.5}}), "");
  EXPECT_NE(fault({{method, std::string("sf")}, {"sf:size", Index{4}}}), "");
  EXPECT_FALSE(step->asked_for({}));
  EXPECT_FALSE(step->asked_for(preprocessing_of({{method, std::string("none")}}, {0, 9}, 0)));
  EXPECT_THROW(preprocessing_of({{"fw:level", Index{3}}}, {0, 9}, 0), GeometryError);
}

TEST(Stripes, ColumnsAreSortedAndPutBack) {
  Plane plane = noise_around_one(37, 9);
  plane(3, 2) = -1, plane(9, 2) = -2.5f, plane(11, 2) = -0.0f, plane(12, 2) = 0, plane(13, 2) = -1;
  const SortedColumns columns = sorted(plane);
  Plane back(37, 9);
  for (Index bin = 0; bin < 9; ++bin) {
    std::vector<std::uint32_t> order(37);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t view) { return plane(view, bin); });
    for (Index rank = 0; rank < 37; ++rank) {
      EXPECT_EQ(columns.order[static_cast<std::size_t>(37 * bin + rank)],
                order[static_cast<std::size_t>(rank)]);
      EXPECT_EQ(columns.values(rank, bin), plane(order[static_cast<std::size_t>(rank)], bin));
    }
    unsort(columns.values, columns, bin, back);
  }
  EXPECT_EQ(back.values, plane.values);
}

/// The parts that are taken out and left add up to the line. The part taken out is what transforms of columns
/// give, with alternating signs too.
TEST(Stripes, SlowPartsAreThoseOfFilteredSpectra) {
  for (const Index views : {1, 2, 24, 37})
    for (const Index beside : {0, 5})
      for (const Zero zero : {Zero::at_0, Zero::at_half}) {
        const Index length = views + 2 * beside;
        std::vector<double> gain;
        for (Index k = 0; k <= length / 2; ++k) gain.push_back(k % 7 == 3 ? 0 : 1 / (1.0 + std::abs(k - 2)));
        const Plane plane = noise_around_one(views, 19);
        Plane rest = plane;
        const Plane slow = take_out(waves_of(length, beside, gain, zero), rest);
        const auto sign = [&](Index k) { return zero == Zero::at_half && k % 2 == 1 ? -1.0f : 1.0f; };
        for (Index b = 0; b < plane.columns; ++b) {
          std::vector<float> line;
          for (Index k = 0; k < length; ++k) line.push_back(sign(k) * plane(mirrored(k - beside, views), b));
          kernels::multiply_spectra(line, 1, length, gain);
          for (Index v = 0; v < views; ++v) {
            const float due = sign(v + beside) * line[static_cast<std::size_t>(v + beside)];
            ASSERT_NEAR(slow(v, b), due, 1e-6) << views << ' ' << beside << ' ' << v;
            ASSERT_EQ(rest(v, b), plane(v, b) - slow(v, b));
          }
        }
      }
}

TEST(Stripes, MediansAreThoseOfReflectedLines) {
  EXPECT_EQ(medians(std::vector<float>{5, 1, 4, 2, 3}, 3), (std::vector<float>{5, 4, 2, 3, 3}));
  EXPECT_EQ(medians(std::vector<float>{5, 1, 4, 2}, 2), (std::vector<float>{5, 5, 4, 4}));
  EXPECT_EQ(medians(std::vector<float>{7, 9}, 5), (std::vector<float>{9, 7}));  // 9 7 7 9 9, 7 7 9 9 7
}

/// Ranks 0 to 7: 10, 1, 1, 1, 1, 1, 1, -5; the line through ranks 2 to 4 is flat.
TEST(Stripes, WhatStandsOutIsMarked) {
  const std::vector<double> values{1, 1, 10, 1, 1, -5, 1, 1};
  EXPECT_EQ(outstanding(values, 3),
            (std::vector<bool>{false, false, true, false, false, true, false, false}));
  // a line that drops by 7: 10 is 3 above its end, not twice 7
  const std::vector<double> falling{10, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(outstanding(falling, 2), std::vector<bool>(8));
  EXPECT_EQ(outstanding(std::vector<double>{1, 100, 1}, 3), std::vector<bool>(3));
}

/// A column that stays bright where its neighbours are dark, and one that is dead: auto puts the line between
/// their neighbours, and leaves the others alone, bit for bit.
TEST(Stripes, FailingColumnsAreInterpolatedByAuto) {
  Plane plane(200, 90);
  for (Index view = 0; view < plane.rows; ++view)
    for (Index b = 0; b < plane.columns; ++b)
      plane(view, b) =
          1 -
          0.5f * std::pow(std::sin(0.05f * static_cast<float>(view) + 0.02f * static_cast<float>(b)), 2.0f);
  Plane failing = plane;
  for (Index view = 0; view < plane.rows; ++view) {
    failing(view, 40) = std::max(0.8f, plane(view, 40));
    failing(view, 66) = 0.7f;
  }
  Notes notes;
  const Plane result = without_stripes(failing, "auto", {}, &notes);
  EXPECT_EQ(notes, (Notes{{"dead or failing columns interpolated", 1}}));
  for (Index view = 0; view < plane.rows; ++view)
    for (Index b = 0; b < plane.columns; ++b) {
      const bool mended = std::abs(b - 40) <= 1 || std::abs(b - 66) <= 1;
      if (mended)
        EXPECT_NEAR(result(view, b), plane(view, b),
                    1e-3);  // 4^2 / 8 times a curvature of 4e-4
      else
        EXPECT_EQ(result(view, b), plane(view, b));
    }
}

TEST(Stripes, BandedMatricesAreSolved) {
  // M = I + w w^T, w = (1, -2, 1, 0) and its shift
  Banded matrix(4);
  const std::vector<double> w{1, -2, 1}, x{0.5, -1, 2, 4};
  matrix.add_square(0, w);
  matrix.add_square(1, w);
  for (std::size_t i = 0; i < 4; ++i) matrix(i, i) += 1;
  const double first = x[0] - 2 * x[1] + x[2], second = x[1] - 2 * x[2] + x[3];
  std::vector<double> y{x[0] + first, x[1] - 2 * first + second, x[2] + first - 2 * second, x[3] + second};
  matrix.solve(y);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], x[i], 1e-14);
}

class StripesOfScans : public ::testing::Test {
 protected:
  void SetUp() override {
    Simulation parallel = test::small_simulation(1e4), cone = test::cone_simulation(1e4);
    parallel.rings_percent = cone.rings_percent = 3;
    test::write_scan(folder_.path() / "parallel.h5", SimulatedScan(parallel));
    test::write_scan(folder_.path() / "cone.h5", SimulatedScan(cone));
  }
  std::vector<float> volume(const char* scan, const char* method, Index rows_at_once = 0,
                            Outcome* outcome = nullptr) {
    Recipe recipe;
    recipe.steps = {{"remove-stripe-method", std::string(method)}};
    return test::reconstructed(folder_.path() / scan, recipe, rows_at_once, outcome);
  }
  test::TemporaryFolder folder_;
};

Notes notes_of(const Outcome& outcome) {
  const auto& steps = outcome.findings.steps;
  const auto found = std::ranges::find(steps, "stripes", &Findings::OfStep::name);
  if (found == steps.end()) throw std::runtime_error("the step was not done");
  return found->notes;
}

TEST_F(StripesOfScans, AreTakenOutForEveryBeam) {
  for (const char* scan : {"parallel.h5", "cone.h5"}) {
    const auto plain = volume(scan, "none");
    for (const char* method : {"auto", "vo-all", "fw"}) {
      Outcome outcome;
      EXPECT_FALSE(test::same_bits(plain, volume(scan, method, 0, &outcome))) << scan << ' ' << method;
      EXPECT_EQ(notes_of(outcome).empty(), std::string_view(method) != "auto");
    }
  }
}

TEST_F(StripesOfScans, BitsDoNotDependOnChunks) {
  for (const char* method : {"auto", "vo-all", "raven"}) {
    Outcome at_once, one_by_one;
    const auto whole = volume("parallel.h5", method, test::small::rows, &at_once);
    EXPECT_TRUE(test::same_bits(whole, volume("parallel.h5", method, 1, &one_by_one))) << method;
    EXPECT_TRUE(test::same_bits(whole, volume("parallel.h5", method, 4))) << method;
    EXPECT_EQ(notes_of(at_once), notes_of(one_by_one));
  }
}

TEST_F(StripesOfScans, StandInThePlansMemory) {
  const auto reader = io::open_scan(folder_.path() / "parallel.h5");
  const auto bytes = [&](const char* method) {
    Recipe recipe;
    recipe.steps = {{"remove-stripe-method", std::string(method)}};
    return host_bytes(make_plan(reader->info(), recipe), reader->info(), 5);
  };
  EXPECT_GE(bytes("vo-all") - bytes("none"), 4 * 4.0 * test::small::views * test::small::bins);
}

}  // namespace
}  // namespace tandem::pipeline::stripes
