#include "tandem/operators/fbp.hpp"

#include "tandem/operators/algebra.hpp"

namespace tandem {

LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid) {
  // each view's hat has the area pitch^2 / bin_pitch (geometry/views.hpp); interpolation wants the area one
  return static_cast<float>(scan.detector.bin_pitch / (grid.pitch[0] * grid.pitch[1])) * adjoint(A);
}

LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid, Filter filter) {
  return backprojector(A, scan, grid) * ramp_filter(scan, filter, A.domain().device());
}

}  // namespace tandem
