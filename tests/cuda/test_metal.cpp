// Rays through metal on a GPU, against the CPU. Skipped where no GPU is.

#include <cmath>

#include "../../calibration/metal.hpp"
#include "../../counts/hardening_polynomial.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

using CudaMetal = Cuda;

/// An ellipse with a dense pin aside, and the part of the beam that goes through it anyway.
Array lines_of(const Scan& scan, double radius) {
  const Phantom sample = scaled({{{1, {0.7, 0.55, 0.8}, {0.05, 0, 0}, 0.3}}}, radius, 0.03),
                pin = scaled({{{12, {0.1, 0.08, 0.5}, {-0.3, 0.1, 0}, 0}}}, radius, 0.03);
  std::vector<float> rays(projection_space(scan).size()), metal(rays.size());
  project(sample, scan, {0, detector_of(scan).rows}, rays);
  project(pin, scan, {0, detector_of(scan).rows}, metal);
  Array lines(projection_space(scan));
  for (std::size_t k = 0; k < rays.size(); ++k)
    lines.data()[k] = rays[k] - std::log(0.9F * std::exp(-metal[k]) + 0.1F * std::exp(-metal[k] / 4));
  return lines;
}

void expect_mended_alike(const Scan& scan, double radius) {
  const VolumeGrid grid = fitting_grid(scan);
  std::vector<Array> mended, volumes;
  for (const Device device : {Device::cpu(), Device::cuda(0)}) {
    const auto [search, metal, dense] =
        calibration::look_at_first_volume(lines_of(scan, radius), scan, grid, {}, device);
    ASSERT_TRUE(metal) << name_of(search.verdict);
    const Mend mend(grid, *metal);
    const DenseParts parts(grid, metal->values, {0.1, 0.3});
    for (const Device there : {Device::cpu(), Device::cuda(0)}) {
      Array y = on_device(lines_of(scan, radius), there);
      mend(y, scan);
      parts(y, scan);
      mended.push_back(on_device(y, Device::cpu()));
      Array volume = on_device(Array(Space(grid.shape())), there);
      mend.put_back(volume, grid);
      volumes.push_back(on_device(volume, Device::cpu()));
    }
  }
  EXPECT_GT(relative_error(mended.front(), lines_of(scan, radius)), 0.01);
  for (std::size_t k = 1; k < mended.size(); ++k) {
    EXPECT_LE(relative_error(mended[k], mended.front()), 1e-5) << k;
    EXPECT_LE(relative_error(volumes[k], volumes.front()), 1e-4) << k;
  }
}

TEST_F(CudaMetal, IsMendedAsOnTheCpu) {
  ParallelBeam beam{.detector = {.bins = 96, .rows = 3, .axis_bin = 47.5}, .angles = {}};
  for (int v = 0; v < 120; ++v) beam.angles.push_back(v * half_turn / 120);
  expect_mended_alike(beam, 48);
  ConeBeam cone{{96, 40, 1, 1, 47.5}, {}, 300, 450, 19.5};
  for (int v = 0; v < 120; ++v) cone.angles.push_back(v * whole_turn / 120);
  expect_mended_alike(cone, 32);
}

TEST_F(CudaMetal, BeamHardeningIsCorrectedAsOnTheCpu) {
  const Space rows({5, 7, 131});
  Array here = random_array(rows, 3), there = on_device(here, gpu);
  const pipeline::HardeningPolynomial straight({1, 0.2, 0.05, -0.01}, 0.7);
  straighten(straight, here);
  straighten(straight, there);
  EXPECT_LE(relative_error(on_device(there, cpu), here), 1e-7);
  const pipeline::HardeningPolynomial falls({1, -0.7});
  EXPECT_THROW(straighten(falls, there), GeometryError);
}

}  // namespace
}  // namespace tandem::test
