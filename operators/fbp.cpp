#include "tandem/operators/fbp.hpp"

#include <cmath>

#include "tandem/operators/algebra.hpp"
#include "tandem/operators/vector.hpp"

namespace tandem {

namespace {

/// Every view times the same weights, one a cell.
struct CellWeights {
  Space space;
  std::shared_ptr<const Array> weights;
  Space domain() const { return space; }
  Space range() const { return space; }
  void apply(float alpha, ConstView x, float beta, View y, Stream& stream) const {
    const Space& cells = weights->space();
    for (Index first = 0; first < space.size(); first += cells.size()) {
      const ConstView from(x.data + first, cells);
      const View to{y.data + first, cells};
      if (beta == 0) {
        axpby(alpha, from, 0, to, stream);
        multiply(*weights, to, stream);
      } else {
        Array product(cells);
        axpby(alpha, from, 0, product, stream);
        multiply(*weights, product, stream);
        axpby(1, product, beta, to, stream);
      }
    }
  }
  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream& stream) const {
    apply(alpha, y, beta, x, stream);
  }
};

/// scale / r, r from the source to the cell.
LinearOperator over_distance(const ConeBeam& scan, double scale, Device device) {
  const Detector& d = scan.detector;
  Array weights(Space({1, d.rows, d.bins}));
  for (Index row = 0; row < d.rows; ++row)
    for (Index bin = 0; bin < d.bins; ++bin) {
      const double u = (static_cast<double>(bin) - d.axis_bin) * d.bin_pitch,
                   v = (static_cast<double>(row) - scan.midplane_row) * d.row_pitch;
      weights.data()[row * d.bins + bin] = static_cast<float>(scale / std::hypot(scan.sdd, u, v));
    }
  return CellWeights{projection_space(scan, device),
                     std::make_shared<const Array>(on_device(weights, device))};
}

}  // namespace

LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid) {
  // each view's hat has the area pitch^2 / bin_pitch (geometry/views.hpp); interpolation wants the area one
  return static_cast<float>(scan.detector.bin_pitch / (grid.pitch[0] * grid.pitch[1])) * adjoint(A);
}

LinearOperator ray_weights(const ConeBeam& scan, Device device) {
  validate(scan);
  return over_distance(scan, scan.sdd, device);
}

LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid) {
  const double voxel = grid.pitch[0] * grid.pitch[1] * grid.pitch[2];
  const double cell = scan.detector.bin_pitch * scan.detector.row_pitch;
  return adjoint(A) *
         over_distance(scan, scan.sod * scan.sod * cell / (voxel * scan.sdd), A.domain().device());
}

LinearOperator fbp(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid, Filter filter) {
  const Device device = A.domain().device();
  return backprojector(A, scan, grid) * ramp_filter(scan, filter, device) * ray_weights(scan, device);
}

LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid, Filter filter) {
  return backprojector(A, scan, grid) * ramp_filter(scan, filter, A.domain().device());
}

}  // namespace tandem
