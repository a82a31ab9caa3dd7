// Volumes that reach beyond the rays: voxels there are met by few rays or by none, and sums of coefficients
// that cancel are small. No solver may make anything of them.

#include <gtest/gtest.h>

#include <cmath>

#include "../../operators/fourier.hpp"
#include "../../operators/norms.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/solver_kind.hpp"
#include "../support/hierarchical_sum.hpp"
#include "../support/operators.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

/// Views all round at uneven steps, in no order.
std::vector<double> irregular_turn(Index views) {
  Random random(5);
  std::vector<double> angles = irregular_angles(views, random);
  for (double& angle : angles) angle *= 2;
  return angles;
}

/// A ball with soft edges and the value 1, about the middle of a grid.
Array soft_ball(const Space& space, const VolumeGrid& grid, double radius) {
  Array x(space);
  const auto [nx, ny, nz] = grid.size;
  for (Index i = 0; i < x.size(); ++i) {
    const double px = grid.x(static_cast<double>(i % nx)), py = grid.y(static_cast<double>(i / nx % ny)),
                 pz = nz > 2 ? grid.z(static_cast<double>(i / nx / ny)) : 0;
    const double r = std::hypot(px, py, pz) / radius;
    x.data()[i] = static_cast<float>(1 / (1 + std::pow(r, 12)));
  }
  return x;
}

/// A scan, and the model of its pair.
struct Beyond {
  Scan scan;
  VolumeGrid grid;
  Model model;
  double radius;

  bool negative() const { return model == Model::hierarchical || model == Model::fourier; }
  LinearOperator A(std::span<const Index> views = {}) const {
    return projector(views.empty() ? scan : with_views(scan, views), grid, model);
  }
  Subsets subsets(Index count) const {
    auto views = view_subsets(angles_of(scan), whole_turn, count);
    std::vector<LinearOperator> parts;
    for (const auto& some : views) parts.push_back(A(some));
    return {std::move(parts), std::move(views)};
  }
};

/// A solver of a kind for the line integrals of the ball.
AnySolver solver_beyond(const SolverKind& kind, const Beyond& of, SolverNumbers numbers = {}) {
  Stream& stream = default_stream(Device::cpu());
  const LinearOperator A = of.A();
  Array b = A * soft_ball(A.domain(), of.grid, of.radius);
  if (kind.only_positive) clamp_below(b, 0, stream);
  SolverInput input{
      .A = A, .b = b.clone(), .x0 = Array(A.domain()), .bounds = kind.bounds, .numbers = std::move(numbers)};
  if (kind.takes_blank) {
    input.blank.emplace(A.range());
    fill(*input.blank, 1000, stream);
    fill(input.b, 1000, stream);
    attenuate(b, input.b, stream);
  }
  if (kind.subsets) input.A = of.subsets(kind.subsets(views_of(of.scan)));
  if (kind.reads("tv-weight")) input.regulariser = total_variation(A.domain()), input.weights = {0.1f};
  return kind.solver(std::move(input));
}

/// The largest voxel by size after some steps.
double largest_after(int steps, AnySolver solver, Index blocks) {
  for (int k = 0; k < steps; ++k) solver.step(ActiveBlocks(static_cast<std::size_t>(blocks), true));
  double largest = 0;
  for (Index i = 0; i < solver.solution().size(); ++i) {
    const double v = std::abs(solver.solution().data()[i]);
    if (!(v <= largest)) largest = v;
  }
  return largest;
}

std::vector<Beyond> cases_beyond() {
  const ConeBeam cone = wide_cone(16, 14, irregular_turn(30));
  const VolumeGrid tall{{20, 20, 26}, {1, 1, 1}, {}}, flat{{40, 40, 2}, {1, 1, 1}, {}};
  ParallelBeam parallel = scan_of(30, 2, 24);
  std::vector<Beyond> all;
  for (const Model model :
       {Model::separable_footprint, Model::joseph, Model::pixel_driven, Model::hierarchical})
    all.push_back({cone, tall, model, 5});
  for (const Model model : {Model::pixel_driven, Model::joseph, Model::fourier})
    all.push_back({parallel, flat, model, 8});
  return all;
}

TEST(BeyondRays, NoSolverLeavesTheRangeOfTheObject) {
  for (const Beyond& of : cases_beyond())
    for (const SolverKind& kind : solver_kinds()) {
      if (of.negative() && kind.only_positive) continue;         // the program refuses these
      if (of.model == Model::fourier && kind.subsets) continue;  // and these
      EXPECT_LE(largest_after(15, solver_beyond(kind, of), of.A().domain().block_count()),
                tolerance::beyond_rays)
          << kind.class_name << kind.name << ", " << name_of(of.model);
    }
}

TEST(BeyondRays, WeightsOfGroupsAreBoundedInAnyCone) {
  EXPECT_TRUE(holds("the largest voxel of a cone by groups", [] {
    const Index n = *rc::gen::inRange<Index>(9, 14), rows = *rc::gen::inRange<Index>(8, 20),
                views = *rc::gen::inRange<Index>(12, 25), slices = *rc::gen::inRange<Index>(1, 26);
    const double near = 0.01 * *rc::gen::inRange(100, 300);
    ConeBeam cone = wide_cone(16, rows, irregular_turn(views));
    cone.sod *= near, cone.sdd *= near;
    const Beyond of{cone, {{n, n + 3, slices + 8}, {1, 1, 1}, {}}, Model::hierarchical, 4};
    for (const char* name : {"sirt", "sart"})
      RC_ASSERT(largest_after(10, solver_beyond(solver_kind(name), of, {{"relaxation", 1.5f}}), 1) <=
                tolerance::beyond_rays);
  }));
}

/// Sums of coefficients that are nowhere negative keep their bits, however small they are.
TEST(BeyondRays, WeightsOfExactPairsAreInversesOfTheirSums) {
  for (const Beyond& of : cases_beyond()) {
    if (of.negative()) continue;
    Stream& stream = default_stream(Device::cpu());
    const Array sums = column_sums(of.A()), weights = inverse_sums(sums.clone(), stream);
    const std::vector<float> least = least_sums(sums, stream);
    const Index block = sums.size() / std::ssize(least);
    for (Index i = 0; i < sums.size(); ++i) {
      const float s = sums.data()[i];
      ASSERT_EQ(weights.data()[i], s > least[static_cast<std::size_t>(i / block)] ? 1 / s : 0.0f) << i;
    }
  }
}

}  // namespace
}  // namespace tandem::test
