// Views of any geometry by a filter, from file to volume.

#include <gtest/gtest.h>

#include "../../geometry/phantom.hpp"
#include "../../geometry/trajectories.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::reconstructed;

Trajectory way(const char* name, Index views, double turns) {
  Trajectory t;
  t.name = name, t.sod = 60, t.sdd = 90, t.midplane_row = 9.5, t.pitch = 5, t.elevation = 0.4;
  for (Index k = 0; k < views; ++k)
    t.angles.push_back(static_cast<double>(k) * turns * whole_turn / static_cast<double>(views));
  return t;
}

/// Orbits: one that wanders, a helix, and laminography of parallel rays.
std::vector<Scan> orbits() {
  Trajectory wandering = way("circle", 50, 1), helix = way("helix", 90, 3), flat = way("laminography", 40, 1);
  wandering.jitter = 0.5, flat.parallel = true;
  const Detector d{43, 20, 0.5, 0.5, 21.4};
  return {views_along(wandering, d), views_along(helix, d), views_along(flat, d)};
}

Simulation simulation_of(const Scan& scan) {
  Simulation s;
  s.phantom = "ellipsoids";
  s.scan = scan;
  s.grid = fitting_grid(scan);
  s.grid.size[0] = s.grid.size[1] = 33;
  return s;
}

/// The default recipe but for its padding is the operator of the library.
TEST(OrbitReconstruct, IsTheFilterOfThePhantomsLineIntegrals) {
  const test::TemporaryFolder folder;
  for (const Scan& scan : orbits()) {
    const SimulatedScan exact(simulation_of(scan));
    test::write_scan(folder / "scan.h5", exact);
    Array y(projection_space(scan));
    project(exact.phantom(), scan, {0, 20}, {y.data(), static_cast<std::size_t>(y.size())});
    const Array x = fbp(scan, fitting_grid(scan), {.padding = Padding::cosine}) * y;
    EXPECT_LE(test::relative_error(reconstructed(folder / "scan.h5", {}), {x.data(), x.data() + x.size()}),
              tolerance::region);
  }
}

TEST(OrbitReconstruct, SlabsAndBlocksOfViewsMakeNoDifference) {
  const test::TemporaryFolder folder;
  for (const Scan& scan : orbits()) {
    test::write_scan(folder / "scan.h5", SimulatedScan(simulation_of(scan)));
    const auto reader = io::open_scan(folder / "scan.h5");
    Plan plan = make_plan(reader->info(), Recipe{});
    EXPECT_EQ(route_of(plan.flow).name, "views");
    const std::vector<float> whole = reconstructed(*reader, plan);
    const auto expect_alike = [&](Index slices, Index views, double off) {
      plan.flow.chunk_slices = slices, std::get<ViewSizes>(plan.flow.sizes).block_views = views;
      EXPECT_LE(test::relative_error(reconstructed(*reader, plan), whole), off) << slices << ", " << views;
    };
    expect_alike(plan.job.grid.size[2], 3, tolerance::devices);
    expect_alike(16, 32, tolerance::devices);
    expect_alike(7, 32, tolerance::region);  // other bricks
    Recipe several;
    several.devices = {Device::cpu(), Device::cpu()};
    plan = make_plan(reader->info(), several);
    EXPECT_EQ(plan.flow.workers.size(), 2u);
    expect_alike(16, 32, tolerance::devices);
  }
}

}  // namespace
}  // namespace tandem::pipeline
