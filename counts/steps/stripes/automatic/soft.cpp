#include "soft.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "../../../../core/rounding.hpp"
#include "view_blocks.hpp"

namespace tandem::pipeline::stripes {

namespace {

/// A window of columns and its flanks on both sides, through which goes a cubic polynomial.
class Flanks {
 public:
  explicit Flanks(Index half);

  Index half() const { return half_; }
  /// Columns on either side of the middle that the window and a flank have together.
  Index reach() const { return 2 * half_; }

  /// The excess of the window over the polynomial: its mean over the middle half of the window. @pre
  /// `reach()` columns on either side of `middle`
  OfBlocks excess(std::span<const OfBlocks> profile, Index middle) const;

  /// The same for each column of the window.
  std::vector<OfBlocks> excesses(std::span<const OfBlocks> profile, Index middle) const;

 private:
  static constexpr std::size_t powers = 4;
  using Powers = std::array<double, powers>;
  /// Polynomials of degrees 0 to 3 that are orthogonal, and of norm 1, on the flanks.
  Powers at(Index column) const;

  Index half_;
  double second_ = 0, third_ = 0;
  Powers scale_{1, 1, 1, 1};
  std::vector<double> taps_;
};

/// The sum of x^power over the columns of a flank, 1 at its far end.
double moment(Index half, int power) {
  double sum = 0;
  for (Index x = half + 1; x <= 2 * half; ++x) sum += std::pow(1.0 * x / (2 * half), power);
  return sum;
}

Flanks::Flanks(Index half)
    : half_(half), second_(moment(half, 2) / moment(half, 0)), third_(moment(half, 4) / moment(half, 2)) {
  Powers squares{};
  for (Index x = half + 1; x <= reach(); ++x)
    for (std::size_t k = 0; k < powers; ++k) squares[k] += 2 * at(x)[k] * at(x)[k];
  for (std::size_t k = 0; k < powers; ++k) scale_[k] = 1 / std::sqrt(squares[k]);
  const Index inner = half / 2;
  const double share = 1.0 / (2 * inner + 1);
  Powers middle{};
  for (Index x = -inner; x <= inner; ++x)
    for (std::size_t k = 0; k < powers; ++k) middle[k] += share * at(x)[k];
  for (Index x = -reach(); x <= reach(); ++x) {
    double tap = std::abs(x) <= inner ? share : 0;
    for (std::size_t k = 0; k < powers && std::abs(x) > half; ++k) tap -= middle[k] * at(x)[k];
    taps_.push_back(tap);
  }
}

Flanks::Powers Flanks::at(Index column) const {
  const double x = 1.0 * column / reach();
  return {scale_[0], scale_[1] * x, scale_[2] * (x * x - second_), scale_[3] * x * (x * x - third_)};
}

OfBlocks Flanks::excess(std::span<const OfBlocks> profile, Index middle) const {
  OfBlocks sum{};
  const OfBlocks* own = profile.data() + middle - reach();
  for (std::size_t i = 0; i < taps_.size(); ++i)
    for (std::size_t k = 0; k < view_blocks; ++k) sum[k] += taps_[i] * own[i][k];
  return sum;
}

std::vector<OfBlocks> Flanks::excesses(std::span<const OfBlocks> profile, Index middle) const {
  std::array<OfBlocks, powers> fit{};
  for (Index x = -reach(); x <= reach(); ++x)
    for (std::size_t k = 0; k < powers && std::abs(x) > half_; ++k) fit[k] += at(x)[k] * profile[middle + x];
  std::vector<OfBlocks> all;
  for (Index x = -half_; x <= half_; ++x) {
    all.push_back(profile[middle + x]);
    for (std::size_t k = 0; k < powers; ++k) all.back() -= at(x)[k] * fit[k];
  }
  return all;
}

constexpr double least = 5e-4, most = 0.1;

const std::vector<Flanks>& windows() {
  static const std::vector<Flanks> all = [] {
    std::vector<Flanks> made;
    for (const Index half : {3, 4, 6, 8, 11, 16, 22, 32, 45}) made.emplace_back(half);
    return made;
  }();
  return all;
}

/// The ratio that so many bins exceed by chance once in 1000 sinograms. A window makes one independent trial
/// in half its width.
double ratio_beyond_doubt(Index bins) {
  double places = 0;
  for (const Flanks& window : windows()) places += 1.0 * bins / window.half();
  return ratio_by_chance(1e-3 / places);
}

/// The excess of the window at a place.
struct Place {
  double excess = 0, variance = 0;
  bool left_alone = false;
};

std::vector<double> means_of(const std::vector<OfBlocks>& excess) {
  std::vector<double> means;
  for (const OfBlocks& column : excess) means.push_back(trimmed_mean(column).mean);
  return means;
}

/// Whether a window moves: how far it lies aside in each block, by its slope, changes smoothly.
bool moves(const std::vector<OfBlocks>& excess, const std::vector<double>& means) {
  const std::size_t n = means.size();
  OfBlocks aside{};
  for (std::size_t b = 0; b < n; ++b) {
    const double slope = (b + 1 < n ? means[b + 1] : 0) - (b > 0 ? means[b - 1] : 0);
    for (std::size_t k = 0; k < view_blocks; ++k) aside[k] += slope * (excess[b][k] - means[b]);
  }
  return change_smoothly(aside);
}

/// Whether another window is half to twice as strong, and alike if it is turned round.
bool is_image(const std::vector<double>& other, const std::vector<double>& means) {
  constexpr double alike = 0.6;
  double own_square = 0, other_square = 0, product = 0;
  for (std::size_t b = 0; b < means.size(); ++b) {
    own_square += means[b] * means[b];
    other_square += other[b] * other[b];
    product += means[b] * other[means.size() - 1 - b];
  }
  return 4 * other_square > own_square && other_square < 4 * own_square &&
         product > alike * std::sqrt(own_square * other_square);
}

class Search {
 public:
  Search(std::vector<OfBlocks> profile, std::optional<double> axis)
      : profile_(std::move(profile)), axis_(axis), bins_(profile_.size()) {
    for (const Flanks& window : windows()) {
      Places all{window, std::vector<Place>(profile_.size())};
      std::vector<double> variances;
      measure(all, {0, bins_});
      for (Index m = all.first(); m < all.last(bins_); ++m) variances.push_back(all[m].variance);
      if (!variances.empty()) all.least_variance = usual_share * median(variances) + rounding;
      scales_.push_back(std::move(all));
    }
  }

  std::vector<double> constants() {
    std::vector<double> taken(profile_.size(), 0.0);
    while (const std::optional<Found> best = strongest()) {
      Places& scale = scales_[best->scale];
      const std::vector<OfBlocks> excess = scale.window.excesses(profile_, best->middle);
      if (is_of_sample(scale, best->middle, excess))
        leave_alone(scale, best->middle);
      else
        take_out(scale, best->middle, excess, taken);
    }
    return taken;
  }

 private:
  static constexpr double rounding = 1e-10;

  /// One width of the window, at all places where its flanks are on the row.
  struct Places {
    const Flanks& window;
    std::vector<Place> places;
    double least_variance = rounding;

    Index first() const { return window.reach(); }
    Index last(Index bins) const { return bins - window.reach(); }
    Place& operator[](Index m) { return places[m]; }
    const Place& operator[](Index m) const { return places[m]; }
    double ratio(Index m) const {
      return std::abs((*this)[m].excess) / std::sqrt((*this)[m].variance + least_variance);
    }
  };
  struct Found {
    std::size_t scale;
    Index middle;
  };

  /// Measures at the places whose window or flanks touch some columns.
  void measure(Places& scale, Range columns) const {
    const Index reach = scale.window.reach(), first = std::max(scale.first(), columns.first - reach),
                last = std::min(scale.last(bins_), columns.last + reach);
    for (Index m = first; m < last; ++m) {
      const TrimmedMean found = trimmed_mean(scale.window.excess(profile_, m));
      scale[m].excess = found.mean, scale[m].variance = found.variance;
    }
  }

  /// The place with the largest excess over the root of the width, among the places where a stripe may be.
  std::optional<Found> strongest() const {
    std::optional<Found> best;
    double highest = 0;
    for (std::size_t s = 0; s < scales_.size(); ++s) {
      const Places& scale = scales_[s];
      const double factor = 1 / std::sqrt(scale.window.half());
      for (Index m = scale.first(); m < scale.last(bins_); ++m)
        if (const double own = factor * std::abs(scale[m].excess); own > highest && may_be_stripe(scale, m))
          highest = own, best = Found{s, m};
    }
    return best;
  }

  bool may_be_stripe(const Places& scale, Index m) const {
    const double own = std::abs(scale[m].excess);
    if (scale[m].left_alone || own < least || own > most || scale.ratio(m) < beyond_doubt_) return false;
    const Index near = scale.window.half() / 2;
    for (Index k = std::max(scale.first(), m - near); k < std::min(scale.last(bins_), m + near + 1); ++k)
      if (std::abs(scale[k].excess) > own) return false;
    return true;
  }

  bool is_of_sample(const Places& scale, Index m, const std::vector<OfBlocks>& excess) const {
    const std::vector<double> means = means_of(excess);
    return moves(excess, means) || is_mirrored(scale, m, means);
  }

  /// Whether the mirror image of a window, the other way round, is where it would be for a body. If the
  /// middle of a body is a little beside the axis, its image is a little beside that place.
  bool is_mirrored(const Places& scale, Index m, const std::vector<double>& means) const {
    constexpr double nearest_bins = 2, of_distance = 0.05;
    Range places{scale.first(), scale.last(bins_)};
    if (axis_) {
      const double image = 2 * *axis_ - m, beside = nearest_bins + of_distance * std::abs(m - *axis_);
      places.first = std::max(places.first, ceil_index(image - beside));
      places.last = std::min(places.last, floor_index(image + beside) + 1);
      if (places.first >= places.last) return true;
    }
    for (Index k = places.first; k < places.last; ++k)
      if ((axis_ || std::abs(k - m) > scale.window.reach()) && 2 * scale.ratio(k) > beyond_doubt_ &&
          is_image(means_of(scale.window.excesses(profile_, k)), means))
        return true;
    return false;
  }

  static void leave_alone(Places& scale, Index m) {
    const Index near = scale.window.half() / 2;
    for (Index k = m - near; k <= m + near; ++k) scale[k].left_alone = true;
  }

  void take_out(Places& scale, Index m, const std::vector<OfBlocks>& excess, std::vector<double>& taken) {
    const Index half = scale.window.half();
    const std::vector<double> means = means_of(excess);
    for (Index b = m - half; b <= m + half; ++b) {
      const double mean = means[b - m + half];
      taken[b] += mean;
      for (double& own : profile_[b]) own -= mean;
    }
    for (Places& other : scales_) measure(other, {m - half, m + half + 1});
    if (++times_ == bins_) leave_alone_all();
  }

  void leave_alone_all() {
    for (Places& scale : scales_)
      for (Place& place : scale.places) place.left_alone = true;
  }

  std::vector<OfBlocks> profile_;
  std::optional<double> axis_;
  Index bins_, times_ = 0;
  double beyond_doubt_ = ratio_beyond_doubt(bins_);
  std::vector<Places> scales_;
};

}  // namespace

std::vector<double> soft_stripes(const BlockMedians& medians, std::span<const double> known,
                                 std::optional<double> axis) {
  return Search(profiles_of(medians, known), axis).constants();
}

}  // namespace tandem::pipeline::stripes
