// The hierarchical pair on CUDA against the CPU. Skipped where no GPU is.

#include "../../kernels/bounds.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

class CudaHierarchical : public Cuda {
 protected:
  static LinearOperator made(const ConeBeam& scan, const VolumeGrid& grid, Device device) {
    return projector(scan, grid, Model::hierarchical, device);
  }
  void expect_agreement(const ConeBeam& scan, const VolumeGrid& grid, const std::string& what) const {
    const LinearOperator A = made(scan, grid, cpu), B = made(scan, grid, gpu);
    const Array x = random_array(A.domain(), 2), q = random_array(A.range(), 3);
    EXPECT_LE(relative_error(B * on_device(x, gpu), A * x), tolerance::hierarchical_on_cuda)
        << "forward, " << what;
    EXPECT_LE(relative_error(adjoint(B) * on_device(q, gpu), adjoint(A) * q), tolerance::hierarchical_on_cuda)
        << "back, " << what;
  }
};

/// Cells of 0.53 mm at the axis; fans, slabs, one voxel; groups without merges, and with.
TEST_F(CudaHierarchical, AgreesWithTheCpu) {
  for (const Index views : {1, 5, 40, 300})
    for (const Index rows : {1, 37}) {
      const std::string what = std::to_string(views) + " views, " + std::to_string(rows) + " rows";
      expect_agreement(far_cone(views, rows, 61), box(31, 27, rows == 1 ? 1 : 29, 0.5), what);
      expect_agreement(far_cone(views, rows, 61), box(1, 1, 1, 0.4), "one voxel, " + what);
    }
  expect_agreement(far_cone(150, 61, 83), {{40, 45, 5}, {0.5, 0.5, 0.4}, {2, -3, 4}}, "slab aside");
}

TEST_F(CudaHierarchical, PairsMatchAndHaveTheSameBits) {
  for (const Index rows : {1, 41}) {
    const LinearOperator A = made(far_cone(150, rows, 71), box(33, 35, rows == 1 ? 1 : 31, 0.5), gpu);
    const Adjointness a = adjointness(A, 4);
    EXPECT_LE(a.mismatch, kernels::bounds::passes.mu) << rows;
    EXPECT_NEAR(a.coupling, 1, kernels::bounds::passes.kappa) << rows;
    const Array x = on_device(random_array(A.domain(), 5), gpu), y = A * x;
    EXPECT_TRUE(same_bits(A * x, y)) << rows;
    EXPECT_TRUE(same_bits(adjoint(A) * y, adjoint(A) * y)) << rows;
  }
}

TEST_F(CudaHierarchical, LeavesLargeVoxelsToTheCpu) {
  expect_refused([&] { made(far_cone(9, 37, 61), box(9, 9, 9, 2), gpu); }, "larger than cells");
}

}  // namespace
}  // namespace tandem::test
