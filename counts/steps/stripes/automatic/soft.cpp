#include "soft.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "../../../../core/rounding.hpp"
#include "flanks.hpp"
#include "view_blocks.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr double least = 5e-4, most = 0.3;

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
  double beside_sample = 0;  ///< the excess, without what narrower windows left alone
  bool left_alone = false;
};

std::vector<double> means_of(const std::vector<OfBlocks>& excess) {
  std::vector<double> means;
  for (const OfBlocks& column : excess) means.push_back(trimmed_mean(column).mean);
  return means;
}

/// How far a window lies aside in each block, by its slope, and the root mean square of that in columns.
struct Aside {
  OfBlocks of_blocks{};
  double columns = 0;
};

Aside aside_of(const std::vector<OfBlocks>& excess, const std::vector<double>& means) {
  const std::size_t n = means.size();
  Aside all;
  double squares = 0;
  for (std::size_t b = 0; b < n; ++b) {
    const double slope = 0.5 * ((b + 1 < n ? means[b + 1] : 0) - (b > 0 ? means[b - 1] : 0));
    squares += slope * slope;
    for (std::size_t k = 0; k < view_blocks; ++k) all.of_blocks[k] += slope * (excess[b][k] - means[b]);
  }
  for (const double x : all.of_blocks) all.columns += x * x / view_blocks;
  all.columns = squares > 0 ? std::sqrt(all.columns) / squares : 0;
  return all;
}

/// Whether a window moves: how far it lies aside changes smoothly from block to block, and by more than a
/// tenth of its width. Small changes are of what lies behind a stripe.
bool moves(const std::vector<OfBlocks>& excess, const std::vector<double>& means) {
  const Aside aside = aside_of(excess, means);
  return aside.columns > 0.1 * means.size() && change_smoothly(aside.of_blocks);
}

/// The sum over a window, and the place of its weight, in columns from the middle.
struct Weight {
  double sum = 0, middle = 0;
};
Weight weight_of(const std::vector<double>& means) {
  Weight all;
  double squares = 0;
  for (std::size_t b = 0; b < means.size(); ++b) {
    all.sum += means[b], squares += means[b] * means[b];
    all.middle += (b - 0.5 * (means.size() - 1.0)) * means[b] * means[b];
  }
  all.middle /= squares;
  return all;
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

/// The numbers of blocks without a straight line about their middle, if that has one sign: a stripe may
/// become stronger or weaker.
OfBlocks without_drift(OfBlocks values) {
  constexpr double middle = 0.5 * (view_blocks - 1), most_drift = 0.6;
  double mean = 0, line = 0, lines = 0;
  for (std::size_t k = 0; k < view_blocks; ++k) {
    mean += values[k] / view_blocks;
    line += (k - middle) * values[k], lines += (k - middle) * (k - middle);
  }
  if (std::abs(line) * middle > most_drift * std::abs(mean) * lines) return values;
  for (std::size_t k = 0; k < view_blocks; ++k) values[k] -= line / lines * (k - middle);
  return values;
}

class Search {
 public:
  Search(std::vector<OfBlocks> profile, std::optional<double> axis, bool anew = false)
      : profile_(std::move(profile)), begun_(profile_), axis_(axis), bins_(profile_.size()), anew_(anew) {
    for (const Flanks& window : windows()) scales_.push_back(measured(window));
  }

  /// Stripes that are there beyond doubt. If there are some, others are likely. If most are alone, the search
  /// begins anew: images that are not exact are chance then.
  SoftStripes stripes() {
    constexpr double likely = 3e-4;
    take_out_all();
    if (times_ > 0 && !anew_ && most_are_alone()) return Search(begun_, axis_, true).stripes();
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
    /// Calls `each(place, tap)` with the places that see a column.
    template <class Each>
    void each_around(Index bin, Index bins, const Each& each) {
      const Index reach = window.reach();
      for (Index k = std::max(first(), bin - reach); k < std::min(last(bins), bin + reach + 1); ++k)
        each(places[k], window.tap(bin - k));
    }
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
    for (Index m = first; m < last; ++m) {
      const OfBlocks excess = window.excess(profile_, m);
      own.push_back(trimmed_mean(is_narrow(window) ? without_drift(excess) : excess));
    }
    std::vector<double> variances;
    for (Index m = first; m < last; ++m) {
      const Range near{std::max(first, m - beside), std::min(last, m + beside + 1)};
      double variance = 0, of_batches = 0;
      for (Index k = near.first; k < near.last; ++k)
        variance += own[k - first].variance, of_batches += own[k - first].of_batches;
      all[m].excess = all[m].beside_sample = own[m - first].mean;
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
        leave_alone(scale, best->middle, means_of(excess));
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

  /// Whether stripes have about as much strength as what was left alone. A round body has some 0.01 to 0.1.
  bool most_are_alone() const {
    constexpr double much = 0.4;
    double stripes = 0, of_sample = 0;
    for (Index b = 0; b < bins_; ++b)
      stripes += taken_[b] * taken_[b], of_sample += of_sample_[b] * of_sample_[b];
    return stripes > much * of_sample;
  }

  bool may_be_stripe(const Places& scale, Index m) const {
    const double own = std::abs(scale[m].excess);
    if (scale[m].left_alone || own < least || own > most || scale.ratio(m) < limits_.of(scale.window))
      return false;
    const bool is_own = 2 * scale[m].beside_sample * scale[m].excess > own * own;
    if (!is_own || (!axis_ && !is_narrow(scale.window))) return false;
    const Index near = (scale.window.half() + 1) / 2;
    for (Index k = std::max(scale.first(), m - near); k < std::min(scale.last(bins_), m + near + 1); ++k)
      if (std::abs(scale[k].excess) > own) return false;
    return true;
  }

  /// Whether something much stronger, a few columns away, was left alone: columns cut its edges.
  bool is_at_edge_of_sample(const Places& scale, Index m) const {
    constexpr Index beside = 4;
    constexpr double much = 4;
    double highest = 0;
    for (Index k = std::max<Index>(0, m - beside); k < std::min(bins_, m + beside + 1); ++k)
      highest = std::max(highest, of_sample_[k]);
    return scale.window.half() <= 2 && highest > much * std::abs(scale[m].excess);
  }

  bool is_of_sample(const Places& scale, Index m, const std::vector<OfBlocks>& excess) const {
    if (is_at_edge_of_sample(scale, m)) return true;
    const std::vector<double> means = means_of(excess);
    return moves(excess, means) || is_mirrored(scale, m, means, aside_of(excess, means).columns);
  }

  /// Whether the mirror image of a window, the other way round, is where it would be for a body. If the
  /// middle of a body is a little beside the axis, its image is a little beside that place; but not by more
  /// than the window is wide, or the body would move through it.
  bool is_mirrored(const Places& scale, Index m, const std::vector<double>& means, double aside) const {
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
          is_image(means_of(scale.window.excesses(profile_, k)), means) && is_exact(scale, m, k, aside))
        return true;
    return false;
  }

  /// Whether an image has the strength of a window, and lies where the axis says, as both are for a body. It
  /// is not asked unless most of what is there is on one side: else a stripe may lie on an image.
  bool is_exact(const Places& scale, Index m, Index k, double aside) const {
    constexpr double alike = 0.35, near = 0.7;
    if (!axis_ || !anew_) return true;
    const Flanks& window = scale.window.half() < 2 ? windows()[2] : scale.window;
    const Index first = window.reach(), last = bins_ - window.reach();
    if (m < first || m >= last || k < first || k >= last) return true;
    const Weight own = weight_of(means_of(window.excesses(profile_, m))),
                 other = weight_of(means_of(window.excesses(profile_, k)));
    const double apart = m + own.middle + k + other.middle - 2 * *axis_;
    return std::abs(apart) < near + 3 * aside &&
           std::abs(own.sum - other.sum) < alike * std::max(std::abs(own.sum), std::abs(other.sum));
  }

  /// Leaves what is there alone in windows of about this width, and keeps it from wider ones.
  void leave_alone(const Places& scale, Index m, const std::vector<double>& means) {
    for (Index i = 0; i < std::ssize(means); ++i) {
      const Index bin = m - std::ssize(means) / 2 + i;
      of_sample_[bin] = std::max(of_sample_[bin], std::abs(means[i]));
      for (Places& other : scales_)
        if (other.window.half() > scale.window.half())
          other.each_around(bin, bins_,
                            [&](Place& place, double tap) { place.beside_sample -= tap * means[i]; });
    }
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
    for (Places& scale : scales_)
      scale.each_around(bin, bins_, [&](Place& place, double tap) {
        place.excess -= tap * constant, place.beside_sample -= tap * constant;
      });
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

  std::vector<OfBlocks> profile_, begun_;  ///< without what was taken out, and with it
  std::optional<double> axis_;
  Index bins_, times_ = 0;
  bool anew_;  ///< whether most stripes are known to be alone
  Limits limits_ = beyond_doubt(bins_);
  std::vector<double> taken_ = std::vector<double>(profile_.size());
  std::vector<double> of_sample_ = taken_;  ///< the strength of what was left alone, one a column
  std::vector<Places> scales_;
};

}  // namespace

SoftStripes soft_stripes(const BlockMedians& medians, std::span<const double> known,
                         std::optional<double> axis) {
  return Search(profiles_of(medians, known), axis).stripes();
}

}  // namespace tandem::pipeline::stripes
