#include "../../solvers/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../solvers/pdhg.hpp"
#include "../support/operators.hpp"

namespace tandem {
namespace {

constexpr Levels two_levels{.low = 0.5f, .high = 2, .first_steps = 200, .steps_a_stage = 200};

Array solved(const Array& b, const Levels& levels) {
  Pdhg solver(identity(b.space()), b.clone(), Array(b.space()), total_variation(b.space()), {0}, {},
              {.bounds = {.lowest = levels.low, .highest = levels.high}, .levels = levels});
  run(solver, max_iterations(levels.steps()));
  return std::move(solver).solution();
}

/// For A = 1 and no total variation, a stage of a voxel has its end in closed form.
float end_of_stages(float b, const Levels& levels) {
  const auto within = [&](float x) { return std::clamp(x, levels.low, levels.high); };
  float x = within(b);
  for (int stage = 1; stage <= Levels::stages; ++stage) {
    const float G = levels.most * static_cast<float>(stage) / Levels::stages;
    x = within(b - G * (levels.low + levels.high - 2 * x));
  }
  return x;
}

/// Most data are beyond the levels, and outweigh what the others lose.
Array mostly_beyond(const Space& space) {
  Array b = test::random_array(space, 1);
  for (Index i = 0; i < b.size(); ++i)
    b.data()[i] = i % 3 ? 1.25f + 6 * (b.data()[i] > 0 ? 1.0f : -1.0f) : 1.25f + 0.7f * b.data()[i];
  return b;
}

TEST(Levels, LeadVoxelsToTheEndsInClosedForm) {
  for (const Blocks blocks : {Blocks::whole, Blocks::slices}) {
    const Space space({2, 5, 6}, blocks);
    const Array b = mostly_beyond(space), x = solved(b, two_levels);
    double moved = 0;
    for (Index i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x.data()[i], end_of_stages(b.data()[i], two_levels), 1e-3) << b.data()[i];
      moved = std::max<double>(moved, std::abs(x.data()[i] - std::clamp(b.data()[i], 0.5f, 2.0f)));
    }
    EXPECT_GT(moved, 0.02);
  }
}

/// Data between the levels fit without them, and slices are judged apart.
TEST(Levels, AreLeftWhereTheyDoNotFitTheData) {
  const Space space({2, 5, 6}, Blocks::slices);
  Array b = mostly_beyond(space);
  for (Index i = 30; i < 60; ++i) b.data()[i] = 1 + 0.02f * static_cast<float>(i % 7);
  const Array x = solved(b, two_levels);
  for (Index i = 0; i < 30; ++i) EXPECT_NEAR(x.data()[i], end_of_stages(b.data()[i], two_levels), 1e-3);
  for (Index i = 30; i < 60; ++i) EXPECT_NEAR(x.data()[i], b.data()[i], 1e-3);
}

TEST(Levels, HaveNoEndBeforeTheLastStage) {
  const Space space({1, 5, 6});
  Pdhg solver(identity(space), mostly_beyond(space), Array(space), total_variation(space), {0}, {},
              {.bounds = {.lowest = 0.5f, .highest = 2}, .levels = two_levels});
  run(solver, max_iterations(two_levels.steps() - 1));
  EXPECT_TRUE(std::isinf(solver.distances()[0]));
}

TEST(Levels, RefuseWhatCannotBe) {
  const Space space({1, 5, 6});
  const auto with = [&](const Levels& levels, const Bounds& bounds) {
    return Pdhg(identity(space), mostly_beyond(space), Array(space), total_variation(space), {0}, {},
                {.bounds = bounds, .levels = levels});
  };
  const Bounds bounds{.lowest = 0, .highest = 1};
  EXPECT_THROW(with({.low = 1, .high = 1}, bounds), GeometryError);
  EXPECT_THROW(with({.low = 0, .high = NAN}, bounds), GeometryError);
  EXPECT_THROW(with({.first_steps = 0}, bounds), GeometryError);
  EXPECT_THROW(with({.steps_a_stage = 0}, bounds), GeometryError);
  EXPECT_THROW(with({.most = 1}, bounds), GeometryError);
  EXPECT_THROW(with({}, {}), GeometryError);
}

}  // namespace
}  // namespace tandem
