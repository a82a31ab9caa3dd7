#pragma once

// What several examples begin with: a phantom, and its exact line integrals in few views.

#include <numbers>

#include "../core/random.hpp"
#include "../geometry/phantom.hpp"
#include "../operators/projector.hpp"
#include "../operators/vector.hpp"

struct FewViews {
  tandem::ParallelBeam scan;
  tandem::VolumeGrid grid;
  tandem::Array truth, y;  ///< the volume, and line integrals (view, row, bin)
};

inline FewViews few_views(tandem::Index bins, int views) {
  using namespace tandem;
  ParallelBeam scan;
  scan.detector = {.bins = bins, .rows = 1, .axis_bin = 0.5 * (bins - 1)};
  for (int view = 0; view < views; ++view) scan.angles.push_back(view * std::numbers::pi / views);
  const VolumeGrid grid = fitting_grid(scan);
  const Phantom body = scaled(shepp_logan(), half_width(grid), 0.05);
  Array truth(volume_space(grid)), y(projection_space(scan));
  voxelise(body, grid, {0, 1}, std::span(truth.data(), truth.size()));
  project(body, scan, {0, 1}, std::span(y.data(), y.size()));
  return {scan, grid, std::move(truth), std::move(y)};
}

inline double relative_error(const tandem::Array& x, const tandem::Array& truth) {
  tandem::Stream& stream = tandem::default_stream(tandem::Device::cpu());
  tandem::Array difference = x.clone();
  axpby(-1, truth, 1, difference, stream);
  return norm(difference, stream)[0] / norm(truth, stream)[0];
}
