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

class CudaFourier : public Cuda {
 protected:
  void expect_same(const LinearOperator& there, const LinearOperator& here, const std::string& name) const {
    const Array x = random_array(here.domain(), 3);
    EXPECT_LE(relative_error(there * on_device(x, gpu), here * x), tolerance::fourier_pair) << name;
  }
};

TEST_F(CudaFourier, AgreesWithTheCpu) {
  for (const FourierCase& c : fourier_cases())
    for (const double accuracy : {1e-3, 1e-4, 1e-5}) {
      const Execution how{.accuracy = accuracy};
      const LinearOperator there = fourier_projector(c.scan, c.grid, gpu, how),
                           here = fourier_projector(c.scan, c.grid, cpu, how);
      expect_same(there, here, c.name + ", forward");
      expect_same(adjoint(there), adjoint(here), c.name + ", backward");
    }
}

TEST_F(CudaFourier, FbpAgreesWithTheCpu) {
  for (const FourierCase& c : fourier_cases())
    for (const ParallelBeam& scan : {c.scan, with_row_axes(c.scan)}) {
      const Filter filter{.window = Window::hann, .cutoff = {}};
      const LinearOperator there = fourier_fbp(scan, c.grid, filter, gpu),
                           here = fourier_fbp(scan, c.grid, filter, cpu);
      expect_same(there, here, c.name);
      expect_same(adjoint(there), adjoint(here), c.name + ", transpose");
    }
}

TEST_F(CudaFourier, ShiftedViewsAgreeWithTheCpu) {
  const ParallelBeam scan = with_shifted_views(scan_of(60, 4, 100));
  const VolumeGrid grid = grid_of(91, 84, 4);
  const LinearOperator there = fourier_projector(scan, grid, gpu), here = fourier_projector(scan, grid, cpu);
  expect_same(there, here, "forward");
  expect_same(adjoint(there), adjoint(here), "backward");
  EXPECT_LE(adjointness(there).mismatch, 2 * tolerance::fourier_pair);
  for (const ParallelBeam& each : {scan, with_row_axes(scan)})
    expect_same(fourier_fbp(each, grid, {}, gpu), fourier_fbp(each, grid, {}, cpu), "fbp");
}

TEST_F(CudaFourier, PairsMatch) {
  for (const FourierCase& c : fourier_cases()) {
    const Adjointness a = adjointness(fourier_projector(c.scan, c.grid, gpu));
    EXPECT_LE(a.mismatch, 2 * tolerance::fourier_pair) << c.name;
    EXPECT_LE(std::abs(a.coupling - 1), tolerance::fourier_pair) << c.name;
  }
}

TEST_F(CudaFourier, ASliceHasTheSameBitsWhateverIsBesideIt) {
  const ParallelBeam scan = scan_of(33, 150, 45);
  const VolumeGrid grid = grid_of(45, 37, 150);
  const LinearOperator many = fourier_projector(scan, grid, gpu),
                       one = fourier_projector(with_rows(scan, 1), with_slices(grid, 1), gpu);
  expect_same_bits(many, one, {0, 1, 63, 64, 129, 149}, "forward");
  expect_same_bits(adjoint(many), adjoint(one), {0, 1, 63, 64, 129, 149}, "backward");
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

TEST_F(CudaFourier, BetaZeroReadsNothing) {
  const LinearOperator A = fourier_projector(scan_of(33, 5, 45), grid_of(45, 37, 5), gpu);
  expect_beta_zero_reads_nothing(A, "forward");
  expect_beta_zero_reads_nothing(adjoint(A), "backward");
}

TEST_F(CudaFourier, NumbersThatAreNotFiniteStayInTheirSlice) {
  const ParallelBeam scan = scan_of(33, 3, 45);
  const VolumeGrid grid = grid_of(45, 37, 3);
  const LinearOperator three = fourier_projector(scan, grid, gpu),
                       one = fourier_projector(with_rows(scan, 1), with_slices(grid, 1), gpu);
  expect_infinity_to_be_seen(three, one, "forward");
  expect_infinity_to_be_seen(adjoint(three), adjoint(one), "backward");
}

}  // namespace
}  // namespace tandem::test
