#pragma once

#include <numbers>

#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../pipeline/watch/quality.hpp"
#include "scans.hpp"

namespace tandem::test {

/// Line integrals and truth of modified Shepp-Logan, at most 1: as many bins as pixels, pitch one pixel.
struct KnownScan {
  ParallelBeam scan;
  VolumeGrid grid;
  Phantom phantom;

  KnownScan(Index n, Index views, bool both_ends = false)
      : scan{.detector = {.bins = n, .axis_bin = 0.5 * static_cast<double>(n - 1)},
             .angles = regular_angles(views, std::numbers::pi, both_ends)},
        grid(fitting_grid(scan)),
        phantom(scaled(shepp_logan(), half_width(grid), 1)) {}

  Array line_integrals() const {
    Array y(projection_space(scan));
    project(phantom, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    return y;
  }

  Array truth(Index slices = 1) const {
    Array all(volume_space(with_slices(grid, slices)));
    const std::size_t slice = static_cast<std::size_t>(all.size() / slices);
    for (Index k = 0; k < slices; ++k)
      voxelise(phantom, grid, {0, 1}, {all.data() + static_cast<std::size_t>(k) * slice, slice});
    return all;
  }

  /// Reconstructs on the device where `y` lies; the filter makes up for `interpolation`.
  Array reconstruct(const Array& y, Window window, Index slices = 1, Execution how = {},
                    const Interpolation& interpolation = {}) const {
    const ParallelBeam rows = with_rows(scan, slices);
    const VolumeGrid volume = with_slices(grid, slices);
    return fbp(projector(rows, volume, Model::pixel_driven, y.space().device(), how), rows, volume,
               {.window = window}, interpolation) *
           y;
  }
};

inline pipeline::Quality quality(const Array& image, const Array& truth, Index slice = 0) {
  const Shape n = image.space().shape();
  const std::size_t size = static_cast<std::size_t>(n[1] * n[2]),
                    first = static_cast<std::size_t>(slice) * size;
  return pipeline::compare({image.data() + first, size}, {truth.data() + first, size}, {1, n[1], n[2]});
}

}  // namespace tandem::test
