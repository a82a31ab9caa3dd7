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
  Index reach() const { return half_ + std::max<Index>(half_, 3); }

  /// The excess of the window over the polynomial: its mean over the middle half of the window. @pre
  /// `reach()` columns on either side of `middle`
  OfBlocks excess(std::span<const OfBlocks> profile, Index middle) const;

  /// The weight of a column in that.
  double tap(Index column) const { return taps_[column + reach()]; }

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

Flanks::Flanks(Index half) : half_(half) {
  const auto moment = [&](int power) {  // the sum of x^power over a flank, 1 at its far end
    double sum = 0;
    for (Index x = half + 1; x <= reach(); ++x) sum += std::pow(1.0 * x / reach(), power);
    return sum;
  };
  second_ = moment(2) / moment(0), third_ = moment(4) / moment(2);
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

constexpr double least = 5e-4, most = 0.3;

const std::vector<Flanks>& windows() {
  static const std::vector<Flanks> all = [] {
    std::vector<Flanks> made;
    for (const Index half : {0, 1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45}) made.emplace_back(half);
    return made;
  }();
  return all;
}

/// Windows whose certainty noise decides, so that places beside each other tell it together. In wider ones a
/// sample does.
bool is_narrow(const Flanks& window) { return window.half() <= 8; }

/// The ratios that a window has to exceed.
struct Limits {
  double narrow, wide;
  double of(const Flanks& window) const { return is_narrow(window) ? narrow : wide; }
};

/// What so many bins exceed by chance once in 1000 sinograms. A window makes one independent trial in half
/// its width.
Limits beyond_doubt(Index bins) {
  double places = 0;
  for (const Flanks& window : windows()) places += 1.0 * bins / (window.half() + 0.5);
  return {ratio_by_chance(1e-3 / places, 3 * freedom_of_blocks),
          ratio_by_chance(1e-3 / places, freedom_of_blocks)};
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

/// Whether a window moves: how far it lies aside in each block, by its slope, changes smoothly, and by more
/// than a tenth of its width. Small changes are of what lies behind a stripe.
bool moves(const std::vector<OfBlocks>& excess, const std::vector<double>& means) {
  const std::size_t n = means.size();
  OfBlocks aside{};
  double squares = 0, columns = 0;
  for (std::size_t b = 0; b < n; ++b) {
    const double slope = 0.5 * ((b + 1 < n ? means[b + 1] : 0) - (b > 0 ? means[b - 1] : 0));
    squares += slope * slope;
    for (std::size_t k = 0; k < view_blocks; ++k) aside[k] += slope * (excess[b][k] - means[b]);
  }
  for (const double x : aside) columns += x * x / view_blocks;
  return std::sqrt(columns) > 0.1 * n * squares && change_smoothly(aside);
}

/// Whether another window has at least a third of the strength, and is alike if it is turned round. Edges of
/// a body look different in narrow windows, by where columns cut them.
bool is_image(const std::vector<double>& other, const std::vector<double>& means) {
  constexpr double alike = 0.6, least_share = 1.0 / 3;
  double own_square = 0, other_square = 0, product = 0;
  for (std::size_t b = 0; b < means.size(); ++b) {
    own_square += means[b] * means[b];
    other_square += other[b] * other[b];
    product += means[b] * other[means.size() - 1 - b];
  }
  return other_square > least_share * least_share * own_square &&
         product > alike * std::sqrt(own_square * other_square);
}

class Search {
 public:
  Search(std::vector<OfBlocks> profile, std::optional<double> axis)
      : profile_(std::move(profile)), axis_(axis), bins_(profile_.size()) {
    for (const Flanks& window : windows()) scales_.push_back(measured(window));
  }

  /// Stripes that are there beyond doubt. If there are some, others are likely.
  SoftStripes stripes() {
    constexpr double likely = 3e-4;
    take_out_all();
    if (times_ > 0) {
      limits_.narrow = std::min(limits_.narrow, ratio_by_chance(likely, 3 * freedom_of_blocks));
      take_out_all();
    }
    return {taken_, usual_left()};
  }

 private:
  static constexpr double rounding = 1e-10;

  /// One width of the window, at all places where its flanks are on the row.
  struct Places {
    const Flanks& window;
    std::vector<Place> places;

    Index first() const { return window.reach(); }
    Index last(Index bins) const { return bins - window.reach(); }
    Place& operator[](Index m) { return places[m]; }
    const Place& operator[](Index m) const { return places[m]; }
    double ratio(Index m) const { return std::abs((*this)[m].excess) / std::sqrt((*this)[m].variance); }
  };
  struct Found {
    std::size_t scale;
    Index middle;
  };

  /// The excess at each place, and how certain it is: the mean variance of the places around it, and not much
  /// less than is usual on the row.
  Places measured(const Flanks& window) const {
    Places all{window, std::vector<Place>(profile_.size())};
    const Index first = all.first(), last = std::max(first, all.last(bins_)), beside = 1 + window.half();
    std::vector<TrimmedMean> own;
    for (Index m = first; m < last; ++m) own.push_back(trimmed_mean(window.excess(profile_, m)));
    std::vector<double> variances;
    for (Index m = first; m < last; ++m) {
      const Range near{std::max(first, m - beside), std::min(last, m + beside + 1)};
      double variance = 0, of_batches = 0;
      for (Index k = near.first; k < near.last; ++k)
        variance += own[k - first].variance, of_batches += own[k - first].of_batches;
      all[m].excess = own[m - first].mean;
      all[m].variance = std::max(variance, of_batches) / near.size();
      variances.push_back(all[m].variance);
    }
    if (variances.empty()) return all;
    const double usual = usual_share * median(variances);
    for (Place& place : all.places) place.variance = std::max(place.variance, usual) + rounding;
    return all;
  }

  void take_out_all() {
    for (std::optional<Found> best = strongest(); best && times_ < bins_; best = strongest()) {
      const Places& scale = scales_[best->scale];
      const std::vector<OfBlocks> excess = scale.window.excesses(profile_, best->middle);
      if (is_of_sample(scale, best->middle, excess))
        leave_alone(scale, best->middle);
      else
        take_out(best->middle, means_of(excess));
    }
  }

  /// The place with the largest excess for the width of its window, among the places where a stripe may be.
  /// Wide windows also see gaps between stripes.
  std::optional<Found> strongest() const {
    std::optional<Found> best;
    double highest = 0;
    for (std::size_t s = 0; s < scales_.size(); ++s) {
      const Places& scale = scales_[s];
      const double factor = std::pow(scale.window.half() + 0.5, -0.75);
      for (Index m = scale.first(); m < scale.last(bins_); ++m)
        if (const double own = factor * std::abs(scale[m].excess); own > highest && may_be_stripe(scale, m))
          highest = own, best = Found{s, m};
    }
    return best;
  }

  bool may_be_stripe(const Places& scale, Index m) const {
    const double own = std::abs(scale[m].excess);
    if (scale[m].left_alone || own < least || own > most || scale.ratio(m) < limits_.of(scale.window))
      return false;
    const Index near = (scale.window.half() + 1) / 2;
    for (Index k = std::max(scale.first(), m - near); k < std::min(scale.last(bins_), m + near + 1); ++k)
      if (std::abs(scale[k].excess) > own) return false;
    return true;
  }

  bool is_of_sample(const Places& scale, Index m, const std::vector<OfBlocks>& excess) const {
    const std::vector<double> means = means_of(excess);
    return moves(excess, means) || is_mirrored(scale, m, means);
  }

  /// Whether the mirror image of a window, the other way round, is where it would be for a body. If the
  /// middle of a body is a little beside the axis, its image is a little beside that place; but not by more
  /// than the window is wide, or the body would move through it.
  bool is_mirrored(const Places& scale, Index m, const std::vector<double>& means) const {
    Range places{scale.first(), scale.last(bins_)};
    if (axis_) {
      const double image = 2 * *axis_ - m,
                   beside = std::min(2 + 0.05 * std::abs(m - *axis_), 1 + 0.15 * scale.window.half());
      places.first = std::max(places.first, ceil_index(image - beside));
      places.last = std::min(places.last, floor_index(image + beside) + 1);
      if (places.first >= places.last) return true;
    }
    for (Index k = places.first; k < places.last; ++k)
      if ((axis_ || std::abs(k - m) > scale.window.reach()) && 2 * scale.ratio(k) > limits_.narrow &&
          is_image(means_of(scale.window.excesses(profile_, k)), means))
        return true;
    return false;
  }

  /// Leaves what is there alone in windows of about this width.
  void leave_alone(const Places& scale, Index m) {
    const Index half = scale.window.half();
    for (Places& other : scales_)
      if (const Index own = other.window.half(); own <= 2 * half + 1 && 3 * own >= half - 1)
        for (Index k = std::max<Index>(0, m - half - 1); k < std::min(bins_, m + half + 2); ++k)
          other[k].left_alone = true;
  }

  void take_out(Index m, const std::vector<double>& means) {
    const Index first = m - std::ssize(means) / 2;
    for (Index i = 0; i < std::ssize(means); ++i) {
      taken_[first + i] += means[i];
      change(first + i, means[i]);
    }
    ++times_;
  }

  /// Takes a constant out of a column. It is the same in all blocks, so variances stay.
  void change(Index bin, double constant) {
    for (double& own : profile_[bin]) own -= constant;
    for (Places& scale : scales_) {
      const Index reach = scale.window.reach(), first = std::max(scale.first(), bin - reach);
      for (Index k = first; k < std::min(scale.last(bins_), bin + reach + 1); ++k)
        scale[k].excess -= scale.window.tap(bin - k) * constant;
    }
  }

  /// The standard deviation of what the narrowest windows see in all views, without noise. Medians do not
  /// heed edges of a sample.
  double usual_left() const {
    constexpr double of_median = 1.4826;
    double largest = 0;
    for (const Places& scale : scales_) {
      if (scale.window.half() > 3 || scale.first() >= scale.last(bins_)) continue;
      std::vector<double> sizes, variances;
      for (Index m = scale.first(); m < scale.last(bins_); ++m)
        sizes.push_back(std::abs(scale[m].excess)), variances.push_back(scale[m].variance);
      largest = std::max(largest, std::pow(of_median * median(sizes), 2) - median(variances));
    }
    return std::sqrt(largest);
  }

  std::vector<OfBlocks> profile_;
  std::optional<double> axis_;
  Index bins_, times_ = 0;
  Limits limits_ = beyond_doubt(bins_);
  std::vector<double> taken_ = std::vector<double>(profile_.size());
  std::vector<Places> scales_;
};

}  // namespace

SoftStripes soft_stripes(const BlockMedians& medians, std::span<const double> known,
                         std::optional<double> axis) {
  return Search(profiles_of(medians, known), axis).stripes();
}

}  // namespace tandem::pipeline::stripes
