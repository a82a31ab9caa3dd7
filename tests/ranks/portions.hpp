#pragma once

// A rank's part of the vectors that all ranks have together, beside the whole vectors, which each test makes
// for itself.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../../core/comm.hpp"
#include "../../operators/distributed/rank_projector.hpp"
#include "../../operators/subsets.hpp"
#include "../../solvers/solver.hpp"
#include "../support/operators.hpp"

namespace tandem::test {

inline Comm all() { return Comm::world(); }

/// Whether this process goes on if a rank fails; else it ends.
extern std::atomic<bool> outlives_failures;

/// The lines of a portion, from those of the whole vector, which lies on the host.
inline Array portion_of(const Array& whole, const Space& portion) {
  Array own(portion.on(Device::cpu()));
  for (int i = 0; i < portion.parts(); ++i) {
    const Space part = portion.part(i);
    const Index bins = part.shape()[2];
    const float* from = whole.data() + whole.space().offset(i);
    for (Index line = 0; line < part.size() / bins; ++line)
      std::copy_n(from + part.line_in_whole(line) * bins, bins, own.data() + portion.offset(i) + line * bins);
  }
  return on_device(std::move(own), portion.device());
}

/// How far this rank's portion is from the whole vector's, relative to the L2 norm of the whole.
inline double error_of(const Array& own, const Array& whole) {
  const Array truth = portion_of(whole, own.space().on(Device::cpu())), here = on_device(own, Device::cpu());
  double difference = 0, size = 0;
  for (Index i = 0; i < own.size(); ++i)
    difference += std::pow(static_cast<double>(here.data()[i]) - static_cast<double>(truth.data()[i]), 2);
  for (Index i = 0; i < whole.size(); ++i) size += std::pow(static_cast<double>(whole.data()[i]), 2);
  return std::sqrt(difference / size);
}

/// The bytes of all lines of a volume but those of some rank.
inline double bytes_but_of(int rank, const VolumeGrid& grid, Index together) {
  const auto [nx, ny, nz] = grid.size;
  const int ranks = all().size();
  return 4.0 * (nx * nz * (ny - portion_of_rank(ny, (rank + ranks) % ranks, ranks, together).size()));
}

/// The bytes that this rank sends in applications of a projector: strips or their sums.
inline double bytes_of_strips(const Applications& some, const VolumeGrid& grid, Index together = 1) {
  return some.forward * bytes_but_of(all().rank() - 1, grid, together) +
         some.adjoint * bytes_but_of(all().rank(), grid, together);
}

/// A scan on all ranks, and the same in one process.
template <class Beam>
struct RankCase {
  std::string name;
  Beam scan;
  VolumeGrid grid;
  Index lines_at_once = 0;
  Model model = Model::separable_footprint;
  Device device = Device::cpu();  ///< device of each rank
  bool through_host = false;

  Range own_views() const { return portion_of_rank(views_of(scan), all().rank(), all().size()); }
  LinearOperator here() const { return projector(scan, grid, model); }
  LinearOperator over_ranks() const { return over_ranks(scan, own_views()); }
  LinearOperator over_ranks(const Beam& some, Range views) const {
    return rank_projector(
        all(), {.grid = grid,
                .projections = projection_space(some, device).portion(0, views.first, views.last),
                .lines_at_once = lines_at_once,
                .of_part =
                    [=, *this](const VolumeGrid& lines) {
                      return projector(crop(some, views, {0, some.detector.rows}, {0, some.detector.bins}),
                                       lines, model, device);
                    },
                .through_host = through_host,
                .lines_together = lines_together(some)});
  }
};
using ConeCase = RankCase<ConeBeam>;

/// The operator in subsets of views, of which each rank has some, perhaps none.
template <class Beam>
Subsets subsets_over_ranks(const RankCase<Beam>& c, Index count) {
  const Range own = c.own_views();
  std::vector<LinearOperator> parts;
  std::vector<std::vector<Index>> views;
  for (const auto& subset : view_subsets(c.scan, count)) {
    const auto first = std::ranges::lower_bound(subset, own.first),
               last = std::ranges::lower_bound(subset, own.last);
    parts.push_back(c.over_ranks(std::get<Beam>(with_views(c.scan, subset)),
                                 {first - subset.begin(), last - subset.begin()}));
    std::vector<Index>& mine = views.emplace_back(first, last);
    for (Index& view : mine) view -= own.first;
  }
  return {std::move(parts), std::move(views)};
}

/// Odd splits, fewer views or lines than ranks, one slice, parts of one line.
inline std::vector<ConeCase> cone_cases() {
  return {{"odd", far_cone(19, 7, 23), box(13, 11, 5, 0.7)},
          {"line by line", far_cone(19, 7, 23), box(13, 11, 5, 0.7), 1},
          {"parts of 2 lines", far_cone(19, 7, 23), box(13, 11, 5, 0.7), 2},
          {"one view", far_cone(1, 7, 23), box(13, 11, 5, 0.7), 3},
          {"two lines", far_cone(19, 7, 23), box(13, 2, 5, 0.7)},
          {"one line, two views", far_cone(2, 7, 23), box(13, 1, 5, 0.7)},
          {"one slice", far_cone(19, 3, 23), box(13, 11, 1, 0.7)},
          {"joseph", far_cone(19, 7, 23), box(13, 11, 5, 0.7), 0, Model::joseph},
          {"pixel-driven", far_cone(19, 7, 23), box(13, 11, 5, 0.7), 2, Model::pixel_driven}};
}

}  // namespace tandem::test
