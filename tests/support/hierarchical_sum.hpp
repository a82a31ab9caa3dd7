#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../core/array.hpp"
#include "../../core/random.hpp"
#include "../../kernels/hierarchical.hpp"
#include "scans.hpp"

namespace tandem::test {

/// A detector of 1.5 n x 1.25 n cells (one row: a fan), whose cells are as large as a voxel at the axis.
inline ConeBeam wide_cone(Index n, Index rows, std::vector<double> angles) {
  const double size = static_cast<double>(n);
  return {{3 * n / 2, rows, 1.5, 1.5, 0.75 * size - 0.5 + 0.3},
          std::move(angles),
          2.344 * size,
          1.5 * 2.344 * size,
          0.5 * static_cast<double>(rows - 1) - (rows > 1 ? 0.7 : 0.0)};
}

inline ConeBeam cone_case(Index n, Index views) {
  return wide_cone(n, 5 * n / 4, regular_angles(views, whole_turn));
}
inline ConeBeam fan_case(Index n, Index views) { return wide_cone(n, 1, regular_angles(views, whole_turn)); }
inline VolumeGrid cube(Index n, Index slices) { return {{n, n, slices}, {1, 1, 1}, {}}; }

inline std::size_t below(Random& random, std::size_t count) {
  return static_cast<std::size_t>(random.uniform() * static_cast<double>(count));
}

/// The value of some taps at a position among numbers beyond which there are zeros.
template <class At>
double interpolated(const kernels::Taps& taps, double position, Index count, const At& at) {
  const Range read = kernels::read_by(taps, position);
  double sum = 0;
  for (Index i = read.first; i < read.last; ++i)
    if (i >= 0 && i < count)
      sum += static_cast<double>(taps.weight(static_cast<int>(i - read.first),
                                             static_cast<float>(position - std::floor(position) - 0.5))) *
             at(i);
  return sum;
}

/// What the pair stands for: all views one by one, with the taps of views along bins and rows.
inline double summed(const ConeBeam& scan, const kernels::HierarchicalViews& n, Image<const float> q,
                     double x, double y, double z) {
  double sum = 0;
  for (std::size_t v = 0; v < scan.angles.size(); ++v) {
    const double c = std::cos(scan.angles[v]), s = std::sin(scan.angles[v]);
    const double m = scan.sod / (scan.sod - x * s + y * c);
    const auto slanted = [&](Index row, Index bin) {
      const double across = (static_cast<double>(bin) - n.axis_bin) * n.bin_pitch,
                   up = (static_cast<double>(row) - n.midplane_row) * n.row_pitch;
      return std::hypot(n.sdd, across, up) / n.sdd * static_cast<double>(q(static_cast<Index>(v), row, bin));
    };
    const auto row_at = [&](Index row) {
      return interpolated(n.of_views, n.axis_bin + m * (x * c + y * s) / n.cell_u(), n.bins,
                          [&](Index bin) { return slanted(row, bin); });
    };
    const double row = n.midplane_row + m * z / n.cell_v();
    sum += n.view_weight().at(m) * (n.flat() ? row_at(0) : interpolated(n.of_view_rows, row, n.rows, row_at));
  }
  return sum;
}

/// Relative L2 at some voxels of x, which is to be the back-projection of q by a plan, to the sum that the
/// plan stands for.
inline double error_of_sum(const ConeBeam& scan, const kernels::HierarchicalViews& n, const VolumeGrid& grid,
                           const Array& q, const Array& x, Index points) {
  const Image<const float> seen = image(ConstVectorView(x));
  Random random(7);
  const auto one_of = [&](Index count) {
    return static_cast<Index>(below(random, static_cast<std::size_t>(count)));
  };
  double difference = 0, size = 0;
  for (Index k = 0; k < points; ++k) {
    const Index iz = one_of(seen.n0), iy = one_of(seen.n1), ix = one_of(seen.n2);
    const double expected = summed(scan, n, image(ConstVectorView(q)), grid.x(static_cast<double>(ix)),
                                   grid.y(static_cast<double>(iy)), grid.z(static_cast<double>(iz)));
    difference += std::pow(seen(iz, iy, ix) - expected, 2), size += expected * expected;
  }
  return std::sqrt(difference / size);
}

}  // namespace tandem::test
