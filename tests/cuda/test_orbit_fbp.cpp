// The filter of any geometry on CUDA against the CPU. Skipped where no GPU is.

#include "../../operators/orbit_fbp.hpp"

#include "../../geometry/trajectories.hpp"
#include "../../operators/fbp.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaOrbitFbp = Cuda;

void expect_agreement(const FlexibleBeam& scan, const VolumeGrid& grid, const std::string& what,
                      double back = tolerance::devices) {
  const Filter filter{.padding = Padding::cosine};
  const Device gpu = Device::cuda(0);
  expect_alike(ramp_filter(scan, grid, filter, {}, gpu), ramp_filter(scan, grid, filter), "filter, " + what);
  expect_alike(backprojector(scan, grid, {}, gpu), backprojector(scan, grid), "back, " + what, back, 3);
  expect_alike(fbp(scan, grid, filter, {}, gpu), fbp(scan, grid, filter), what, tolerance::fbp_devices);
}

/// A voxel's row is a float of up to 25: 2^-20 rows off, of numbers that differ by twice their size from row
/// to row, for the three half turns that are weighed.
constexpr double rows_in_float = 6.0 / (1 << 20);

/// Detectors that stand level, that are turned, that are aside; parallel rays; helices.
TEST_F(CudaOrbitFbp, AgreesWithTheCpu) {
  constexpr double degree = half_turn / 180;
  const VolumeGrid grid{{33, 29, 21}, {0.5, 0.5, 0.5}, {0.3, -0.2, 0.1}};
  for (const bool parallel : {false, true})
    for (const Stand& stand : {Stand{}, Stand{0, 3 * degree, 2 * degree}, Stand{35 * degree, 1 * degree, 0}})
      expect_agreement(standing(45, 37, 61, 60, 90, stand, parallel, 0.5), grid,
                       std::to_string(stand.elevation) + ' ' + std::to_string(stand.roll));
  Trajectory helix;
  helix.name = "helix", helix.pitch = 5, helix.sod = 60, helix.sdd = 90, helix.midplane_row = 12;
  for (Index k = 0; k < 160; ++k) helix.angles.push_back(static_cast<double>(k) * whole_turn / 40);
  const FlexibleBeam turns = as_free_views(views_along(helix, {61, 25, 0.5, 0.5, 30}));
  expect_agreement(turns, grid, "helix", rows_in_float);
  expect_agreement(as_free_views(views_along(helix, {61, 25, 0.5, 0.5, 20})), grid,
                   "helix, one turn a slice");
  FlexibleBeam leaning = turns;
  for (FlexibleView& view : leaning.views) {
    for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
      *each = turned(*each, {0.6, 0.8, 0}, 3 * degree);
    const Vector3 ray = view.detector - view.source;
    view.bin_step = turned(view.bin_step, 1 / length(ray) * ray, 2 * degree);
  }
  expect_agreement(leaning, grid, "helix that leans", rows_in_float);
  ConeBeam aside{
      .detector = {50, 37, 0.5, 0.5, 14.5}, .angles = {}, .sod = 60, .sdd = 90, .midplane_row = 18};
  for (Index k = 0; k < 40; ++k) aside.angles.push_back(static_cast<double>(k) * whole_turn / 40);
  expect_agreement(as_flexible(aside), grid, "aside");
}

/// Blocks of views, of which each needs some of the one before.
TEST_F(CudaOrbitFbp, AHelixFromFileToVolumeIsThatOfTheCpu) {
  const TemporaryFolder folder;
  Trajectory helix;
  helix.name = "helix", helix.pitch = 5, helix.sod = 60, helix.sdd = 90, helix.midplane_row = 9.5;
  for (Index k = 0; k < 90; ++k) helix.angles.push_back(static_cast<double>(k) * whole_turn / 30);
  pipeline::Simulation made;
  made.phantom = "ellipsoids";
  made.scan = views_along(helix, {43, 20, 0.5, 0.5, 21.4});
  made.grid = fitting_grid(made.scan);
  write_scan(folder / "scan.h5", pipeline::SimulatedScan(made));
  const auto reader = io::open_scan(folder / "scan.h5");
  const std::vector<float> on_the_cpu = reconstructed(folder / "scan.h5", {});
  pipeline::Recipe recipe;
  recipe.devices = {gpu};
  pipeline::Plan plan = make_plan(reader->info(), recipe);
  for (const Index views : {7, 32}) {
    std::get<pipeline::ViewSizes>(plan.flow.sizes).block_views = views;
    EXPECT_LE(relative_error(reconstructed(*reader, plan), on_the_cpu),
              tolerance::fbp_devices + rows_in_float)
        << views;
  }
}

TEST_F(CudaOrbitFbp, HasTheSameBitsInEveryRun) {
  const FlexibleBeam scan = standing(45, 37, 61, 60, 90, {0, 0.1, 0.05}, false, 0.5);
  const LinearOperator B = fbp(scan, {{33, 29, 21}, {0.5, 0.5, 0.5}, {}}, {}, {}, gpu);
  expect_same_bits_in_every_run(B, "FBP");
}

TEST_F(CudaOrbitFbp, RefusesTheTransposeOfTheFilter) {
  Trajectory helix;
  helix.name = "helix", helix.pitch = 5, helix.sod = 60, helix.sdd = 90, helix.midplane_row = 3;
  for (Index k = 0; k < 40; ++k) helix.angles.push_back(static_cast<double>(k) * whole_turn / 20);
  const FlexibleBeam turns = as_free_views(views_along(helix, {11, 7, 0.5, 0.5, 5}));
  const VolumeGrid grid{{5, 5, 3}, {0.5, 0.5, 0.5}, {}};
  for (const LinearOperator& map :
       {ramp_filter(standing(9, 7, 11, 60, 90, {}, false, 0.5), {}, gpu), ramp_filter(turns, {}, gpu),
        fdk_backprojector(turns, grid, Model::separable_footprint, gpu)})
    EXPECT_THROW(adjoint(map) * random_array(map.range(), 3), DeviceError);
}

}  // namespace
}  // namespace tandem::test
