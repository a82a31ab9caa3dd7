// Solvers do not know where their vectors lie.

#include "../support/placements.hpp"
#include "../support/tiles.hpp"

namespace tandem::test {
namespace {

/// Expects one solution: on the whole, on teams, and in tiles.
template <class Beam>
void expect_one_solution_of(const Placed<Beam>& problem) {
  const Device cpu = Device::cpu();
  const auto on = [&](Device device) {
    return projector(problem.scan, problem.grid, Model::separable_footprint, device);
  };
  const double tile = 3 * smallest_tile(problem.scan, problem.grid, cpu);
  expect_one_solution(problem, {{"two", on(Device::team({cpu, cpu}))},
                                {"three", on(Device::team({cpu, cpu, cpu}))},
                                {"tiles", tiled_projector(problem.scan, problem.grid, {cpu, cpu}, tile)}});
}

TEST(Placements, HaveOneSolution) { expect_one_solution_of(placed_cone()); }

TEST(Placements, HaveOneSolutionOfAnyGeometry) { expect_one_solution_of(placed_views()); }

}  // namespace
}  // namespace tandem::test
