// The cone-beam cases, after Georgin, Batenburg, Chapdelaine et al. 2019: N^3 voxels, detector 1.5 N x 1.125
// N cells of twice the voxel, magnification 2.

#include <cmath>

#include "harness.hpp"
#include "input.hpp"
#include "tandem/core/parallel.hpp"
#include "tandem/kernels/footprint.hpp"
#include "tandem/operators/adjointness.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/random.hpp"

namespace tandem::bench {

namespace {

struct Case {
  ConeBeam scan;
  VolumeGrid grid;
  Case(Index size, Index views) {
    const double n = static_cast<double>(size);
    const Index bins = 3 * size / 2, rows = 9 * size / 8;
    scan = {{bins, rows, 2, 2, 0.5 * static_cast<double>(bins - 1)},
            {},
            2400 * n / 1024,
            4800 * n / 1024,
            0.5 * static_cast<double>(rows - 1)};
    for (Index v = 0; v < views; ++v)
      scan.angles.push_back(whole_turn * static_cast<double>(v) / static_cast<double>(views));
    grid = {{size, size, size}, {1, 1, 1}, {}};
  }
  double updates() const {
    return static_cast<double>(grid.size[0] * grid.size[1] * grid.size[2]) *
           static_cast<double>(scan.angles.size());
  }
};

/// F2 of a voxel that covers [first + step z, ... + step] and one row.
double share_of(const kernels::Column& column, Index z, Index row) {
  const double low = column.first + column.step * static_cast<double>(z), centre = static_cast<double>(row);
  return std::max(0.0, std::min(low + column.step, centre + 0.5) - std::max(low, centre - 0.5));
}

/// Relative L2, of so many sums that `pair` gives: the one to judge and its truth.
template <class Pair>
double sampled_error(int count, const Pair& pair) {
  std::vector<double> difference(static_cast<std::size_t>(count)), size(difference);
  parallel_for(count, [&](Index k) {
    const auto [got, truth] = pair(k);
    difference[static_cast<std::size_t>(k)] = std::pow(got - truth, 2);
    size[static_cast<std::size_t>(k)] = truth * truth;
  });
  double over = 0, under = 0;
  for (double d : difference) over += d;
  for (double s : size) under += s;
  return std::sqrt(over / under);
}

Index at_random(Random& random, Index count) {
  return static_cast<Index>(random.uniform() * static_cast<double>(count));
}

/// At random voxels and the corners, against the sum in double.
double backward_error(const Case& c, const Array& there_q, const Array& there_x) {
  const Array q = on_device(there_q, Device::cpu()), x = on_device(there_x, Device::cpu());
  const ConeViews n = pack(c.scan, c.grid);
  const Image<const float> in = image(ConstView(q)), out = image(ConstView(x));
  return sampled_error(400, [&](Index k) {
    Random random = Random(1).at(static_cast<std::uint64_t>(k));
    const bool corner = k < 8;
    const Index ix = corner ? k % 2 * (out.n2 - 1) : at_random(random, out.n2),
                iy = corner ? k / 2 % 2 * (out.n1 - 1) : at_random(random, out.n1),
                iz = corner ? k / 4 * (out.n0 - 1) : at_random(random, out.n0);
    double sum = 0;
    for (Index v = 0; v < in.n0; ++v) {
      const kernels::Trapezoid<double> t =
          kernels::trapezoid_of(n, n.views[static_cast<std::size_t>(v)], ix, iy);
      const kernels::Column column = kernels::column_at(n, t.distance);
      const double low = column.first + column.step * static_cast<double>(iz);
      const Range bins = kernels::cells_between(t.corners[0], t.corners[3], in.n2),
                  rows = kernels::cells_between(low, low + column.step, in.n1);
      for (Index bin = bins.first; bin < bins.last; ++bin)
        for (Index row = rows.first; row < rows.last; ++row)
          sum += kernels::mean_over(t, bin) * share_of(column, iz, row) * kernels::slant_of(n, row, bin) *
                 in(v, row, bin);
    }
    return std::pair{static_cast<double>(out(iz, iy, ix)), sum};
  });
}

/// At random cells, against the sum in double over all columns.
double forward_error(const Case& c, const Array& there_x, const Array& there_q) {
  const Array q = on_device(there_q, Device::cpu()), x = on_device(there_x, Device::cpu());
  const ConeViews n = pack(c.scan, c.grid);
  const Image<const float> in = image(ConstView(x)), out = image(ConstView(q));
  return sampled_error(64, [&](Index k) {
    Random random = Random(2).at(static_cast<std::uint64_t>(k));
    const Index v = at_random(random, out.n0), row = at_random(random, out.n1),
                bin = at_random(random, out.n2);
    double sum = 0;
    for (Index iy = 0; iy < in.n1; ++iy)
      for (Index ix = 0; ix < in.n2; ++ix) {
        const kernels::Trapezoid<double> t =
            kernels::trapezoid_of(n, n.views[static_cast<std::size_t>(v)], ix, iy);
        const double weight = kernels::mean_over(t, bin);
        if (weight == 0) continue;
        const kernels::Column column = kernels::column_at(n, t.distance);
        const double voxel = (static_cast<double>(row) - column.first) / column.step,
                     half = 0.5 / column.step;
        const Range voxels = kernels::cells_between(voxel - half - 0.5, voxel + half - 0.5, in.n0);
        for (Index iz = voxels.first; iz < voxels.last; ++iz)
          sum += weight * share_of(column, iz, row) * in(iz, iy, ix);
      }
    return std::pair{static_cast<double>(out(v, row, bin)), sum * kernels::slant_of(n, row, bin)};
  });
}

Rows::value_type line(const Case& c, const char* direction, const char* tuned, int by, double ms) {
  return {{"variant", "separable_footprint"},
          {"precision", "float32"},
          {"direction", direction},
          {"slices", c.grid.size[2]},
          {"size", c.grid.size[0]},
          {"views", c.scan.angles.size()},
          {tuned, by},
          {"ms", ms},
          {"gups", c.updates() / ms * 1e-6}};
}

}  // namespace

Rows cone(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  Stream& stream = default_stream(axes.device);
  const Case c(axes.size, axes.views),
      small(std::min<Index>(axes.size, 256), std::min<Index>(axes.views, 256));
  const auto tuned = [&](const Case& of, FootprintTuning tuning) {
    return projector(of.scan, of.grid, Model::separable_footprint, axes.device, tuning);
  };
  const auto add_pair = [&](FootprintTuning tuning) {
    const Adjointness pair = adjointness(tuned(small, tuning), 2);
    rows.back()["mu"] = pair.mismatch, rows.back()["kappa"] = pair.coupling;
  };
  Array q = input(tuned(c, {}).range()), x(tuned(c, {}).domain());
  for (const int voxels : axes.sweep ? std::vector{1, 2, 3} : std::vector{0}) {
    on_line("separable footprint, back");
    const FootprintTuning tuning{0, voxels};
    const LinearOperator A = tuned(c, tuning);
    const double ms = median_ms(axes, [&] { A.apply_adjoint(1, q, 0, x, stream); });
    rows.push_back(line(c, "back", "voxels_a_thread", voxels, ms));
    rows.back()["relative_error"] = backward_error(c, q, x);
    add_pair(tuning);
  }
  x = input(x.space());
  for (const int cells : axes.sweep ? std::vector{64, 128, 256} : std::vector{0}) {
    on_line("separable footprint, forward");
    const FootprintTuning tuning{cells, 0};
    const LinearOperator A = tuned(c, tuning);
    const double ms = median_ms(axes, [&] { A.apply(1, x, 0, q, stream); });
    rows.push_back(line(c, "forward", "rows_a_block", cells, ms));
    rows.back()["relative_error"] = forward_error(c, x, q);
    add_pair(tuning);
  }
  return rows;
}

}  // namespace tandem::bench
