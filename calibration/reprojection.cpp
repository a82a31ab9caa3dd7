#include "reprojection.hpp"

#include <algorithm>
#include <cmath>

#include "../geometry/fitted_orbit.hpp"
#include "../geometry/free_views.hpp"
#include "../geometry/view_angles.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/vector.hpp"
#include "changed_views.hpp"

namespace tandem::calibration {

namespace {

/// The radius, mm, of the circle that all views see; of views all round, which see it from both sides, that
/// of the grid.
double radius_seen(const Scan& scan, const VolumeGrid& grid) {
  const FittedOrbit orbit = fitted_orbit(scan);
  const bool round = orbit.goes_on || all_round(orbit.angles);
  const auto free = as_free_views(scan);
  double aside = 0;  // bins, of the axis
  for (const FlexibleView& view : free.views) aside += place_of(free, view).bin / std::ssize(free.views);
  const double side = grid.pitch[0] * (0.5 * grid.size[0] - (round ? 0 : std::abs(aside)));
  return free.parallel ? side : side / std::hypot(1, side / orbit.radius);
}

}  // namespace

Reprojection::Reprojection(const FrameStack& frames, const Scan& scan, Device device)
    : frames_(frames),
      parallel_(as_free_views(scan).parallel),
      grid_(fitting_grid(scan)),
      A_(projector(scan, grid_, {}, device)),
      F_(ramp_filter(scan, grid_, {.window = Window::hann}, {}, device)),
      B_(backprojector(scan, grid_, {}, device)),
      stream_(default_stream(device)),
      measured_(vector_of(frames, F_.domain())),
      filtered_(F_ * measured_),
      round_(field_of_view(scan)) {}

FrameStack Reprojection::of_all() {
  Array x(B_.range(), stream_), y(A_.range(), stream_);
  see(filtered_, 0, x, y);
  if (parallel_) return smoothed_frames(y);
  Array rest = measured_.clone(stream_);
  axpby(-1, y, 1, rest, stream_);
  see(F_ * rest, 1, x, y);
  return smoothed_frames(y);
}

FrameStack Reprojection::of_half(Index first) {
  const Space& all = filtered_.space();
  const auto [views, rows, bins] = all.shape();
  FrameStack twice{{}, rows, bins};
  for (Index view = 0; view < views; ++view)
    twice.values.insert(twice.values.end(), rows * bins, view % 2 == first ? 2.0F : 0.0F);
  Array half = vector_of(twice, all), x(B_.range(), stream_), y(A_.range(), stream_);
  multiply(filtered_, half, stream_);
  see(half, 0, x, y);
  return smoothed_frames(y);
}

void Reprojection::see(const Array& filtered, float before, Array& x, Array& y) {
  B_.apply(1, filtered, before, x, stream_);
  multiply(round_, x, stream_);
  A_.apply(1, x, 0, y, stream_);
}

FrameStack Reprojection::smoothed_frames(const Array& y) const {
  return smoothed(
      {values_of(y), frames_.rows, frames_.bins, frames_.angles, frames_.bin_angle, frames_.aspect}, 1);
}

/// 1 within the circle that all views see, and 0 outside, where a filter leaves what is not there.
Array Reprojection::field_of_view(const Scan& scan) const {
  const double radius = radius_seen(scan, grid_);
  const auto [nx, ny, nz] = grid_.size;
  FrameStack field{UnsetVector<float>(nx * ny * nz, 1), ny, nx};
  for (Index iy = 0; iy < ny; ++iy)
    for (Index ix = 0; ix < nx; ++ix)
      if (std::hypot(grid_.x(ix) - grid_.centre[0], grid_.y(iy) - grid_.centre[1]) > radius)
        for (Index iz = 0; iz < nz; ++iz) field.values[(iz * ny + iy) * nx + ix] = 0;
  return vector_of(field, A_.domain());
}

}  // namespace tandem::calibration
