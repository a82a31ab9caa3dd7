// Model::fourier on a GPU: the CPU's numbers, and the same bits whatever is beside a slice. Skipped where no
// GPU is.

#include "../../operators/fourier.hpp"

#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

struct FourierCase {
  std::string name;
  ParallelBeam scan;
  VolumeGrid grid;
};

/// Sizes with one to four passes of each transform, pixels and bins that differ, grids off the middle, rows
/// with an axis of their own, rays along the axes.
std::vector<FourierCase> fourier_cases() {
  std::vector<FourierCase> all{
      {"small", scan_of(23, 11, 21), grid_of(17, 19, 11)},
      {"one pixel", scan_of(2, 1, 4), grid_of(1, 1, 1)},
      {"fine pixels", scan_of(31, 3, 60), grid_of(301, 130, 3, 0.4)},
      {"coarse pixels", scan_of(31, 5, 333), grid_of(40, 61, 5, 2.3)},
      {"many bins", scan_of(13, 2, 2500), grid_of(70, 90, 2, 3)},
      {"wide", scan_of(40, 70, 700), grid_of(1111, 64, 70)},
      {"tall", scan_of(7, 1, 90), grid_of(40, 2700, 1)},
  };
  all.push_back({"off the middle", scan_of(60, 4, 100), grid_of(50, 44, 4)});
  all.back().grid.centre = {23.4, -11, 0};
  all.push_back({"along the axes", scan_of(8, 4, 100), grid_of(100, 100, 4)});
  for (std::size_t v = 0; v < 8; ++v)
    all.back().scan.angles[v] = static_cast<double>(v) * 0.78539816339744831;
  all.push_back({"one view a direction", scan_of(1, 2, 64), grid_of(64, 64, 2)});
  all.back().scan.angles = {0};
  return all;
}

ParallelBeam with_row_axes(ParallelBeam scan) {
  for (Index row = 0; row < scan.detector.rows; ++row)
    scan.row_axis_bins.push_back(scan.detector.axis_bin + 0.37 * static_cast<double>(row % 5));
  return scan;
}

using CudaFourier = Cuda;

void expect_same(const Make& make, const std::string& name) {
  expect_the_cpus(make, name, tolerance::fourier_pair, tolerance::fourier_pair);
}

/// Makers of operators on a device.
Make pairs(const ParallelBeam& scan, const VolumeGrid& grid, const Execution& how = {}) {
  return [=](Device device) { return fourier_projector(scan, grid, device, how); };
}
Make fourier_fbps(const ParallelBeam& scan, const VolumeGrid& grid, const Filter& filter = {}) {
  return [=](Device device) { return fourier_fbp(scan, grid, filter, device); };
}

TEST_F(CudaFourier, AgreesWithTheCpu) {
  for (const FourierCase& c : fourier_cases())
    for (const double accuracy : {1e-3, 1e-4, 1e-5})
      expect_same(pairs(c.scan, c.grid, {.accuracy = accuracy}), c.name);
}

TEST_F(CudaFourier, FbpAgreesWithTheCpu) {
  for (const FourierCase& c : fourier_cases())
    for (const ParallelBeam& scan : {c.scan, with_row_axes(c.scan)})
      expect_same(fourier_fbps(scan, c.grid, {.window = Window::hann, .cutoff = {}}), c.name);
}

TEST_F(CudaFourier, ShiftedViewsAgreeWithTheCpu) {
  const ParallelBeam scan = with_shifted_views(scan_of(60, 4, 100));
  const VolumeGrid grid = grid_of(91, 84, 4);
  expect_same(pairs(scan, grid), "projector");
  EXPECT_LE(adjointness(pairs(scan, grid)(gpu)).mismatch, 2 * tolerance::fourier_pair);
  for (const ParallelBeam& each : {scan, with_row_axes(scan)})
    expect_alike(fourier_fbp(each, grid, {}, gpu), fourier_fbp(each, grid), "fbp", tolerance::fourier_pair);
}

TEST_F(CudaFourier, PairsMatch) {
  for (const FourierCase& c : fourier_cases())
    expect_match(pairs(c.scan, c.grid)(gpu), c.name, 2 * tolerance::fourier_pair, tolerance::fourier_pair);
}

TEST_F(CudaFourier, ABrightNeighbourDoesNoHarm) {
  const LinearOperator A = adjoint(fourier_projector(scan_of(33, 3, 45), grid_of(45, 37, 3), gpu));
  const Array x = on_device(random_array(A.domain(), 3), cpu), plain = A * on_device(x, gpu);
  Array bright = x.clone();
  for (Index v = 0; v < 33; ++v)
    for (Index b = 0; b < 45; ++b) image(VectorView(bright))(v, 1, b) *= 1000;
  const Array out = A * on_device(bright, gpu);
  const LinearOperator one = adjoint(fourier_projector(scan_of(33, 1, 45), grid_of(45, 37, 1), gpu));
  for (const Index z : {0, 2})
    EXPECT_TRUE(same_bits(one_of(out, z, one.range()), one_of(plain, z, one.range())));
}

}  // namespace
}  // namespace tandem::test
