#include "row_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/ramp_filter.hpp"

namespace tandem::pipeline {

namespace {

/// The bins of a row of `bins` that lie on a detector of `onto` bins after the row is moved by `shift` bins
/// to the right.
Range landing(Index bins, double shift, Index onto) {
  constexpr double rounding = 1e-6;
  const auto first = ceil_index(-shift - rounding), last = onto + floor_index(-shift + rounding);
  const Range kept{std::clamp<Index>(first, 0, bins), std::clamp<Index>(last, 0, bins)};
  return {kept.first, std::max(kept.first, kept.last)};
}

/// The number of bins by which each row is moved to the right on this detector, which has more bins at its
/// beginning than the rows.
std::vector<double> moves_of(const Scan& scan, const Detector& d) {
  std::vector<double> moves(d.rows,
                            0.0);  // all rows on one axis lie on one detector
  const std::vector<double>& axes = row_axes_of(scan);
  std::transform(axes.begin(), axes.end(), moves.begin(), [&](double axis) { return d.axis_bin - axis; });
  return moves;
}

/// The operator A with zeros for all that was not measured.
LinearOperator of_measured(const Scan& scan, const VolumeGrid& grid, const LinearOperator& A) {
  return diagonal(on_device(measured(scan, grid, A.range()), A.range().device())) * A;
}

std::function<Subsets(Index)> subsets_of(const Problem& problem) {
  if (!problem.of_views) return {};
  return [scan = problem.scan, grid = problem.grid, own = problem.own_views,
          of_views = problem.of_views](Index count) {
    std::vector<LinearOperator> parts;
    std::vector<std::vector<Index>> places;  // where data of a subset lie among those of this process
    for (const std::vector<Index>& views : view_subsets(scan, count)) {
      const LinearOperator A = of_views(views);
      parts.push_back(has_row_axes(scan) ? of_measured(scan, grid, A) : A);
      const Range mine = places_within(views, own);
      for (Index& view : places.emplace_back(views.begin() + mine.first, views.begin() + mine.last))
        view -= own.first;
    }
    return Subsets(std::move(parts), std::move(places));
  };
}

}  // namespace

void give_row_axes(Scan& scan, const std::vector<double>& axes) {
  auto* beam = std::get_if<ParallelBeam>(&scan);
  require<GeometryError>(beam != nullptr, spelled("row-axes") + " goes with a parallel beam");
  require<GeometryError>(std::ssize(axes) == beam->detector.rows, spelled("row-axes") + ": ", axes.size(),
                         " axes for ", beam->detector.rows, " rows; one per row of the file is needed");
  beam->row_axis_bins = axes;
  beam->detector.axis_bin = std::accumulate(axes.begin(), axes.end(), 0.0) / axes.size();
}

namespace {

/// A scan with bins added at both ends of its detector, until it reaches `reach` bins from the axis on both
/// sides.
ParallelBeam widened(ParallelBeam wide, double reach) {
  Detector& d = wide.detector;
  constexpr double edge = 0.5, rounding = 1e-6;  // bins: half of the last bin, and a tolerance
  const auto missing = [&](double there) {
    return std::max<Index>(0, ceil_index(reach - edge - there - rounding));
  };
  const Index low = missing(d.axis_bin), high = missing(d.bins - 1 - d.axis_bin);
  d.bins += low + high, d.axis_bin += low;
  for (double& axis : wide.row_axis_bins) axis += low;
  return wide;
}

}  // namespace

LinearOperator projector_onto_rows(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model) {
  if (!has_row_axes(scan)) return projector(scan, grid, model);
  const auto& beam = std::get<ParallelBeam>(scan);
  const auto reach = [&](std::size_t k) {
    return std::abs(grid.centre[k]) + 0.5 * grid.size[k] * grid.pitch[k];
  };
  const ParallelBeam wide = widened(beam, 1 + std::hypot(reach(0), reach(1)) / beam.detector.bin_pitch);
  return adjoint(align_rows(beam, wide, Padding::none)) * projector(wide, grid, *model);
}

Scan solved_scan(const Scan& scan, const VolumeGrid& grid) {
  if (!has_row_axes(scan)) return scan;
  const auto& beam = std::get<ParallelBeam>(scan);
  double reach = 0;
  for (const std::size_t k : {0u, 1u})
    reach = std::max(reach, std::abs(grid.centre[k]) + 0.5 * grid.size[k] * grid.pitch[k]);
  return widened(beam, reach / beam.detector.bin_pitch);
}

std::vector<Range> bins_kept(const Scan& scan, const VolumeGrid& grid) {
  const Detector wide = detector_of(solved_scan(scan, grid));
  std::vector<Range> kept;
  for (double shift : moves_of(scan, wide)) kept.push_back(landing(detector_of(scan).bins, shift, wide.bins));
  return kept;
}

std::vector<Index> data_kept(const Scan& scan, const VolumeGrid& grid) {
  const bool one_block = !rows_are_slices(scan);
  const Index views = views_of(scan);
  std::vector<Index> data;
  for (const Range& kept : bins_kept(scan, grid)) {
    if (data.empty() || !one_block) data.push_back(0);
    data.back() += views * kept.size();
  }
  return data;
}

Array measured(const Scan& scan, const VolumeGrid& grid, const Space& space) {
  Array weights(space.on(Device::cpu()));
  const Image<float> all = image(VectorView(weights));
  const std::vector<double> moves = moves_of(scan, detector_of(solved_scan(scan, grid)));
  const Index bins = detector_of(scan).bins;
  parallel_for(all.n0, [&](Index view) {
    for (Index row = 0; row < all.n1; ++row) {
      const Range filled = landing(all.n2, -moves[row], bins);
      std::fill_n(&all(view, row, 0), all.n2, 0.0f);
      std::fill_n(&all(view, row, 0) + filled.first, filled.size(), 1.0f);
    }
  });
  return weights;
}

Equations equations_of(const Problem& problem, LineIntegrals data) {
  const std::array<double, 3>& pitch = problem.grid.pitch;
  const auto subsets = subsets_of(problem);
  if (!has_row_axes(problem.scan))
    return {problem.A, std::move(data.y), std::move(data.weights), pitch, subsets};
  const Device device = data.y.space().device();
  const Scan wide = solved_scan(problem.scan, problem.grid);
  data.y = align_rows(std::get<ParallelBeam>(problem.scan), std::get<ParallelBeam>(wide), Padding::cosine,
                      device) *
           data.y;
  const LinearOperator kept =
      diagonal(on_device(measured(problem.scan, problem.grid, problem.A.range()), device));
  return {kept * problem.A, kept * data.y, {}, pitch, subsets};
}

}  // namespace tandem::pipeline
