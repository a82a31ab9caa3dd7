#include "row_axes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../geometry/view_subsets.hpp"
#include "../operators/algebra.hpp"
#include "../operators/ramp_filter.hpp"

namespace tandem::pipeline {

namespace {

/// Bins that lie on the detector before and after a row is moved by `shift` bins to the right.
Range on_both(Index bins, double shift) {
  constexpr double rounding = 1e-6;
  const auto first = static_cast<Index>(std::ceil(-shift - rounding)),
             last = bins + static_cast<Index>(std::floor(-shift + rounding));
  const Range kept{std::clamp<Index>(first, 0, bins), std::clamp<Index>(last, 0, bins)};
  return {kept.first, std::max(kept.first, kept.last)};
}

/// Bins to the right that rows are moved by, one a row.
std::vector<double> moves_of(const Scan& scan) {
  const Detector& d = detector_of(scan);
  std::vector<double> moves(static_cast<std::size_t>(d.rows), 0.0);
  const std::vector<double>& axes = row_axes_of(scan);
  std::transform(axes.begin(), axes.end(), moves.begin(), [&](double axis) { return d.axis_bin - axis; });
  return moves;
}

/// A of what was measured.
LinearOperator of_measured(const Scan& scan, const LinearOperator& A) {
  return diagonal(on_device(measured(scan, A.range()), A.range().device())) * A;
}

/// What `Equations::subsets` is for a problem.
std::function<Subsets(Index)> subsets_of(const Problem& problem) {
  if (!problem.of_views) return {};
  return [scan = problem.scan, own = problem.own_views, of_views = problem.of_views](Index count) {
    std::vector<LinearOperator> parts;
    std::vector<std::vector<Index>> places;  // of data, among those of this process
    for (const std::vector<Index>& views : view_subsets(angles_of(scan), period_of(scan), count)) {
      const LinearOperator A = of_views(views);
      parts.push_back(has_row_axes(scan) ? of_measured(scan, A) : A);
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
  require<GeometryError>(beam != nullptr, "--row-axes goes with a parallel beam");
  require<GeometryError>(static_cast<Index>(axes.size()) == beam->detector.rows, "--row-axes: ", axes.size(),
                         " axes for ", beam->detector.rows, " rows; one per row of the file is needed");
  beam->row_axis_bins = axes;
  beam->detector.axis_bin = std::accumulate(axes.begin(), axes.end(), 0.0) / static_cast<double>(axes.size());
}

std::vector<Range> bins_kept(const Scan& scan) {
  std::vector<Range> kept;
  for (double shift : moves_of(scan)) kept.push_back(on_both(detector_of(scan).bins, shift));
  return kept;
}

std::vector<Index> data_kept(const Scan& scan) {
  const bool one_block = !rows_are_slices(scan);
  const auto views = static_cast<Index>(angles_of(scan).size());
  std::vector<Index> data;
  for (const Range& kept : bins_kept(scan)) {
    if (data.empty() || !one_block) data.push_back(0);
    data.back() += views * kept.size();
  }
  return data;
}

Array measured(const Scan& scan, const Space& space) {
  Array weights(space.on(Device::cpu()));
  const Image<float> all = image(VectorView(weights));
  const std::vector<double> moves = moves_of(scan);
  parallel_for(all.n0, [&](Index view) {
    for (Index row = 0; row < all.n1; ++row) {
      const Range filled = on_both(all.n2, -moves[static_cast<std::size_t>(row)]);
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
  data.y = std::visit([&](const auto& scan) { return align_rows(scan, device); }, problem.scan) * data.y;
  const LinearOperator kept = diagonal(on_device(measured(problem.scan, problem.A.range()), device));
  return {kept * problem.A, kept * data.y, {}, pitch, subsets};
}

}  // namespace tandem::pipeline
