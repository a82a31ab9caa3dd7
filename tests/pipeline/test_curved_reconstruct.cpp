// Curved detectors from file to volume: of a scan that says so, and of one whose user does.

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../geometry/free_views.hpp"
#include "../../pipeline/plan/make_job.hpp"
#include "../../pipeline/plan/route.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

ConeBeam circle() { return {{43, 20, 0.5, 0.5, 21.4}, test::regular_angles(50, whole_turn), 40, 60, 9.5}; }

Simulation on_curved_detector() {
  Simulation s;
  s.phantom = "ellipsoids";
  OffCircle off;
  off.curved = true;
  s.scan = as_free_views(circle(), off);
  s.grid = fitting_grid(circle());
  return s;
}

/// The options that `--geometry cone --curved-detector` gives to any images.
io::OpenOptions as_circle_of() {
  const ConeBeam cone = circle();
  io::OpenOptions options;
  options.kind = ConeBeam::kind, options.arc_deg = 360, options.curved_detector = true;
  options.sod_mm = cone.sod, options.sdd_mm = cone.sdd, options.midplane_row = cone.midplane_row;
  return options;
}

TEST(CurvedReconstruct, OptionsSayWhatVectorsSay) {
  const test::TemporaryFolder folder;
  test::write_scan(folder / "scan.h5", SimulatedScan(on_curved_detector()));
  const auto own = io::open_scan(folder / "scan.h5"),
             said = io::open_scan(folder / "scan.h5", as_circle_of());
  for (const char* method : {"fbp", "cgls"}) {
    Recipe recipe;
    recipe.method = method, recipe.iterations = 3;
    const Plan plan = make_plan(own->info(), recipe);
    recipe.axis_bin = 21.4;
    const Plan other = make_plan(said->info(), recipe);
    EXPECT_TRUE(std::get<FlexibleBeam>(other.job.scan).curved);
    ASSERT_EQ(other.job.grid.shape(), plan.job.grid.shape());
    // voxels are as large as bins appear across the middle ray, which leaves the axis by 0.2 mm of 60 mm:
    // they differ by 5e-6, which is 1e-4 of a voxel at the rim
    EXPECT_LE(test::relative_error(test::reconstructed(*said, other), test::reconstructed(*own, plan)), 1e-4)
        << method;
  }
}

/// A flat detector of the same pitch, as many views: what the phantom's edges leave is alike.
TEST(CurvedReconstruct, IsAsNearToTheTruthAsAFlatDetector) {
  const test::TemporaryFolder folder;
  Simulation flat = on_curved_detector();
  flat.scan = as_free_views(circle());
  const auto error = [&](const Simulation& simulation, const char* method) {
    const SimulatedScan scan(simulation);
    test::write_scan(folder / "scan.h5", scan);
    const auto reader = io::open_scan(folder / "scan.h5");
    Recipe recipe;
    recipe.method = method, recipe.iterations = 8;
    const Plan plan = make_plan(reader->info(), recipe);
    const Shape n = plan.job.grid.shape();
    std::vector<float> truth(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    scan.truth(plan.job.grid, {0, n[0]}, truth);
    return test::relative_error(test::reconstructed(*reader, plan), truth);
  };
  for (const char* method : {"fbp", "cgls"})
    EXPECT_LE(error(on_curved_detector(), method), 1.03 * error(flat, method)) << method;
}

TEST(CurvedReconstruct, RefusesWhatItHasNot) {
  const test::TemporaryFolder folder;
  test::write_scan(folder / "scan.h5", SimulatedScan(on_curved_detector()));
  io::OpenOptions options = as_circle_of();
  options.kind = ParallelBeam::kind, options.sod_mm.reset(), options.sdd_mm.reset();
  options.midplane_row.reset();
  EXPECT_THROW(io::open_scan(folder / "scan.h5", options), GeometryError);
  const auto said = io::open_scan(folder / "scan.h5", as_circle_of());
  Recipe recipe;
  recipe.method = "cgls", recipe.resample_frames = true;
  EXPECT_THROW(make_job(said->info(), recipe), GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
