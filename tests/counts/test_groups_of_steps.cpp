// Steps on sinograms and projections between steps on rows, and the margins that they need.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>

#include "../../core/error.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/own_steps.hpp"
#include "../support/property.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed, test::same_bits;

io::Frames floats(Shape shape, const std::vector<float>& values) {
  io::Frames frames{io::PixelType::float32, shape, {}};
  frames.bytes.resize(values.size() * sizeof(float));
  std::memcpy(frames.bytes.data(), values.data(), frames.bytes.size());
  return frames;
}

/// The reference of one row: flats of 1000 counts, and of 0 in the dead cells.
Reference one_row(std::vector<float> span) {
  Reference of;
  of.rows = 1, of.bins = static_cast<Index>(span.size()), of.flats = true;
  of.dark.assign(span.size(), 0), of.counts = {1}, of.not_finite = {0}, of.replaced = {0};
  FlatSet set{std::move(span), std::vector<float>(of.dark.size(), 0), {}, {}};
  for (const float s : set.span) {
    set.floor.push_back(s > 0 ? 0.5f / s : -INFINITY);
    of.dead += s == 0;
  }
  set.floor_range = {range_of(set.floor)};
  of.sets = {std::move(set)};
  return of;
}

TEST(GroupsOfSteps, RowsGoOnAfterASinogram) {
  const Reference reference = one_row({1000, 1000, 1000});
  Findings findings;
  const auto result =
      preprocess(floats({2, 1, 3}, {500, 250, 125, 100, 0, 400}), reference,
                 {.table = test::with_doubled_rows}, Space({2, 1, 3}, Blocks::rows), findings);
  const double expected[] = {1, 0.5, 0.25, 0.2, 5e-4, 0.8};  // the floor is half a count, after doubling
  for (int b = 0; b < 6; ++b)
    EXPECT_NEAR(result.y.data()[b], -std::log(expected[b]), 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.replaced_by("minus-log"), 1);
  EXPECT_EQ(findings.steps[5].name, "doubled");
  EXPECT_EQ(findings.steps[5].notes, (Notes{{"doubled", 1}}));
}

/// A dead cell and a lost row have transmissions before the sinogram. Dead cells then have a floor like their
/// neighbours, and a row that was made of others has no noise of its own.
TEST(GroupsOfSteps, RepairsComeBeforeTheFirstSinogram) {
  const Reference reference = one_row({1000, 0, 500, 0});
  Findings findings;
  const Preprocessing how{.noise = true, .table = test::with_doubled_rows};
  const auto result = preprocess(floats({3, 1, 4}, {100, 7, 150, 7, NAN, NAN, NAN, NAN, 300, -9, 0, 7}),
                                 reference, how, Space({3, 1, 4}, Blocks::rows), findings);
  const double expected[] = {0.2, 0.4, 0.6, 0.6, 0.4, 0.35, 0.3, 0.3, 0.6, 0.3, 1e-3, 1e-3};
  for (int b = 0; b < 12; ++b)
    EXPECT_NEAR(result.y.data()[b], -std::log(expected[b]), 20 * tolerance::float_rounding) << b;
  EXPECT_EQ(findings.replaced_by("lost-rows"), 4);
  EXPECT_EQ(findings.replaced_by("minus-log"), 2);
  const double noise = 1 / 200.0 + 1 / 300.0 + 1 / 600.0 + 1 / 0.5;  // photons by transmission and flat
  EXPECT_NEAR(result.noise_norms[0], std::sqrt(noise), tolerance::float_rounding * noise);
}

TEST(GroupsOfSteps, ProjectionsOfCountsSeeTheViewsBeside) {
  Reference reference = one_row({100, 100});
  for (const int binning : {0, 1}) {
    Findings findings;
    reference.rows_together = binning + 1;
    const Index bins = binning ? 4 : 2, rows = binning ? 2 : 1;
    std::vector<float> counts(static_cast<std::size_t>(2 * rows * bins), 50);
    counts[1] = 90;  // a count of the first view
    const auto result = preprocess(floats({2, rows, bins}, counts), reference,
                                   {.binning = binning, .table = test::with_larger_counts},
                                   Space({2, 1, 2}, Blocks::rows), findings);
    const double mean = binning ? 0.6 : 0.9;  // mean of four cells, or of one
    const Index at = binning ? 0 : 1;
    for (const Index view : {0, 1})
      for (const Index b : {0, 1})
        EXPECT_NEAR(result.y.data()[2 * view + b], -std::log(b == at ? mean : 0.5),
                    10 * tolerance::float_rounding);
    EXPECT_EQ(findings.replaced_by("larger"), 1);
  }
}

/// Steps that look at rows beside their own: means of five rows, or of blocks of rows.
class Margins : public ::testing::Test {
 protected:
  void SetUp() override {
    test::write_scan(folder_.path() / "parallel.h5", SimulatedScan(test::small_simulation(1e4)));
    test::write_scan(folder_.path() / "cone.h5", SimulatedScan(test::cone_simulation(1e4)));
  }

  using Table = std::span<const Step> (*)();

  std::vector<float> volume(const char* scan, const Recipe& recipe, Index rows_at_once = 0,
                            Outcome* outcome = nullptr, Table table = test::with_means_of_rows) {
    const auto reader = io::open_scan(folder_.path() / scan);
    Plan plan = make_plan(reader->info(), recipe);
    plan.job.preprocessing.table = table;
    plan.job.margin = margin_of(plan.job.preprocessing);
    if (rows_at_once > 0) plan.flow.chunk_slices = rows_at_once;
    return reconstructed(*reader, plan, outcome);
  }

  static void expect_same(const Outcome& a, const Outcome& b) {
    ASSERT_EQ(a.findings.steps.size(), b.findings.steps.size());
    for (std::size_t k = 0; k < a.findings.steps.size(); ++k)
      EXPECT_EQ(a.findings.steps[k].replaced, b.findings.steps[k].replaced) << a.findings.steps[k].name;
    EXPECT_EQ(a.findings.dead, b.findings.dead);
    EXPECT_EQ(a.findings.floor.lowest, b.findings.floor.lowest);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Margins, MakeBitsIndependentOfChunks) {
  for (const int binning : {0, 1}) {
    Recipe recipe;
    recipe.binning = binning;
    Outcome at_once;
    const auto whole = volume("parallel.h5", recipe, test::small::rows >> binning, &at_once);
    EXPECT_EQ(at_once.findings.replaced_by("means"), test::small::views * (test::small::rows >> binning));
    for (const Index rows : {1, 2, 4}) {
      Outcome outcome;
      EXPECT_TRUE(same_bits(whole, volume("parallel.h5", recipe, rows, &outcome))) << binning << ' ' << rows;
      expect_same(at_once, outcome);
    }
    EXPECT_FALSE(same_bits(whole, reconstructed(folder_.path() / "parallel.h5", recipe)));
  }
}

TEST_F(Margins, OfBlocksMakeBitsIndependentOfChunks) {
  for (const int binning : {0, 1})
    for (const Range rows : {Range{0, 11}, Range{2, 10}}) {
      Recipe recipe;
      recipe.binning = binning;
      recipe.rows = rows;
      const auto in_chunks = [&](Index slices) {
        return volume("parallel.h5", recipe, slices, nullptr, test::with_means_of_blocks);
      };
      const auto whole = in_chunks(rows.size() >> binning);
      for (const Index slices : {1, 2, 3, 4, 6})
        EXPECT_TRUE(same_bits(whole, in_chunks(slices))) << binning << ' ' << rows.first << ' ' << slices;
    }
}

/// Chunks that are tall enough begin where blocks do, and so no block is made twice.
TEST_F(Margins, ChunksBeginWhereBlocksDo) {
  Recipe recipe;
  recipe.rows = Range{1, 11};
  const auto reader = io::open_scan(folder_.path() / "parallel.h5");
  Plan plan = make_plan(reader->info(), recipe);
  plan.job.margin = {1, 3};
  plan.flow.chunk_slices = 6;
  const std::vector<Range> chunks = chunks_due(plan, {});
  ASSERT_EQ(chunks.size(), 2);
  EXPECT_EQ(chunks[0], (Range{0, 5}));  // rows 1 to 5 of the file
  EXPECT_EQ(chunks[1], (Range{5, 10}));
  EXPECT_EQ(rows_read(plan, chunks[0]).rows, (Range{0, 7}));
  EXPECT_EQ(rows_read(plan, chunks[1]).rows, (Range{5, 11}));
  std::get<SliceSizes>(plan.flow.sizes).part_slices = 6;  // chunks are parts of what is read at once
  EXPECT_EQ(chunks_due(plan, {})[0], (Range{0, 6}));
  EXPECT_EQ(rows_read(plan, {0, 6}).rows, (Range{0, 10}));
}

/// The rows that the second step needs from the first one are within the margin of both together.
RC_GTEST_PROP(RowMargins, OfTwoStepsHoldThoseOfEach, ()) {
  const auto some = [](Index least, Index most) { return *rc::gen::inRange<Index>(least, most + 1); };
  const RowMargin first{some(0, 9), some(1, 9)}, second{some(0, 9), some(1, 9)};
  const Index row = some(0, 99);
  const Range rows{row, row + some(1, 30)}, needed = first.around(second.around(rows)),
                                            together = first.then(second).around(rows);
  RC_ASSERT(together.first <= needed.first && needed.last <= together.last);
}

TEST_F(Margins, AreReadBesideTheSlicesThatAreAskedFor) {
  for (const char* scan : {"parallel.h5", "cone.h5"}) {
    Recipe recipe;
    const auto whole = volume(scan, recipe);
    recipe.region_z = Range{3, 6};
    const auto some = volume(scan, recipe);
    const auto area = static_cast<std::ptrdiff_t>(some.size() / 3);
    const std::vector<float> same(whole.begin() + 3 * area, whole.begin() + 6 * area);
    EXPECT_LT(test::relative_error(some, same), 20 * tolerance::float_rounding) << scan;
  }
}

/// Selected rows have the numbers that they have in the whole scan.
TEST_F(Margins, GoOnBesideTheRowsThatWereSelected) {
  Recipe recipe;
  recipe.rows = Range{2, 7};
  const auto reader = io::open_scan(folder_.path() / "parallel.h5");
  Plan plan = make_plan(reader->info(), recipe);
  plan.job.margin.beside = 2;
  const auto expect = [&](Range slices, RowsRead rows) {
    const RowsRead read = rows_read(plan, slices);
    EXPECT_EQ(read.rows.first, rows.rows.first);
    EXPECT_EQ(read.rows.last, rows.rows.last);
    EXPECT_EQ(read.above, rows.above);
    EXPECT_EQ(read.below, rows.below);
  };
  expect({0, 5}, {{0, 9}, 2, 2});
  expect({0, 1}, {{0, 5}, 2, 2});
  expect({1, 3}, {{1, 7}, 2, 2});
  expect({4, 5}, {{4, 9}, 2, 2});
}

TEST_F(Margins, StandInThePlansMemory) {
  const auto reader = io::open_scan(folder_.path() / "parallel.h5");
  Plan plan = make_plan(reader->info(), {});
  const double without = host_bytes(plan, reader->info(), 3);
  plan.job.margin.beside = 2;
  // four rows more of counts in three places, each with a dark and three numbers of its flats, of frames of
  // flats with two of what they become, and seven rows of line integrals
  const double a_row = 4.0 * test::small::bins, counts = test::small::views * a_row / 2;
  const double places = std::min(11.0 / 3, 3.0);
  EXPECT_NEAR(host_bytes(plan, reader->info(), 3) - without,
              places * 4 * (counts + 4 * a_row) + 4 * a_row * static_cast<double>(2 + reader->info().flats) +
                  7 * test::small::views * a_row,
              1);
}

}  // namespace
}  // namespace tandem::pipeline
