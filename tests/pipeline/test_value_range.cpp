// The range of attenuation that integers of a volume stand for.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "../../io/scans/scan_reader.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

Plan plan_of(Index nx, Index ny, Index nz) {
  Plan plan;
  plan.job.grid.size = {nx, ny, nz};
  return plan;
}

TEST(ValueRange, IsWidenedAndRoundedOutwards) {
  const ValueRange ten = widened(0, 10);  // a twentieth is 0.5; multiples of 0.1
  EXPECT_FLOAT_EQ(ten.min, -0.5f);
  EXPECT_FLOAT_EQ(ten.max, 10.5f);
  const ValueRange odd =
      widened(-0.00123, 0.0456);  // width 0.04683, a twentieth 0.0023415; multiples of 1e-4
  EXPECT_FLOAT_EQ(odd.min, -0.0036f);
  EXPECT_FLOAT_EQ(odd.max, 0.048f);
}

TEST(ValueRange, IsNeverEmpty) {
  constexpr double most = std::numeric_limits<float>::max();
  for (const auto& [low, high] : {std::pair{0.0, 0.0},
                                  {3.0, 3.0},
                                  {-3.0, -3.0},
                                  {1e-44, 1e-44},
                                  {-most, most},
                                  {most, most},
                                  {1.0, 1.0 + 1e-12}}) {
    const ValueRange range = widened(low, high);
    EXPECT_LT(range.min, range.max) << low << ' ' << high;
    EXPECT_TRUE(std::isfinite(range.min) && std::isfinite(range.max)) << low << ' ' << high;
    EXPECT_LE(range.min, static_cast<float>(low));
  }
}

TEST(ValueRange, LeavesOutATenThousandthAtEachEnd) {
  RangeFinder finder(
      plan_of(200, 100, 1).job.grid);  // 20,000 pixels: the two least and the two greatest are left out
  std::vector<float> slice(20'000);
  std::iota(slice.begin(), slice.end(), 0.f);
  std::swap(slice[0], slice[777]);
  slice[19'999] = 1e9f, slice[19'998] = 2e9f;
  EXPECT_FALSE(finder.range());
  finder.look_at({0, 1}, slice.data());
  const ValueRange range = *finder.range(), expected = widened(2, 19'997);
  EXPECT_EQ(range.min, expected.min);
  EXPECT_EQ(range.max, expected.max);
}

TEST(ValueRange, LooksAtSlicesSpreadOverTheVolumeInAnyOrder) {
  EXPECT_EQ(RangeFinder(plan_of(1, 1, 1).job.grid).slices(), (std::vector<Index>{0}));
  EXPECT_EQ(RangeFinder(plan_of(1, 1, 3).job.grid).slices(), (std::vector<Index>{0, 1, 2}));
  const std::vector<Index> many = RangeFinder(plan_of(1, 1, 1000).job.grid).slices();
  EXPECT_EQ(many.size(), 16u);
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many.back(), 999);
  RangeFinder up(plan_of(1, 1, 3).job.grid), down(plan_of(1, 1, 3).job.grid);
  const std::array<float, 3> values{5, -2, 1};
  up.look_at({0, 3}, values.data());
  for (const Index z : {2, 1, 0}) down.look_at({z, z + 1}, &values[static_cast<std::size_t>(z)]);
  EXPECT_EQ(up.range()->min, down.range()->min);
  EXPECT_EQ(up.range()->min, widened(-2, 5).min);
  EXPECT_EQ(up.range()->max, widened(-2, 5).max);
}

/// Keeps the volume, and the range that was set before its first slice.
class RangeWriter final : public io::VolumeWriter {
 public:
  void set_range(float min, float max) override {
    EXPECT_FALSE(range) << "set twice";
    range = {min, max};
  }
  void write(Range slices, const float* data) override {
    EXPECT_TRUE(range.has_value());
    if (slices.first == 0) first = *data;
  }
  void finish(const std::string&) override {}
  std::vector<Range> done() const override { return left; }
  std::vector<Range> left;  ///< by a killed run
  std::optional<ValueRange> range;
  float first = 0;
};

Outcome found(const std::filesystem::path& scan, const Recipe& recipe, Index rows_at_once, ValueRange& range,
              const std::vector<Range>& left = {}) {
  const auto reader = io::open_scan(scan);
  Plan plan = make_plan(reader->info(), recipe);
  plan.flow.chunk_slices = rows_at_once;
  RangeWriter writer;
  writer.left = left;
  Options options;
  options.find_range = true;
  Outcome outcome = reconstruct(*reader, plan, writer, options);
  range = writer.range.value_or(ValueRange{0, 0});
  EXPECT_TRUE(outcome.range && outcome.range->min == range.min && outcome.range->max == range.max);
  return outcome;
}

TEST(ValueRange, DependsNeitherOnChunksNorOnWorkers) {
  for (const bool cone : {false, true}) {
    const test::TemporaryFolder folder;
    test::write_scan(folder / "scan.h5",
                     SimulatedScan(cone ? test::cone_simulation(1e4) : test::small_simulation(1e4)));
    Recipe recipe;
    recipe.method = cone ? "fdk" : "fbp";
    const auto reader = io::open_scan(folder / "scan.h5");
    const Index slices = make_plan(reader->info(), recipe).job.grid.size[2];
    ValueRange whole, parts;
    const Outcome at_once = found(folder / "scan.h5", recipe, slices, whole);
    for (const Index rows : {Index{1}, Index{3}}) {
      const Outcome in_parts = found(folder / "scan.h5", recipe, rows, parts);
      EXPECT_EQ(parts.min, whole.min) << cone;
      EXPECT_EQ(parts.max, whole.max) << cone;
      EXPECT_GT(in_parts.range_seconds, 0);
      EXPECT_EQ(in_parts.findings.replaced_by("minus-log"), at_once.findings.replaced_by("minus-log"));
    }
    EXPECT_EQ(at_once.range_seconds, 0);
    EXPECT_LT(whole.min, whole.max);
  }
}

TEST(ValueRange, OfASolverOfAConeIsThatOfItsVolumeAlsoIfNoSliceIsLeftToMake) {
  const test::TemporaryFolder folder;
  test::write_scan(folder / "scan.h5", SimulatedScan(test::cone_simulation(1e4)));
  Recipe recipe;
  recipe.method = "sirt";
  recipe.iterations = 3;
  const Index slices = make_plan(io::open_scan(folder / "scan.h5")->info(), recipe).job.grid.size[2];
  ValueRange made, left;
  found(folder / "scan.h5", recipe, slices, made);
  found(folder / "scan.h5", recipe, slices, left, {{0, slices}});
  EXPECT_EQ(left.min, made.min);
  EXPECT_EQ(left.max, made.max);
}

}  // namespace
}  // namespace tandem::pipeline
