// The hierarchical pair on CUDA against that of the CPU for the same groups. Skipped where no GPU is.

#include <cuda_runtime.h>

#include "../../kernels/bounds.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

/// Places are rounded to 2^-19 of a column and 2^-17 of a row in float, from where they count in a block, a
/// weight by 1.4 times as much; four passes of these, and the sums.
constexpr double as_on_the_cpu = 2e-5;

struct Case {
  std::string name;
  ConeBeam scan;
  VolumeGrid grid;
};

/// Cells of 0.53 mm at the axis.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Index views : {1, 5, 40, 300})
    all.push_back({std::to_string(views) + " views", far_cone(views, 37, 61), box(31, 27, 29, 0.5)});
  const ConeBeam scan = far_cone(150, 61, 83);
  all.push_back({"slab aside", scan, {{40, 45, 5}, {0.5, 0.5, 0.4}, {2, -3, 4}}});
  all.push_back({"one voxel", scan, box(1, 1, 1, 0.4)});
  all.push_back({"fine voxels", scan, box(90, 70, 60, 0.2)});
  all.push_back({"large voxels", scan, box(20, 22, 17, 1.6)});
  all.push_back({"tall grid", scan, box(20, 22, 120, 0.5)});
  all.push_back({"a fan", far_cone(150, 1, 83), {{40, 38, 1}, {0.5, 0.5, 0.4}, {0.3, -0.2, 0}}});
  const Detector small{13, 9, 2, 2, 7.3};  // 32 columns from its first one on reach behind the sources
  all.push_back(
      {"near sources", {small, {0, 0.93, 1.87, 2.72, 3.66, 4.59, 5.44}, 18, 36, 3.8}, box(9, 9, 9, 1)});
  all.push_back({"detector aside", scan, box(31, 27, 29, 0.5)});
  all.back().scan.detector.axis_bin += 25;
  return all;
}

class CudaHierarchical : public Cuda {
 protected:
  static LinearOperator made(const Case& c, Device device) {
    return projector(c.scan, c.grid, Model::hierarchical, device);
  }
};

TEST_F(CudaHierarchical, AgreesWithTheCpu) {
  const kernels::HierarchicalVariant& there = kernels::hierarchical(cpu).front();
  Stream& stream = default_stream(cpu);
  for (const Case& c : cases()) {
    const auto groups = kernels::pack_hierarchical(c.scan, c.grid, kernels::grouping_on(gpu));
    const LinearOperator A = made(c, gpu);
    const Space volume = A.domain().on(cpu), projections = A.range().on(cpu);
    const Array x = random_array(volume, 2), q = random_array(projections, 3);
    Array back(volume), seen(projections);
    there.forward(*groups, {}, 1, image(ConstVectorView(x)), 0, image(VectorView(seen)), stream);
    there.backward(*groups, {}, 1, image(ConstVectorView(q)), 0, image(VectorView(back)), stream);
    stream.synchronize();
    EXPECT_LE(relative_error(A * on_device(x, gpu), seen), as_on_the_cpu) << c.name;
    EXPECT_LE(relative_error(adjoint(A) * on_device(q, gpu), back), as_on_the_cpu) << c.name;
  }
}

TEST_F(CudaHierarchical, PairsMatchAndHaveTheSameBits) {
  for (const Case& c : cases()) {
    const LinearOperator A = made(c, gpu);
    const Adjointness a = adjointness(A, 2);
    EXPECT_LE(a.mismatch, kernels::bounds::passes_on_cuda.mu) << c.name;
    EXPECT_NEAR(a.coupling, 1, kernels::bounds::passes_on_cuda.kappa) << c.name;
    const Array x = on_device(random_array(A.domain().on(cpu), 5), gpu), y = A * x;
    EXPECT_TRUE(same_bits(A * x, y)) << c.name;
    EXPECT_TRUE(same_bits(adjoint(A) * y, adjoint(A) * y)) << c.name;
  }
}

/// The memory beside its vectors. Each scratch is rounded up to 512 bytes, and there are less than a hundred.
TEST_F(CudaHierarchical, TakesWhatThePlanSays) {
  constexpr double rounding = 1 << 16;
  for (const Case& c : cases()) {
    const WorkingMemory planned = hierarchical_memory(c.scan, c.grid, gpu);
    const LinearOperator A = made(c, gpu);
    Array x(A.domain()), y(A.range());
    Stream& stream = default_stream(gpu);
    EXPECT_LE(taken_by([&] { A.apply(1, x, 0, y, stream); }, gpu), planned.forward + rounding) << c.name;
    EXPECT_LE(taken_by([&] { A.apply_adjoint(1, y, 0, x, stream); }, gpu), planned.backward + rounding)
        << c.name;
  }
}

}  // namespace
}  // namespace tandem::test
