#include "reprojection.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"

namespace tandem::calibration {

Reprojection::Reprojection(const FrameStack& frames, const FlexibleBeam& scan)
    : frames_(frames),
      parallel_(scan.parallel),
      grid_(fitting_grid(scan)),
      A_(projector(scan, grid_)),
      F_(ramp_filter(Scan(scan), grid_, {.window = Window::hann})),
      B_(backprojector(Scan(scan), grid_)),
      filtered_(F_.range()) {
  Array y(F_.domain());
  std::copy(frames.values.begin(), frames.values.end(), y.data());
  F_.apply(1, y, 0, filtered_, stream_);
}

FrameStack Reprojection::of_all() {
  Array x(B_.range()), y(A_.range());
  see(filtered_, 0, x, y);
  if (parallel_) return smoothed_frames(y);
  Array rest(F_.domain()), filtered(F_.range());
  std::transform(frames_.values.begin(), frames_.values.end(), y.data(), rest.data(), std::minus());
  F_.apply(1, rest, 0, filtered, stream_);
  see(filtered, 1, x, y);
  return smoothed_frames(y);
}

FrameStack Reprojection::of_half(Index first) {
  Array half = filtered_.clone(), x(B_.range()), y(A_.range());
  const Shape shape = half.space().shape();
  for (Index view = 0; view < shape[0]; ++view)
    for (Index k = 0; k < shape[1] * shape[2]; ++k)
      half.data()[view * shape[1] * shape[2] + k] *= view % 2 == first ? 2.0F : 0.0F;
  see(half, 0, x, y);
  return smoothed_frames(y);
}

void Reprojection::see(const Array& filtered, float before, Array& x, Array& y) {
  B_.apply(1, filtered, before, x, stream_);
  cut_round(x);
  A_.apply(1, x, 0, y, stream_);
}

FrameStack Reprojection::smoothed_frames(const Array& y) const {
  return smoothed({{y.data(), y.data() + y.size()},
                   frames_.rows,
                   frames_.bins,
                   frames_.angles,
                   frames_.bin_angle,
                   frames_.aspect},
                  1);
}

/// Outside of the circle that all views see a filter leaves what is not there.
void Reprojection::cut_round(Array& x) const {
  const auto radius = 0.5 * std::min(grid_.size[0] * grid_.pitch[0], grid_.size[1] * grid_.pitch[1]);
  const auto [nx, ny, nz] = grid_.size;
  for (Index iy = 0; iy < ny; ++iy)
    for (Index ix = 0; ix < nx; ++ix)
      if (std::hypot(grid_.x(ix) - grid_.centre[0], grid_.y(iy) - grid_.centre[1]) > radius)
        for (Index iz = 0; iz < nz; ++iz) x.data()[(iz * ny + iy) * nx + ix] = 0;
}

}  // namespace tandem::calibration
