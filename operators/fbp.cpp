#include "tandem/operators/fbp.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/geometry/coverage.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/vector.hpp"

namespace tandem {

namespace {

/// Every cell of view v and row r at bin b times cells(r, b), and times rays(v, b) where they are given.
struct RayWeights {
  Space space;
  std::shared_ptr<const Array> cells, rays;
  Space domain() const { return space; }
  Space range() const { return space; }
  void apply(float alpha, ConstView x, float beta, View y, Stream& stream) const {
    const Space view = cells->space(), row({1, 1, view.shape()[2]}, Blocks::whole, view.device());
    const Index rows = view.shape()[1];
    Array product(view);
    for (Index v = 0; v < space.shape()[0]; ++v) {
      axpby(alpha, {x.data + v * view.size(), view}, 0, product, stream);
      multiply(*cells, product, stream);
      for (Index r = 0; rays && r < rows; ++r)
        multiply({rays->data() + v * row.size(), row}, {product.data() + r * row.size(), row}, stream);
      axpby(1, product, beta, {y.data + v * view.size(), view}, stream);
    }
  }
  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream& stream) const {
    apply(alpha, y, beta, x, stream);
  }
};

/// Rows go into longer ones from bin `first` on, beside zeros.
struct Widening {
  Space narrow, wide;
  Index first;
  static LinearOperator between(const ConeBeam& scan, const ConeBeam& wide, Device device) {
    if (wide.detector.bins == scan.detector.bins) return identity(projection_space(scan, device));
    const double moved = wide.detector.axis_bin - scan.detector.axis_bin;
    return Widening{projection_space(scan, device), projection_space(wide, device), std::lround(moved)};
  }
  Space domain() const { return narrow; }
  Space range() const { return wide; }
  void apply(float alpha, ConstView x, float beta, View y, Stream& stream) const {
    if (beta == 0) {
      fill(y, 0, stream);
    } else {
      axpby(beta - 1, y, 1, y, stream);
    }
    for_each_row(x, y, [&](ConstView from, View to) { axpby(alpha, from, 1, to, stream); });
  }
  void apply_adjoint(float alpha, ConstView y, float beta, View x, Stream& stream) const {
    for_each_row(x, y, [&](View to, ConstView from) { axpby(alpha, from, beta, to, stream); });
  }

 private:
  template <class Narrow, class Wide, class Body>
  void for_each_row(const Narrow& x, const Wide& y, const Body& body) const {
    const Index bins = narrow.shape()[2], wide_bins = wide.shape()[2];
    const Space row({1, 1, bins}, Blocks::whole, narrow.device());
    for (Index r = 0; r < narrow.size() / bins; ++r)
      body(Narrow{x.data + r * bins, row}, Wide{y.data + r * wide_bins + first, row});
  }
};

/// scale / r, r from the source to the cell.
Array over_distance(const ConeBeam& scan, double scale) {
  const Detector& d = scan.detector;
  Array weights(Space({1, d.rows, d.bins}));
  for (Index row = 0; row < d.rows; ++row)
    for (Index bin = 0; bin < d.bins; ++bin) {
      const double u = (static_cast<double>(bin) - d.axis_bin) * d.bin_pitch,
                   v = (static_cast<double>(row) - scan.midplane_row) * d.row_pitch;
      weights.data()[row * d.bins + bin] = static_cast<float>(scale / std::hypot(scan.sdd, u, v));
    }
  return weights;
}

std::shared_ptr<const Array> shared_on(Device device, const Array& array) {
  return std::make_shared<const Array>(on_device(array, device));
}

}  // namespace

LinearOperator backprojector(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid) {
  // each view's hat has the area pitch^2 / bin_pitch (geometry/views.hpp); interpolation wants the area one
  return static_cast<float>(scan.detector.bin_pitch / (grid.pitch[0] * grid.pitch[1])) * adjoint(A);
}

LinearOperator ray_weights(const ConeBeam& scan, Device device) {
  const std::vector<float> shares = ray_shares(scan);
  Array rays(Space({static_cast<Index>(scan.angles.size()), 1, scan.detector.bins}));
  std::copy(shares.begin(), shares.end(), rays.data());
  return RayWeights{projection_space(scan, device), shared_on(device, over_distance(scan, scan.sdd)),
                    shared_on(device, rays)};
}

LinearOperator backprojector(const LinearOperator& A, const ConeBeam& scan, const VolumeGrid& grid) {
  const double voxel = grid.pitch[0] * grid.pitch[1] * grid.pitch[2];
  const double cell = scan.detector.bin_pitch * scan.detector.row_pitch;
  const Array weights = over_distance(scan, scan.sod * scan.sod * cell / (voxel * scan.sdd));
  const Device device = A.domain().device();
  return adjoint(A) * RayWeights{projection_space(scan, device), shared_on(device, weights), nullptr};
}

LinearOperator fdk_filter(const ConeBeam& scan, Filter filter, Device device) {
  const ConeBeam wide = symmetric(scan);
  return ramp_filter(wide, filter, device) * Widening::between(scan, wide, device) *
         ray_weights(scan, device);
}

LinearOperator fdk_backprojector(const ConeBeam& scan, const VolumeGrid& grid, Model model, Device device) {
  const ConeBeam wide = symmetric(scan);
  const VolumeGrid seen = flat_for_fan(scan, grid);
  return backprojector(projector(wide, seen, model, device), wide, seen);
}

LinearOperator fdk(const ConeBeam& scan, const VolumeGrid& grid, Filter filter, Model model, Device device) {
  return fdk_backprojector(scan, grid, model, device) * fdk_filter(scan, filter, device);
}

LinearOperator fbp(const LinearOperator& A, const ParallelBeam& scan, const VolumeGrid& grid, Filter filter) {
  return backprojector(A, scan, grid) * ramp_filter(scan, filter, A.domain().device());
}

}  // namespace tandem
