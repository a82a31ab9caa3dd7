// The filter of any geometry on CUDA against the CPU. Skipped where no GPU is.

#include "../../operators/orbit_fbp.hpp"

#include "../../geometry/trajectories.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../support/flexible_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

class CudaOrbitFbp : public Cuda {
 protected:
  void expect_agreement(const FlexibleBeam& scan, const VolumeGrid& grid, const std::string& what) const {
    const Filter filter{.padding = Padding::cosine};
    const LinearOperator F = ramp_filter(scan, grid, filter), B = backprojector(scan, grid);
    const Array y = random_array(F.domain(), 2), q = random_array(F.range(), 3), there = on_device(y, gpu);
    EXPECT_LE(relative_error(ramp_filter(scan, grid, filter, {}, gpu) * there, F * y), tolerance::devices)
        << "filter, " << what;
    EXPECT_LE(relative_error(backprojector(scan, grid, {}, gpu) * on_device(q, gpu), B * q),
              tolerance::devices)
        << "back, " << what;
    EXPECT_LE(relative_error(fbp(scan, grid, filter, {}, gpu) * there, B * (F * y)), tolerance::fbp_devices)
        << what;
  }
};

/// Detectors that stand level, that are turned, that are aside; parallel rays; a helix.
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
  expect_agreement(views_along(helix, {61, 25, 0.5, 0.5, 30}), grid, "helix");
  ConeBeam aside{
      .detector = {50, 37, 0.5, 0.5, 14.5}, .angles = {}, .sod = 60, .sdd = 90, .midplane_row = 18};
  for (Index k = 0; k < 40; ++k) aside.angles.push_back(static_cast<double>(k) * whole_turn / 40);
  expect_agreement(as_flexible(aside), grid, "aside");
}

TEST_F(CudaOrbitFbp, HasTheSameBitsInEveryRun) {
  const FlexibleBeam scan = standing(45, 37, 61, 60, 90, {0, 0.1, 0.05}, false, 0.5);
  const LinearOperator B = fbp(scan, {{33, 29, 21}, {0.5, 0.5, 0.5}, {}}, {}, {}, gpu);
  const Array y = random_array(B.domain(), 3), x = B * y;
  for (int run = 0; run < 5; ++run) EXPECT_TRUE(same_bits(B * y, x));
}

TEST_F(CudaOrbitFbp, RefusesTheTransposeOfTheFilter) {
  const FlexibleBeam scan = standing(9, 7, 11, 60, 90, {}, false, 0.5);
  const LinearOperator F = ramp_filter(scan, {}, gpu);
  const Array y = random_array(F.range(), 3);
  EXPECT_THROW(adjoint(F) * y, DeviceError);
}

}  // namespace
}  // namespace tandem::test
