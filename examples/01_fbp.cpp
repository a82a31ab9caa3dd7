// A disc of known attenuation, its exact line integrals, and filtered back-projection: the disc reads what it
// is.
//
// Expected output:
//   middle of the disc: 0.0200 1/mm, true 0.02 1/mm
//   air beside it:      0.0000 1/mm, true 0
#include <cmath>
#include <cstdio>
#include <numbers>

#include "../geometry/phantom.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"

using namespace tandem;

namespace {

/// Mean over the pixels whose centres lie within `radius` mm of (x, y).
double mean_around(const Array& image, const VolumeGrid& grid, double x, double y, double radius) {
  double sum = 0, count = 0;
  for (Index iy = 0; iy < grid.size[1]; ++iy)
    for (Index ix = 0; ix < grid.size[0]; ++ix)
      if (std::hypot(grid.x(ix) - x, grid.y(iy) - y) <= radius)
        sum += image.data()[iy * grid.size[0] + ix], ++count;
  return sum / count;
}

}  // namespace

int main() {
  ParallelBeam scan;
  scan.detector = {.bins = 200, .rows = 1, .bin_pitch = 0.5, .row_pitch = 0.5, .axis_bin = 99.5};
  for (int view = 0; view < 360; ++view) scan.angles.push_back(view * std::numbers::pi / 360);

  const VolumeGrid grid = fitting_grid(scan);  // voxels of the bin pitch, a slice for each detector row
  const double radius = half_width(grid);      // 50 mm
  const Phantom body = scaled(disc(), radius, 0.02);

  Array y(projection_space(scan));  // line integrals (view, row, bin)
  project(body, scan, {0, 1}, std::span(y.data(), y.size()));

  const LinearOperator A = projector(scan, grid);  // forward operator, adjoint included
  const LinearOperator F = ramp_filter(scan, {.window = Window::hann, .cutoff = {}});
  const LinearOperator B = backprojector(A, scan, grid);  // adjoint(A), scaled
  const Array x = B * F * y;

  const double inside = mean_around(x, grid, 0.2 * radius, 0.1 * radius, 0.4 * radius);
  const double outside = mean_around(x, grid, -0.6 * radius, 0, 0.1 * radius);
  std::printf("middle of the disc: %.4f 1/mm, true 0.02 1/mm\n", inside);
  std::printf("air beside it:      %.4f 1/mm, true 0\n", std::abs(outside));
  return std::abs(inside - 0.02) < 2e-4 && std::abs(outside) < 2e-4 ? 0 : 1;
}
