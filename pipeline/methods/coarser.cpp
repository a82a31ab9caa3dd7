#include "coarser.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "../../operators/projector.hpp"
#include "../beams/placement.hpp"
#include "../beams/row_axes.hpp"
#include "variation.hpp"

namespace tandem::pipeline {

namespace {

/// Whether rows of a scan and slices of a grid become wider, as bins and pixels do.
struct Binned {
  bool rows, slices;
};

/// A grid with voxels twice as wide. Voxel k covers voxels 2k and 2k + 1 along each of the first `axes` axes,
/// so the last one may reach outside.
VolumeGrid bin_down(const VolumeGrid& grid, std::size_t axes) {
  VolumeGrid wider = grid;
  for (std::size_t i = 0; i < axes; ++i) {
    wider.size[i] = (grid.size[i] + 1) / 2;
    wider.centre[i] += 0.5 * (2 * wider.size[i] - grid.size[i]) * grid.pitch[i];
    wider.pitch[i] *= 2;
  }
  return wider;
}

/// What becomes wider. Empty if too few voxels or cells would be left, or if each row is a problem of its
/// own.
std::optional<Binned> binned(const Scan& scan, const VolumeGrid& grid, int shares) {
  constexpr Index fewest = 48, fewest_rows = 16;
  const Detector& d = detector_of(scan);
  const Index rows = d.rows, slices = grid.size[2];
  const auto few = [&](Index n) { return n > 1 && n < std::max<Index>(fewest_rows, 2 * shares); };
  if (std::min({grid.size[0], grid.size[1], d.bins}) < fewest || few(rows) || few(slices)) return {};
  if (rows_are_slices(scan) ? rows > 1 : rows == 1 && slices > 1) return {};
  return Binned{rows > 1, slices > 1};
}

/// How the worker runs a projector of this problem, as a matched pair.
Worker suited(Worker worker, Model model, const Scan& scan, const VolumeGrid& grid) {
  worker.execution.variant = "automatic";
  worker.execution = resolved(worker.execution, scan, grid, model, worker.device, Pairing::matched);
  return worker;
}

}  // namespace

std::vector<CoarserProblem> coarser_problems(const Flow& flow, Recipe options, const Problem& problem) {
  constexpr int most = 3;
  std::vector<CoarserProblem> all;
  VolumeGrid grid = problem.grid;
  Scan scan = solved_scan(problem.scan, grid);
  share_axis(scan);  // the rows were moved onto one axis
  for (int k = 0; k < most; ++k) {
    const std::optional<Binned> wider = binned(scan, grid, problem.A.domain().shares());
    if (!wider) break;
    scan = tandem::bin_down(scan, 1, true);
    grid = bin_down(grid, wider->slices ? 3 : 2);
    if (options.tv_huber) *options.tv_huber *= 2;  // differences of neighbours twice as far apart
    const Worker worker = suited(problem.worker, flow.pair.model, scan, grid);
    LinearOperator A = flow.pair.placement->projector(flow, worker, scan, problem.own_views, grid, {});
    Regulariser variation = variation_of(A.domain(), grid.pitch, options);
    all.push_back(
        {std::move(A), std::move(variation), weights_times_of(wider->rows ? 2 : 1, wider->slices ? 3 : 2)});
  }
  return all;
}

}  // namespace tandem::pipeline
