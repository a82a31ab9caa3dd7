#include "footprint_error.hpp"

#include "../core/rounding.hpp"
#include "../kernels/footprint.hpp"
#include "../operators/random.hpp"

namespace tandem::bench {

namespace {

Index at_random(Random& random, Index count) { return floor_index(random.uniform() * count); }

}  // namespace

double footprint_backward_error(const ConeViews& n, ConstVectorView q, ConstVectorView x) {
  const Image<const float> in = image(q), out = image(x);
  return sampled_error(400, [&](Index k) {
    Random random = Random(1).at(k);
    const bool corner = k < 8;
    const Index ix = corner ? k % 2 * (out.n2 - 1) : at_random(random, out.n2),
                iy = corner ? k / 2 % 2 * (out.n1 - 1) : at_random(random, out.n1),
                iz = corner ? k / 4 * (out.n0 - 1) : at_random(random, out.n0);
    double sum = 0;
    for (Index v = 0; v < in.n0; ++v) {
      const kernels::Trapezoid<double> t = kernels::trapezoid_of(n.views[v], ix, iy);
      const kernels::Column column = kernels::column_at(n.views[v], t.distance);
      const double low = column.first + column.step * iz;
      const Range bins = kernels::cells_between(t.corners[0], t.corners[3], in.n2),
                  rows = kernels::cells_between(low, low + column.step, in.n1);
      for (Index bin = bins.first; bin < bins.last; ++bin)
        for (Index row = rows.first; row < rows.last; ++row)
          sum += kernels::mean_over(t, bin) * kernels::share_of(low, low + column.step, 1.0 * row) *
                 kernels::slant_of<double>(n.views[v], row, bin) * in(v, row, bin);
    }
    return std::pair{double{out(iz, iy, ix)}, sum};
  });
}

double footprint_forward_error(const ConeViews& n, ConstVectorView x, ConstVectorView q) {
  const Image<const float> in = image(x), out = image(q);
  return sampled_error(64, [&](Index k) {
    Random random = Random(2).at(k);
    const Index v = at_random(random, out.n0), row = at_random(random, out.n1),
                bin = at_random(random, out.n2);
    double sum = 0;
    for (Index iy = 0; iy < in.n1; ++iy)
      for (Index ix = 0; ix < in.n2; ++ix) {
        const kernels::Trapezoid<double> t = kernels::trapezoid_of(n.views[v], ix, iy);
        const double weight = kernels::mean_over(t, bin);
        if (weight == 0) continue;
        const kernels::Column column = kernels::column_at(n.views[v], t.distance);
        const double voxel = (row - column.first) / column.step, half = 0.5 / column.step;
        const Range voxels = kernels::cells_between(voxel - half - 0.5, voxel + half - 0.5, in.n0);
        for (Index iz = voxels.first; iz < voxels.last; ++iz) {
          const double low = column.first + column.step * iz;
          sum += weight * kernels::share_of(low, low + column.step, 1.0 * row) * in(iz, iy, ix);
        }
      }
    return std::pair{double{out(v, row, bin)}, sum * kernels::slant_of<double>(n.views[v], row, bin)};
  });
}

}  // namespace tandem::bench
