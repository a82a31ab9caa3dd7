#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../../operators/tiled_projector.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/tiles.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {

/// A scan whose vectors come to GPUs in parts, and what one GPU makes of all of it.
class CudaParts : public Cuda {
 protected:
  void take(Scan some, const VolumeGrid& of) {
    scan = std::move(some), grid = of;
    const LinearOperator whole = projectors(scan, grid)(gpu);
    x = random_array(whole.domain().on(cpu), 5), q = random_array(whole.range().on(cpu), 6);
    forward = on_device(whole * on_device(x, gpu), cpu);
    back = on_device(adjoint(whole) * on_device(q, gpu), cpu);
  }
  double least() const {
    if (const auto* cone = std::get_if<ConeBeam>(&scan)) return smallest_tile(*cone, grid, gpu);
    return smallest_tile(std::get<FlexibleBeam>(scan), grid, gpu);
  }
  LinearOperator tiled(std::vector<Device> on, double bytes, TileRun run = {}) const {
    return tiled_projector(scan, grid, std::move(on), bytes, std::move(run));
  }
  void expect_whole(const LinearOperator& A, double bound, const std::string& what) const {
    EXPECT_LE(relative_error(A * x, forward), bound) << what;
    EXPECT_LE(relative_error(adjoint(A) * q, back), bound) << what;
  }

  Scan scan;
  VolumeGrid grid;
  const Space nothing{{1, 1, 1}};
  Array x{nothing}, q{nothing}, forward{nothing}, back{nothing};
};

/// Views whose shadows reach two cells to a side, and bricks that the ends of the volume cut.
inline FlexibleBeam leaning_views() { return standing(61, 67, 83, 160, 320, {0.3, 0.2, 0.1}, false, 1.6); }
inline VolumeGrid cut_bricks() { return {{37, 61, 43}, {1, 1, 0.9}, {0.3, -0.2, 0.1}}; }

}  // namespace tandem::test
