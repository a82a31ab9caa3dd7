#include "angular_range.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "../../core/units.hpp"
#include "../files/text.hpp"

namespace tandem::io {

AngularRange::AngularRange(std::vector<double> angles) : angles_(std::move(angles)) {
  if (!std::ranges::all_of(angles_, [](double angle) { return std::isfinite(angle); })) angles_.clear();
  std::ranges::sort(angles_);
}

double AngularRange::step() const {
  return (angles_.back() - angles_.front()) / std::max<double>(std::ssize(angles_) - 1, 1);
}

std::vector<double> AngularRange::between(double first, double last) const {
  std::vector<double> some = angles_;
  std::erase_if(some, [&](double angle) { return angle < first || angle > last; });
  return some;
}

bool AngularRange::repeats(const AngularRange& other) const {
  if (angles_.empty() || other.angles_.empty()) return false;
  constexpr double even = 0.1;  // share of a step; two of eight turns that lie evenly are an eighth apart
  const double close = even * std::min(step(), other.step());
  const double first = std::max(angles_.front(), other.angles_.front()) - close,
               last = std::min(angles_.back(), other.angles_.back()) + close;
  const std::vector<double> own = between(first, last), others = other.between(first, last);
  if (own.size() < 2 || others.size() < 2) return false;
  std::vector<double> both;
  std::ranges::merge(own, others, std::back_inserter(both));
  for (std::size_t k = 1; k < both.size(); ++k)
    if (both[k] - both[k - 1] < close) return true;
  return false;
}

bool AngularRange::covers(const AngularRange& other) const {
  const double rest = 0.5 * step();
  return angles_.front() - rest <= other.angles_.front() && angles_.back() + rest >= other.angles_.back();
}

std::string AngularRange::in_degrees() const {
  return words(tandem::in_degrees(angles_.front()), " to ", tandem::in_degrees(angles_.back()), " degrees");
}

std::vector<Range> angular_ranges_of(const std::vector<double>& angles) {
  constexpr Index fewest = 8;  // views
  constexpr double far = 2;    // usual steps
  const Index views = std::ssize(angles);
  if (views < fewest) return {{0, views}};
  std::vector<double> steps(views - 1);
  for (Index k = 0; k + 1 < views; ++k) steps[k] = angles[k + 1] - angles[k];
  std::vector<double> sorted = steps;
  std::ranges::nth_element(sorted, sorted.begin() + views / 2);
  const double usual = sorted[views / 2];
  std::vector<Range> ranges{{0, 0}};
  for (Index k = 0; k < views; ++k) {
    if (k > 0 && steps[k - 1] * usual < 0 && std::abs(steps[k - 1]) > far * std::abs(usual))
      ranges.push_back({k, k});
    ranges.back().last = k + 1;
  }
  return ranges;
}

}  // namespace tandem::io
