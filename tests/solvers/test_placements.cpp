// Solvers do not know where their vectors lie.

#include "../support/placements.hpp"
#include "../support/tiles.hpp"

namespace tandem::test {
namespace {

TEST(Placements, HaveOneSolution) {
  const PlacedProblem problem;
  const Device cpu = Device::cpu();
  const auto on = [&](Device device) {
    return projector(problem.scan, problem.grid, Model::separable_footprint, device);
  };
  const double tile = 3 * smallest_tile(problem.scan, problem.grid, cpu);
  expect_one_solution(problem, {{"two", on(Device::team({cpu, cpu}))},
                                {"three", on(Device::team({cpu, cpu, cpu}))},
                                {"tiles", tiled_projector(problem.scan, problem.grid, {cpu, cpu}, tile)}});
}

}  // namespace
}  // namespace tandem::test
