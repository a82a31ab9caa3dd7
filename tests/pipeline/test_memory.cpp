// What a plan counts for a solver against what the solver holds.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../operators/vector.hpp"
#include "../../pipeline/beams/row_axes.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/cone_scans.hpp"

namespace tandem::test {
namespace {

/// Bytes in use of arrays that have pages of their own.
double bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.hblkhd);
}

/// An operator between spaces of a plan. It only looks how much is held while it is applied.
struct Watcher {
  Space volume, projections;
  double* most;
  Space domain() const { return volume; }
  Space range() const { return projections; }
  void look() const { *most = std::max(*most, bytes_in_use()); }
  void apply(float, ConstVectorView, float, VectorView, Stream&) const { look(); }
  void apply_adjoint(float, ConstVectorView, float, VectorView, Stream&) const { look(); }
};

class SolverMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);  // and no longer what was freed before
    const double before = bytes_in_use();
    const Array large(projections());
    if (bytes_in_use() - before < set_) GTEST_SKIP() << "this allocator does not tell what it holds";
  }
  static io::ScanInfo scan(const std::vector<double>& row_axes = {}) {
    io::ScanInfo info;
    ParallelBeam beam{{1024, rows_, 1, 1, 511.5}, {}, row_axes};
    for (Index v = 0; v < views_; ++v)
      beam.angles.push_back(std::numbers::pi * static_cast<double>(v) / views_);
    info.scan = beam;
    return info;
  }
  static Space projections() { return projection_space(scan().scan); }
  /// Few voxels, so that what is held is sets of projections.
  static pipeline::Plan plan_for(const std::string& method, const std::vector<double>& row_axes = {}) {
    pipeline::Recipe recipe;
    recipe.method = method;
    recipe.size = 8;
    recipe.model = Model::pixel_driven;
    pipeline::Plan plan = make_plan(scan(row_axes), recipe);
    plan.job.solved = plan.job.grid, plan.job.inside = {};
    return plan;
  }
  /// Sets of projections that are held at the most, with the data.
  static double sets_of(const std::string& method, const std::vector<double>& row_axes = {}) {
    double most = 0;
    const double before = bytes_in_use();
    const pipeline::Plan plan = plan_for(method, row_axes);
    const Watcher watcher{volume_space(plan.job.grid), projection_space(plan.job.scan), &most};
    auto equations =
        pipeline::equations_of({plan.job.scan, plan.job.grid, watcher}, {Array(watcher.projections), {}});
    if (plan.job.method->weighs_data) {
      equations.weights.emplace(watcher.projections);
      fill(*equations.weights, 1, default_stream(Device::cpu()));
    }
    const ActiveBlocks active(rows_, true);
    const Space volume = equations.A.domain();
    auto solver = plan.job.method->solver(std::move(equations), Array(volume), plan.job.options);
    if (solver.tells_its_reach()) static_cast<void>(solver.traces());
    for (int k = 0; k < 2; ++k) solver.step(active);
    return (most - before) / set_;
  }

  static constexpr Index rows_ = 4, views_ = 512;
  static constexpr double set_ = 4.0 * rows_ * views_ * 1024;  ///< bytes
};

TEST_F(SolverMemory, WithAFollowerIsTwiceAsMuchAndTheSigns) {
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.kind.leads()) continue;
    pipeline::Recipe options;
    options.stop_by_gcv = true;
    const pipeline::Holding alone = method.holds_with({}).front(), both = method.holds_with(options).front();
    EXPECT_EQ(both.volumes, 2 * alone.volumes) << method.name;
    EXPECT_EQ(both.projections, 2 * alone.projections + 1) << method.name;
  }
}

TEST_F(SolverMemory, IsWhatThePlanCounts) {
  constexpr double of_volumes = 0.05;  // and pages that are not full
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) continue;
    const std::string name(method.name);
    const double held = sets_of(name);
    EXPECT_NEAR(held, method.kind.cost.projections, of_volumes) << name;
    EXPECT_LE(held, device_bytes(plan_for(name), rows_) / set_) << name;
  }
}

/// The weights of bins, and what they make of vectors on their way through the operator: Watcher sees all
/// but the last of these, which is made behind it.
TEST_F(SolverMemory, OfRowsWithAxesOfTheirOwnHoldsTheirWeights) {
  const std::vector<double> axes{511.5, 500, 520.25, 498};
  for (const pipeline::Method& each : pipeline::methods()) {
    if (!each.iterates()) continue;
    const std::string method(each.name);
    const auto planned = [&](const std::vector<double>& row_axes) {
      return device_bytes(plan_for(method, row_axes), rows_) / set_;
    };
    constexpr double of_volumes = 0.05;
    EXPECT_NEAR(planned(axes) - planned({}), 3, of_volumes);
    EXPECT_NEAR(sets_of(method, axes) - sets_of(method), 2, of_volumes);
    EXPECT_LE(sets_of(method, axes) + 1, planned(axes));
  }
}

/// A cone beam, whose slices are one problem, so large that what the program itself holds is small beside it.
io::ScanInfo large_cone() {
  io::ScanInfo info;
  ConeBeam scan = odd_cone(300, 200, 250);
  scan.sod = 900, scan.sdd = 1700;
  info.scan = scan;
  info.pixel_size_mm = 1;
  return info;
}

double bytes_for(const pipeline::Recipe& recipe) {
  return static_cast<double>(make_plan(large_cone(), recipe).flow.memory.host);
}

/// What a refusal says of the recipe with so much memory; nothing if it fits.
std::string refusal_of(pipeline::Recipe recipe, double bytes) {
  recipe.host_bytes = static_cast<std::size_t>(bytes);
  try {
    make_plan(large_cone(), recipe);
  } catch (const DeviceError& fault) {
    return fault.what();
  }
  return {};
}

/// The method in a refusal; nothing if it names none.
std::string named_in(const std::string& refusal) {
  const std::string before = "or --reconstruction-algorithm ", after = ", which fits";
  const std::size_t first = refusal.find(before);
  if (first == std::string::npos || !refusal.ends_with(after)) return {};
  return refusal.substr(first + before.size(), refusal.size() - after.size() - first - before.size());
}

/// Whichever method does not fit by a little.
TEST(TooLittleMemory, NamesAMethodThatFits) {
  for (const pipeline::Method& method : pipeline::methods()) {
    if (!method.iterates()) continue;
    const pipeline::Recipe recipe{.method = std::string(method.name)};
    const double bytes = 0.98 * bytes_for(recipe);
    const std::string refusal = refusal_of(recipe, bytes), other = named_in(refusal);
    ASSERT_FALSE(other.empty()) << method.name << ": " << refusal;
    EXPECT_NE(refusal.find("at once needs"), std::string::npos) << refusal;
    EXPECT_EQ(refusal_of({.method = other}, bytes), "") << method.name;
  }
}

TEST(TooLittleMemory, PrefersMethodsThatReadTheSameOptions) {
  const auto bytes = [](const char* method) { return bytes_for({.method = method}); };
  ASSERT_GT(bytes("sirt"), bytes("cgls"));
  EXPECT_EQ(named_in(refusal_of({.method = "tv"}, 1.02 * bytes("sirt"))), "os-sirt");
  EXPECT_EQ(named_in(refusal_of({.method = "tv"}, 1.02 * bytes("cgls"))), "cgls");
  EXPECT_EQ(named_in(refusal_of({.method = "tv"}, 0.98 * bytes("cgls"))), "fdk");
  EXPECT_EQ(named_in(refusal_of({.method = "sirt"}, 0.98 * bytes("sirt"))), "cgls");
  EXPECT_EQ(named_in(refusal_of({.method = "ba-gmres"}, 1.02 * bytes("cgls"))), "cgls");
  pipeline::Recipe rules{.method = "tv"};  // which other methods do not know
  rules.stop_gap = 0.01, rules.stop_settled = 0.01;
  EXPECT_EQ(named_in(refusal_of(rules, 1.02 * bytes("sirt"))), "os-sirt");
}

TEST(TooLittleMemory, NamesNoMethodWhereNoneFits) {
  for (const char* method : {"tv", "cgls", "mltr"}) {
    const std::string refusal = refusal_of({.method = method}, 1);
    EXPECT_TRUE(refusal.ends_with("or fbp or fdk, which need no more than the part that is written"))
        << refusal;
  }
}

}  // namespace
}  // namespace tandem::test
