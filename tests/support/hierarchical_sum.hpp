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

/// Filtered data without the rows beyond the detector.
inline Array own_rows(const ConeBeam& scan, const Array& filtered) {
  const ConeBeam wide = symmetric(scan);
  Array own(projection_space(wide));
  const Index first = std::lround(filtered_scan(scan).midplane_row - scan.midplane_row);
  Image<const float> from = image(ConstVectorView(filtered));
  from.data += first * from.s1, from.n1 = scan.detector.rows;
  copy(from, image(VectorView(own)), default_stream(Device::cpu()));
  return own;
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

/// What the pair stands for: all views one by one, with the taps of views along bins and rows. Cells that are
/// much narrower than voxels are averaged first, as `Thinning` says.
class SumOverViews {
 public:
  SumOverViews(const ConeBeam& scan, const kernels::HierarchicalViews& n, Image<const float> q)
      : scan_(scan), n_(n), columns_(n.view_columns()), rows_(n.view_rows()) {
    for (Index v = 0; v < q.n0; ++v) views_.push_back(samples_of(v, q));
  }

  double at(double x, double y, double z) const {
    double sum = 0;
    for (std::size_t v = 0; v < scan_.angles.size(); ++v) {
      const double c = std::cos(scan_.angles[v]), s = std::sin(scan_.angles[v]);
      const double m = scan_.sod / (scan_.sod - x * s + y * c);
      const double column = n_.column_at(m * (x * c + y * s)) - static_cast<double>(columns_.first),
                   row = n_.middle_row + m * z / n_.step_v - static_cast<double>(rows_.first);
      const auto of_row = [&](Index r) {
        return interpolated(n_.of_views, column, columns_.size(), [&](Index i) {
          return views_[v][static_cast<std::size_t>(i * rows_.size() + r)];
        });
      };
      sum += n_.view_weight().at(m) *
             (n_.flat() ? of_row(0) : interpolated(n_.of_view_rows, row, rows_.size(), of_row));
    }
    return sum;
  }

 private:
  /// Numbers of a view, (column, row): each ray times its slant, then averaged along bins and rows.
  std::vector<double> samples_of(Index view, Image<const float> q) const {
    std::vector<double> cells;
    for (Index bin = 0; bin < n_.bins; ++bin)
      for (Index row = 0; row < n_.rows; ++row) {
        const double across = (static_cast<double>(bin) - n_.axis_bin) * n_.bin_pitch,
                     up = (static_cast<double>(row) - n_.midplane_row) * n_.row_pitch;
        cells.push_back(std::hypot(n_.sdd, across, up) / n_.sdd * static_cast<double>(q(view, row, bin)));
      }
    if (n_.wider) cells = thinned(*n_.wider, cells, 1, n_.rows);
    if (n_.taller) cells = thinned(*n_.taller, cells, columns_.size(), 1);
    return cells;
  }

  /// Lines of cells as lines of samples, in `outer` x line x `inner` numbers.
  static std::vector<double> thinned(const kernels::Thinning& thin, const std::vector<double>& from,
                                     Index outer, Index inner) {
    const Index count = static_cast<Index>(from.size()) / (outer * inner);
    std::vector<double> to;
    for (Index o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < thin.cells.size(); ++i)
        for (Index k = 0; k < inner; ++k) {
          double sum = 0;
          for (std::size_t j = 0; j < static_cast<std::size_t>(thin.count); ++j)
            if (const auto weight = thin.weights[i * static_cast<std::size_t>(thin.count) + j]; weight != 0)
              sum += static_cast<double>(weight) *
                     from[static_cast<std::size_t>(
                         (o * count + thin.cells[i] + static_cast<Index>(j)) * inner + k)];
          to.push_back(sum);
        }
    return to;
  }

  const ConeBeam& scan_;
  const kernels::HierarchicalViews& n_;
  const Range columns_, rows_;
  std::vector<std::vector<double>> views_{};
};

/// Relative L2 at some voxels of x, which is to be the back-projection of q by a plan, to the sum that the
/// plan stands for.
inline double error_of_sum(const ConeBeam& scan, const kernels::HierarchicalViews& n, const VolumeGrid& grid,
                           const Array& q, const Array& x, Index points) {
  const Image<const float> seen = image(ConstVectorView(x));
  const SumOverViews sum(scan, n, image(ConstVectorView(q)));
  Random random(7);
  const auto one_of = [&](Index count) {
    return static_cast<Index>(below(random, static_cast<std::size_t>(count)));
  };
  double difference = 0, size = 0;
  for (Index k = 0; k < points; ++k) {
    const Index iz = one_of(seen.n0), iy = one_of(seen.n1), ix = one_of(seen.n2);
    const double expected = sum.at(grid.x(static_cast<double>(ix)), grid.y(static_cast<double>(iy)),
                                   grid.z(static_cast<double>(iz)));
    difference += std::pow(seen(iz, iy, ix) - expected, 2), size += expected * expected;
  }
  return std::sqrt(difference / size);
}

}  // namespace tandem::test
