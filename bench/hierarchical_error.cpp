#include "hierarchical_error.hpp"

#include <cmath>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/phantom.hpp"
#include "../kernels/cone_hats.hpp"
#include "../kernels/hierarchical.hpp"
#include "../operators/algebra.hpp"
#include "../operators/hierarchical.hpp"
#include "../operators/ramp_filter.hpp"
#include "../operators/random.hpp"
#include "footprint_error.hpp"

namespace tandem::bench {

namespace {

using kernels::HierarchicalViews;

/// Sample i of thinned cells, or cell i if cells are not thinned; 0 beyond their ends.
template <class At>
double sample_at(const std::optional<kernels::Thinning>& thin, Index i, Index cells, const At& at) {
  if (!thin) return i >= 0 && i < cells ? at(i) : 0;
  if (i < thin->samples.first || i >= thin->samples.last) return 0;
  const std::size_t which = i - thin->samples.first;
  double sum = 0;
  for (int k = 0; k < thin->count; ++k) {
    const double weight = thin->weights[which * thin->count + k];
    if (weight != 0) sum += weight * at(thin->cells[which] + k);
  }
  return sum;
}

template <class At>
double value_of_taps(const kernels::Taps& taps, double position, const At& at) {
  const Range read = kernels::read_by(taps, position);
  const auto middle_distance = static_cast<float>(position - std::floor(position) - 0.5);
  double sum = 0;
  for (Index i = read.first; i < read.last; ++i)
    sum += double{taps.weight(static_cast<int>(i - read.first), middle_distance)} * at(i);
  return sum;
}

double sum_over_views(const ConeBeam& scan, const HierarchicalViews& n, Image<const float> q,
                      const std::array<double, 3>& place) {
  double sum = 0;
  const auto [x, y, z] = place;
  for (Index v = 0; v < q.n0; ++v) {
    const double c = std::cos(scan.angles[v]), s = std::sin(scan.angles[v]);
    const double m = n.sod / (n.sod - x * s + y * c), column = n.column_at(m * (x * c + y * s)),
                 row = n.middle_row + m * z / n.step_v;
    const auto in_row = [&](Index r) {
      return value_of_taps(n.of_views, column, [&](Index i) {
        return sample_at(n.wider, i, n.bins,
                         [&](Index bin) { return kernels::ray_length(n, r, bin) / n.sdd * q(v, r, bin); });
      });
    };
    const auto of_rows = [&](Index i) { return sample_at(n.taller, i, n.rows, in_row); };
    sum += n.view_weight().at(m) * (n.flat() ? in_row(0) : value_of_taps(n.of_view_rows, row, of_rows));
  }
  return sum;
}

}  // namespace

double hierarchical_error(const ConeBeam& narrow, const VolumeGrid& grid, Device device, AlongRows rows) {
  const ConeBeam whole = symmetric(narrow), scan = filtered_scan(whole);
  Array y(projection_space(whole));
  project(scaled(ellipsoids(), 0.5 * grid.size[0] * grid.pitch[0], 1), whole, {0, whole.detector.rows},
          std::span(y.data(), y.size()),
          3);  // means over cells, as detectors make them
  const Array q = ramp_filter(whole, {Window::hann, {}}) * y;
  const LinearOperator A = hierarchical_projector(scan, grid, device, {}, rows);
  const Array x = on_device(adjoint(A) * on_device(q, device), Device::cpu());
  const std::shared_ptr<const HierarchicalViews> n =
      kernels::pack_hierarchical(scan, grid, kernels::grouping_on(Device::cpu()), 0, rows);
  constexpr Index points = 400;
  return sampled_error(points, [&](Index k) {
    Random random = Random(3).at(k);
    std::array<Index, 3> at{};
    for (const std::size_t axis : {0u, 1u, 2u}) at[axis] = floor_index(random.uniform() * grid.size[axis]);
    const double truth =
        sum_over_views(scan, *n, image(ConstVectorView(q)), {grid.x(at[0]), grid.y(at[1]), grid.z(at[2])});
    return std::pair{double{image(ConstVectorView(x))(at[2], at[1], at[0])}, truth};
  });
}

}  // namespace tandem::bench
