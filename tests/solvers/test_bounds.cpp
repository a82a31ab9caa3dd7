#include "../../solvers/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/solver_kind.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/subsets.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

using test::random_array;

constexpr float infinite = std::numeric_limits<float>::infinity();

std::shared_ptr<const Array> shared(Array values) { return std::make_shared<const Array>(std::move(values)); }

/// 13 views of two slices of 5 x 7 pixels, of which a third has one value only, and a third one end or none.
struct Boxed {
  ParallelBeam scan = test::scan_of(13, 2, 17);
  VolumeGrid grid = test::grid_of(5, 7, 2);
  LinearOperator A = projector(scan, grid, Model::joseph);
  Array b = random_array(A.range(), 1), lowest = random_array(A.domain(), 2), highest = lowest.clone();

  explicit Boxed(bool finite) {
    for (Index i = 0; i < lowest.size(); ++i) {
      float &low = lowest.data()[i], &high = highest.data()[i];
      low = 0.02f * std::abs(low), high = low + 0.02f * static_cast<float>(i % 3);
      if (!finite && i % 3 == 1) (i % 2 ? low : high) = i % 2 ? -infinite : infinite;
      if (!finite && i % 12 == 1) low = -infinite, high = infinite;
    }
    for (Index i = 0; i < b.size(); ++i) b.data()[i] = std::abs(b.data()[i]);
  }
  Bounds bounds() const {
    return {.lowest_of_each = shared(lowest.clone()), .highest_of_each = shared(highest.clone())};
  }
  AnySolver solver(const SolverKind& kind, const Bounds& within) const {
    SolverInput input{A, b.clone(), random_array(A.domain(), 3)};
    if (kind.subsets) input.A = test::subsets_of(scan, grid, 3);
    input.bounds = within;
    if (kind.takes_blank) input.blank = Array(A.range()), fill(*input.blank, 2, stream());
    if (kind.reads("tv-weight")) input.regulariser = total_variation(A.domain()), input.weights = {0};
    return kind.solver(std::move(input));
  }
  static Stream& stream() { return default_stream(Device::cpu()); }
};

std::vector<const SolverKind*> kinds_with_bounds() {
  std::vector<const SolverKind*> some;
  for (const SolverKind& kind : solver_kinds())
    if (kind.reads("bounds")) some.push_back(&kind);
  return some;
}

std::string name_of(const SolverKind& kind) {
  return std::string(kind.name.empty() ? kind.class_name : kind.name);
}

TEST(BoundsOfEachVoxel, HoldAtEachStepOfEachSolver) {
  EXPECT_GE(kinds_with_bounds().size(), 7u);
  for (const SolverKind* kind : kinds_with_bounds()) {
    const Boxed box(kind->only_positive);
    AnySolver solver = box.solver(*kind, box.bounds());
    Index inside = 0;
    for (int step = 0; step < 20; ++step) {
      for (Index i = 0; i < box.lowest.size(); ++i) {
        const float x = solver.solution().data()[i], low = box.lowest.data()[i], high = box.highest.data()[i];
        ASSERT_TRUE(low <= x && x <= high) << name_of(*kind) << " step " << step << " voxel " << i;
        inside += low < x && x < high;
      }
      solver.step({true, true});
    }
    EXPECT_GT(inside, 0) << name_of(*kind);
  }
}

TEST(BoundsOfEachVoxel, AllAlikeAreThoseOfAllVoxelsToTheBit) {
  for (const SolverKind* kind : kinds_with_bounds()) {
    const Boxed box(true);
    Array low(box.A.domain()), high(box.A.domain());
    fill(high, 0.05f, Boxed::stream());
    AnySolver each = box.solver(*kind, {.lowest_of_each = shared(std::move(low)),
                                        .highest_of_each = shared(std::move(high))}),
              all = box.solver(*kind, {0, 0.05f});
    for (int step = 0; step < 7; ++step) each.step({true, true}), all.step({true, true});
    for (Index i = 0; i < box.lowest.size(); ++i)
      ASSERT_EQ(each.solution().data()[i], all.solution().data()[i]) << name_of(*kind) << " voxel " << i;
  }
}

/// Members of a team hold shares of the views, and of the volume.
TEST(BoundsOfEachVoxel, HoldWhereVectorsAreShared) {
  const ConeBeam scan = test::odd_cone(9, 6, 17);
  const VolumeGrid grid = test::box(7, 6, 5, 1.1);
  const Device cpu = Device::cpu(), team = Device::team({cpu, cpu});
  const auto solution = [&](Device device) {
    const LinearOperator A = projector(scan, grid, Model::separable_footprint, device);
    Array highest = random_array(A.domain().on(cpu), 4);
    for (Index i = 0; i < highest.size(); ++i) highest.data()[i] = 0.02f * std::abs(highest.data()[i]);
    AnySolver solver = solver_kind("sirt").solver(
        {.A = A,
         .b = on_device(random_array(A.range().on(cpu), 6), device),
         .x0 = on_device(Array(A.domain().on(cpu)), device),
         .bounds = {.lowest = 0, .highest_of_each = shared(on_device(std::move(highest), device))}});
    for (int step = 0; step < 4; ++step) solver.step({true});
    return on_device(solver.solution(), cpu);
  };
  const Array alone = solution(cpu);
  EXPECT_GT(norm(alone, Boxed::stream()).front(), 0);
  EXPECT_LE(test::relative_error(solution(team), alone), tolerance::placements);
}

/// The least squares within a box, in double: each element in turn goes to its best place, until none moves.
Eigen::VectorXd least_squares_within(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                     const Eigen::VectorXd& low, const Eigen::VectorXd& high) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols()).cwiseMax(low).cwiseMin(high), rest = b - a * x;
  for (double moved = 1; moved > 1e-9;) {
    moved = 0;
    for (Index i = 0; i < x.size(); ++i) {
      const double to = std::clamp(x(i) + a.col(i).dot(rest) / a.col(i).squaredNorm(), low(i), high(i));
      rest -= (to - x(i)) * a.col(i);
      moved = std::max(moved, std::abs(to - x(i)));
      x(i) = to;
    }
  }
  return x;
}

TEST(BoundsOfEachVoxel, HaveTheLeastSquaresOfDenseAlgebra) {
  const Boxed box(false);
  const Eigen::VectorXd exact = least_squares_within(test::dense(box.A), test::column(box.b),
                                                     test::column(box.lowest), test::column(box.highest));
  for (const char* name : {"Pdhg", "Fista", "Landweber"}) {
    AnySolver solver = box.solver(
        *std::ranges::find(solver_kinds(), std::string_view(name), &SolverKind::class_name), box.bounds());
    for (int step = 0; step < 1000; ++step) solver.step({true, true});
    const double error = (test::column(solver.solution()) - exact).norm() / exact.norm();
    EXPECT_LE(error, tolerance::one_minimiser) << name;
  }
}

TEST(BoundsOfEachVoxel, AreRefusedWhereNothingIsBetweenThem) {
  const Boxed box(true);
  const auto with = [&](float low, float high) {
    Array lowest = box.lowest.clone(), highest = box.highest.clone();
    lowest.data()[4] = low, highest.data()[4] = high;
    return Bounds{.lowest_of_each = shared(std::move(lowest)), .highest_of_each = shared(std::move(highest))};
  };
  validate(with(-infinite, infinite));
  validate(with(0.3f, 0.3f));
  validate({.lowest = -1, .highest_of_each = shared(box.highest.clone())});
  for (const auto& [low, high] : {std::pair{0.3f, 0.2f}, {NAN, 1}, {0, NAN}, {infinite, infinite}})
    EXPECT_THROW(validate(with(low, high)), GeometryError) << low << ' ' << high;
  EXPECT_THROW(validate({.lowest = 3, .highest_of_each = shared(box.highest.clone())}), GeometryError);
  EXPECT_THROW(box.solver(solver_kind("sirt"), with(1, 0)), GeometryError);
  EXPECT_THROW(box.solver(solver_kind("mltr"), with(-infinite, 1)), GeometryError);
  const Bounds elsewhere{.lowest_of_each = shared(Array(Space({2, 5, 7})))};
  EXPECT_THROW(box.solver(solver_kind("sirt"), elsewhere), SpaceError);
}

/// By definition, in double; some elements of z are zero.
TEST(BoundsOfEachVoxel, HaveTheLeastProductsOfTheDefinition) {
  const Boxed box(false);
  Array z = random_array(box.A.domain(), 5);
  z.data()[3] = z.data()[40] = 0;
  const std::vector<double> lengths{0.7, 1.9},
      found = least_products(z, box.bounds(), lengths, Boxed::stream());
  for (std::size_t k = 0; k < 2; ++k) {
    double least = 0, free = 0;
    for (Index i = 35 * k; i < 35 * static_cast<Index>(k + 1); ++i) {
      const double of_z = z.data()[i], end = of_z > 0 ? box.lowest.data()[i] : box.highest.data()[i];
      if (of_z == 0) continue;
      std::isfinite(end) ? least += end* of_z : free += of_z * of_z;
    }
    EXPECT_NEAR(found[k], least - lengths[k] * std::sqrt(free), tolerance::gap);
  }
}

}  // namespace
}  // namespace tandem
