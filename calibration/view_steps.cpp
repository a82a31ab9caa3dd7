#include "view_steps.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"

namespace tandem::calibration {

namespace {

/// Slopes of a frame by the moves of its image.
class Slopes {
 public:
  Slopes(const FrameStack& frames, Index view)
      : frames_(frames), values_(frames.values.data() + view * frames.rows * frames.bins) {}
  double value(Index row, Index bin) const { return values_[row * frames_.bins + bin]; }
  ViewMove by_moves(Index row, Index bin) const {
    const double by_bin = slope(bin, frames_.bins, [&](Index b) { return value(row, b); }),
                 by_row =
                     few_rows(frames_) ? 0 : slope(row, frames_.rows, [&](Index r) { return value(r, bin); });
    const double u = bin - 0.5 * (frames_.bins - 1), v = row - 0.5 * (frames_.rows - 1);
    return {-by_bin, -by_row, -v * frames_.aspect * by_bin + u / frames_.aspect * by_row};
  }

 private:
  template <class Value>
  static double slope(Index at, Index count, const Value& value) {
    const Index low = std::max<Index>(at - 1, 0), high = std::min(at + 1, count - 1);
    return (value(high) - value(low)) / (high - low);
  }
  const FrameStack& frames_;
  const float* values_;
};

/// use(row, bin) for the cells that count.
template <class Use>
void for_inner(const Inner& inner, const Use& use) {
  for (Index row = inner.rows.first; row < inner.rows.last; ++row)
    for (Index bin = inner.bins.first; bin < inner.bins.last; ++bin) use(row, bin);
}

/// Sums over cells of products of columns: the slopes by some moves, the values, and 1.
class Equations {
 public:
  Equations(const FrameStack& frames, const FrameStack& seen, Index view, const std::vector<Move>& searched,
            const Inner& inner)
      : frame_(frames, view), seen_(seen, view), searched_(searched), inner_(inner), patches_(inner) {}

  Step solved() const {
    const Eigen::Index n = searched_.size();
    const Matrix zero = Matrix::Zero(n + 2, n + 2);
    std::vector<Matrix> of_patches(patches_.count(), zero);
    Vector right = Vector::Zero(n + 2);
    Step step;
    for_inner(inner_, [&](Index row, Index bin) {
      const Vector columns = columns_at(row, bin);
      const double off = residual(row, bin);
      of_patches[patches_.of(row, bin)].noalias() += columns * columns.transpose(), right += off * columns;
      step.misfit += off * off, step.size += std::pow(frame_.value(row, bin), 2);
    });
    const Matrix normal = std::accumulate(of_patches.begin(), of_patches.end(), zero),
                 inverse = inverse_of(normal);
    const Vector found = inverse * right;
    step.move = found.head(n);
    step.covariance = (inverse * scatter(found) * inverse).topLeftCorner(n, n);
    step.pulls.assign(patches_.count(), Vector::Zero(n + 2));
    for_inner(inner_,
              [&](Index row, Index bin) { step.pulls[patches_.of(row, bin)] += pull(row, bin, found); });
    for (std::size_t k = 0; k < of_patches.size(); ++k) {
      const Vector all = inverse * step.pulls[k], rest = inverse_of(normal - of_patches[k]) * step.pulls[k];
      step.pulls[k] = (all.array().sign() * (all.array() * rest.array()).abs().sqrt()).head(n).eval();
    }
    return step;
  }

 private:
  static Matrix inverse_of(Matrix normal) {
    normal.diagonal() *= 1 + 1e-9;
    normal.diagonal().array() += 1e-300;  // for a frame without anything
    return normal.ldlt().solve(Matrix::Identity(normal.rows(), normal.cols()));
  }
  Vector columns_at(Index row, Index bin) const {
    const Eigen::Index n = searched_.size();
    Vector columns(n + 2);
    const ViewMove slopes = seen_.by_moves(row, bin);
    for (Eigen::Index k = 0; k < n; ++k) columns[k] = slopes[at(searched_[k])];
    columns[n] = seen_.value(row, bin), columns[n + 1] = 1;
    return columns;
  }
  double residual(Index row, Index bin) const { return frame_.value(row, bin) - seen_.value(row, bin); }

  Vector pull(Index row, Index bin, const Vector& found) const {
    const Vector columns = columns_at(row, bin);
    return (residual(row, bin) - columns.dot(found)) * columns;
  }

  /// The sum over blocks of cells of squares of what each pulls: neighbours are wrong together.
  Matrix scatter(const Vector& found) const {
    constexpr Index block = 6;
    Matrix all = Matrix::Zero(found.size(), found.size());
    for (Index row = inner_.rows.first; row < inner_.rows.last; row += block)
      for (Index bin = inner_.bins.first; bin < inner_.bins.last; bin += block) {
        Vector sum = Vector::Zero(found.size());
        for (Index r = row; r < std::min(row + block, inner_.rows.last); ++r)
          for (Index b = bin; b < std::min(bin + block, inner_.bins.last); ++b) sum += pull(r, b, found);
        all.noalias() += sum * sum.transpose();
      }
    return all;
  }

  Slopes frame_, seen_;
  const std::vector<Move>& searched_;
  Inner inner_;
  Patches patches_;
};

}  // namespace

std::array<Agreement, kinds_of_move> agreement(const FrameStack& a, const FrameStack& b) {
  const Inner inner(a);
  std::vector<std::array<std::array<double, 3>, kinds_of_move>> of_views(a.views());
  parallel_for(a.views(), [&](Index view) {
    auto& sums = of_views[view];
    const Slopes one(a, view), other(b, view);
    for_inner(inner, [&](Index row, Index bin) {
      const ViewMove s = one.by_moves(row, bin), t = other.by_moves(row, bin);
      for (std::size_t k = 0; k < kinds_of_move; ++k)
        sums[k][0] += s[k] * t[k], sums[k][1] += s[k] * s[k], sums[k][2] += t[k] * t[k];
    });
  });
  std::array<Agreement, kinds_of_move> all{};
  for (std::size_t k = 0; k < kinds_of_move; ++k) {
    std::array<double, 3> sum{};
    for (const auto& view : of_views)
      for (std::size_t i = 0; i < 3; ++i) sum[i] += view[k][i];
    if (sum[1] > 0 && sum[2] > 0) all[k] = {sum[0] / std::sqrt(sum[1] * sum[2]), sum[0] / sum[1]};
  }
  return all;
}

Inner::Inner(const FrameStack& frames, double rows_moved) {
  constexpr Index reach = 3;  // smoothing and a slope take so many cells
  const auto within = [](Index count, double moved) {
    const Index margin = count <= 4 ? 0 : std::max(reach + ceil_index(moved), count / 10);
    return Range{std::min(margin, count / 2), std::max(count - margin, count / 2)};
  };
  rows = within(frames.rows, rows_moved), bins = within(frames.bins, 0);
}

Patches::Patches(const Inner& inner) : inner_(inner) {
  constexpr Index high = 6, few = 6;
  bands_ = std::max<Index>(1, inner.rows.size() / high);
  parts_ = std::clamp<Index>((few + bands_ - 1) / bands_, 1, std::max<Index>(2, inner.bins.size() / high));
}

/// Patches side by side share smoothed noise, which is counted in neither: 1 4 6 4 1 with itself, times the
/// distance, is `beside` of what a line of cells has.
double Patches::scale() const {
  constexpr double beside = 1.09375;
  const auto shared = [&](Index cells, Index patches) { return beside * (patches - 1) / cells; };
  return 1 / (1 - shared(inner_.rows.size(), bands_) - shared(inner_.bins.size(), parts_));
}

Step step_of(const FrameStack& frames, const FrameStack& seen, Index view, const std::vector<Move>& searched,
             const Inner& inner) {
  return Equations(frames, seen, view, searched, inner).solved();
}

}  // namespace tandem::calibration
