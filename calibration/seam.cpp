#include "seam.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "median.hpp"

namespace tandem::calibration {

namespace {

constexpr Index fewest = 3;  ///< coarse cells that must overlap

/// More than the scores of smoothed noise times the root of the number of views, at the best of thousands of
/// places: five times their standard deviation.
constexpr double best_noise = 12.6;

/// The cells of the first stack that lie on the second one as well, when that lies `by` cells further.
Range common(Index cells, double by, Index margin) {
  const Index first = std::max<Index>(ceil_index(by), 0) + margin,
              last = std::min<Index>(floor_index(cells - 1 + by), cells - 1) + 1 - margin;
  return {first, std::max(first, last)};
}

/// Slopes along a direction, from neighbours on both sides, at both ends from one.
FrameStack slopes_along(const FrameStack& frames, Along along) {
  FrameStack all = frames;
  const Index step = along == Along::rows ? frames.bins : 1, cells = frames.rows * frames.bins;
  parallel_for(frames.views(), [&](Index view) {
    const float* from = frames.values.data() + view * cells;
    float* to = all.values.data() + view * cells;
    for (Index row = 0; row < frames.rows; ++row)
      for (Index bin = 0; bin < frames.bins; ++bin, ++from) {
        const Index place = along == Along::rows ? row : bin,
                    last = (along == Along::rows ? frames.rows : frames.bins) - 1;
        const bool begins = place == 0, ends = place == last;
        *to++ = (begins || ends ? 2 : 1) * (from[ends ? 0 : step] - from[begins ? 0 : -step]);
      }
  });
  return all;
}

struct CoarsePlace {
  Index bins, rows;
  double score = 0;
};

/// The correlation of what both see, times the root of the number of cells: by chance it is one at any
/// distance.
double score(const FrameStack& a, const FrameStack& b, Index bins, Index rows) {
  const Range r = common(a.rows, rows, 0), c = common(a.bins, bins, 0);
  double product = 0, of_a = 0, of_b = 0;
  for (Index view = 0; view < a.views(); ++view)
    for (Index row = r.first; row < r.last; ++row) {
      const float* p = a.values.data() + (view * a.rows + row) * a.bins;
      const float* q = b.values.data() + (view * b.rows + row - rows) * b.bins - bins;
      float pq = 0, pp = 0, qq = 0;
      for (Index bin = c.first; bin < c.last; ++bin)
        pq += p[bin] * q[bin], pp += p[bin] * p[bin], qq += q[bin] * q[bin];
      product += pq, of_a += pp, of_b += qq;
    }
  return of_a > 0 && of_b > 0 ? product / std::sqrt(of_a * of_b) * std::sqrt(1.0 * r.size() * c.size()) : 0;
}

/// The best place at whole cells, and the best one that is not beside it.
std::array<CoarsePlace, 2> best_places(const FrameStack& first, const FrameStack& second, Along along) {
  const FrameStack a = slopes_along(first, along), b = slopes_along(second, along);
  const Index length = along == Along::rows ? a.rows : a.bins, reach = length - fewest;
  const Index width = along == Along::rows ? a.bins : a.rows, aside = few_rows(first) ? 0 : width / 16;
  std::vector<CoarsePlace> places;
  for (Index far = -reach; far <= reach; ++far)
    for (Index across = -aside; across <= aside; ++across)
      places.push_back(along == Along::rows ? CoarsePlace{across, far} : CoarsePlace{far, across});
  parallel_for(std::ssize(places), [&](Index k) {
    CoarsePlace& place = places[k];
    place.score = score(a, b, place.bins, place.rows);
  });
  const auto better = [](const CoarsePlace& p, const CoarsePlace& q) { return p.score < q.score; };
  const CoarsePlace best = *std::ranges::max_element(places, better);
  std::erase_if(places, [&](const CoarsePlace& other) {
    constexpr Index beside = 3;
    return std::max(std::abs(other.bins - best.bins), std::abs(other.rows - best.rows)) <= beside;
  });
  return {best, places.empty() ? CoarsePlace{} : *std::ranges::max_element(places, better)};
}

using BinsRows = Eigen::Vector2d;
using Square = Eigen::Matrix2d;

/// What one view says about a place: the slope and the curvature of the squared differences there.
struct ViewPull {
  BinsRows slope = BinsRows::Zero();
  Square curvature = Square::Zero();
  double product = 0, of_first = 0, of_second = 0;
  double difference = 0;  ///< the median of its cells, which cells that are stuck do not move
  Index views = 0;        ///< 1 if it has cells
};

/// Goes from a place at whole cells to where the frames agree best.
class SeamFit {
 public:
  SeamFit(const FrameStack& first, const FrameStack& second, bool rows_too)
      : a_(first), b_(second), rows_too_(rows_too) {}

  /// Compares both at a place.
  void look(const BinsRows& at) {
    constexpr Index margin = 2;
    const Range rows = common(a_.rows, at[1], rows_too_ ? margin : 0), bins = common(a_.bins, at[0], margin);
    pulls_.assign(a_.views(), {});
    parallel_for(a_.views(), [&](Index view) {
      ViewPull& pull = pulls_[view];
      std::vector<double> differences;
      differences.reserve(rows.size() * bins.size());
      for (Index row = rows.first; row < rows.last; ++row)
        for (Index bin = bins.first; bin < bins.last; ++bin)
          differences.push_back(add(pull, view, row, bin, Sampler(b_, bin - at[0], row - at[1]).of(view)));
      if (differences.empty()) return;
      pull.difference = median_of(std::move(differences)), pull.views = 1;
    });
    sum_ = {};
    for (const ViewPull& pull : pulls_) {
      sum_.slope += pull.slope, sum_.curvature += pull.curvature;
      sum_.product += pull.product, sum_.of_first += pull.of_first, sum_.of_second += pull.of_second;
      sum_.difference += pull.difference, sum_.views += pull.views;
    }
  }

  /// Steps of Gauss and Newton, until they are short.
  BinsRows from(BinsRows at) {
    constexpr int most = 20;
    constexpr double near = 1e-3, longest = 1;
    for (int k = 0; k < most; ++k) {
      look(at);
      BinsRows step = solved(sum_.slope);
      if (step.norm() > longest) step *= longest / step.norm();
      at += step;
      if (step.norm() < near) break;
    }
    look(at);
    return at;
  }

  /// They are larger where views are few, as those of `spread`.
  BinsRows uncertainty() const {
    Square squares = Square::Zero();
    for (const ViewPull& pull : pulls_) squares += pull.slope * pull.slope.transpose();
    const Square inverse = inverted();
    constexpr double floor = 0.01;  // cells: edges fall between samples
    const double few = 1 + 2.0 / std::ssize(pulls_);
    return few * (inverse * squares * inverse).diagonal().cwiseSqrt() +
           BinsRows(floor, rows_too_ ? floor : 0);
  }

  /// 0 where nothing is seen by both.
  double agreement() const {
    return sum_.product == 0 ? 0 : sum_.product / std::sqrt(sum_.of_first * sum_.of_second);
  }
  double difference() const { return sum_.views == 0 ? 0 : sum_.difference / sum_.views; }

 private:
  Square inverted() const {
    Square inverse = Square::Zero();
    if (rows_too_)
      inverse = sum_.curvature.inverse();
    else
      inverse(0, 0) = 1 / sum_.curvature(0, 0);
    return inverse;
  }
  BinsRows solved(const BinsRows& slope) const {
    const BinsRows step = inverted() * slope;
    return step.allFinite() ? step : BinsRows::Zero();
  }

  /// Returns by how much the second one has more there.
  double add(ViewPull& pull, Index view, Index row, Index bin, const Sample& there) const {
    const double here = a_.values[(view * a_.rows + row) * a_.bins + bin], more = there.value - here;
    const BinsRows slope(there.by_bin, rows_too_ ? there.by_row : 0);
    pull.slope += more * slope, pull.curvature += slope * slope.transpose();
    pull.product += here * there.value, pull.of_first += here * here;
    pull.of_second += there.value * there.value;
    return more;
  }

  const FrameStack &a_, &b_;
  bool rows_too_;
  std::vector<ViewPull> pulls_{};
  ViewPull sum_{};
};

/// Two stacks at joined cells, and what of them turns.
struct ComparedStacks {
  std::array<FrameStack, 2> whole, turning;
  bool rows_too;
  BinsRows cell;  ///< the size of joined cells, in cells of the stacks

  ComparedStacks(const FrameStack& first, const FrameStack& second, Index factor)
      : whole{smoothed(first, factor), smoothed(second, factor)},
        turning(whole),
        rows_too(!few_rows(first)),
        cell(factor, rows_too ? factor : 1) {
    for (FrameStack& frames : turning) subtract_means(frames);
  }

  /// Finds the place from one that is near.
  void fit(const BinsRows& near, Seam& seam) const {
    SeamFit fitted(turning[0], turning[1], rows_too);
    const BinsRows place = cell.cwiseProduct(fitted.from(near.cwiseQuotient(cell))),
                   doubt = cell.cwiseProduct(fitted.uncertainty());
    seam.bins = place[0], seam.rows = place[1], seam.uncertainty = {doubt[0], doubt[1]};
    look(seam);
  }

  /// What both see at the place of a seam.
  void look(Seam& seam) const {
    const BinsRows place = BinsRows(seam.bins, seam.rows).cwiseQuotient(cell);
    SeamFit turn(turning[0], turning[1], rows_too), bright(whole[0], whole[1], rows_too);
    turn.look(place), bright.look(place);
    seam.agreement = turn.agreement(), seam.brighter = -bright.difference();
  }
};

}  // namespace

Seam find_seam(const FrameStack& first, const FrameStack& second, Along along) {
  constexpr Index coarse_cells = 128, least = 16;
  const Index length = along == Along::rows ? first.rows : first.bins;
  Index factor = 1;
  require<GeometryError>(length > least && first.bins > least && first.views() > 1, first.views(),
                         " frames of ", first.rows, " x ", first.bins,
                         " (rows x bins) are too few, or too small, to find how they overlap");
  while (std::max(first.rows, first.bins) / factor > coarse_cells && length / (2 * factor) >= 2 * least)
    factor *= 2;
  Seam seam;
  BinsRows at = BinsRows::Zero();
  for (bool begins = true; factor >= 1; factor /= 2, begins = false) {
    const ComparedStacks both(first, second, factor);
    if (begins) {
      const auto [best, other] = best_places(both.turning[0], both.turning[1], along);
      at = both.cell.cwiseProduct(BinsRows(best.bins, best.rows));
      const double noise = best_noise / std::sqrt(1.0 * first.views());
      seam.rival = best.score > noise ? std::max(other.score, noise) / best.score : 1;
    }
    both.fit(at, seam);
    at = {seam.bins, seam.rows};
  }
  return seam;
}

Seam seam_at(const FrameStack& first, const FrameStack& second, double bins, double rows) {
  Seam seam{bins, rows};
  ComparedStacks(first, second, 1).look(seam);
  return seam;
}

}  // namespace tandem::calibration
