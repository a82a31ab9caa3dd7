#include "wide.hpp"

#include <cmath>
#include <numeric>

namespace tandem::pipeline::stripes {

namespace {

constexpr Index widest = 31;

/// Columns between a jump of at least `least` and the next opposite one of about its size. Jump k is between
/// columns k and k + 1.
std::vector<Range> between_jumps(std::span<const float> jumps, double least) {
  std::vector<Range> found;
  const Index count = jumps.size();
  const auto jump = [&](Index k) { return jumps[k]; };
  for (Index k = 0; k < count; ++k) {
    if (std::abs(jump(k)) < least) continue;
    for (Index end = k + 1; end < std::min(count, k + 1 + widest); ++end)
      if (std::abs(jump(end) + jump(k)) < 0.3 * std::abs(jump(k))) {
        found.push_back({k + 1, end + 1});
        k = end;
        break;
      }
  }
  return found;
}

/// The same from the other end.
std::vector<Range> between_jumps_from_end(std::span<const float> jumps, double least) {
  const std::vector<float> from_end(jumps.rbegin(), jumps.rend());
  const auto columns = std::ssize(jumps) + 1;
  std::vector<Range> found = between_jumps(from_end, least);
  for (Range& bins : found) bins = {columns - bins.last, columns - bins.first};
  return found;
}

/// The excess of columns over the line between the columns beside them, which are the first and the last of
/// `columns`.
WideStripe measured(const Plane& columns, Range bins) {
  WideStripe stripe{bins, {}};
  const float *before = columns.row(0), *behind = columns.row(bins.size() + 1);
  for (Index b = 1; b <= bins.size(); ++b) {
    const double t = 1.0 * b / (bins.size() + 1);
    std::vector<double> excess;
    for (Index view = 0; view < columns.columns; ++view)
      excess.push_back(columns.row(b)[view] - (1 - t) * before[view] - t * behind[view]);
    stripe.constants.push_back(median(excess));
    for (double& x : excess) x = std::abs(x - stripe.constants.back());
    stripe.spread = std::max(stripe.spread, median(excess));
  }
  return stripe;
}

/// Whether two stripes have the same width, and strengths within a tenth of each other.
bool are_alike(const WideStripe& a, const WideStripe& b) {
  return a.bins.size() == b.bins.size() && std::abs(a.mean() - b.mean()) < 0.1 * std::abs(a.mean());
}

}  // namespace

double WideStripe::mean() const {
  return std::accumulate(constants.begin(), constants.end(), 0.0) / constants.size();
}

/// Whether the jumps beyond these columns have mirror images about their middle, as those of a round body
/// have.
bool is_middle_of_body(std::span<const float> jumps, Range bins) {
  constexpr double alike = 0.5;
  double squares = 0, products = 0;
  for (Index k = bins.last; k < std::ssize(jumps); ++k) {
    const Index image = bins.first + bins.last - 2 - k;
    if (image < 0) break;
    squares += 0.5 * (jumps[k] * jumps[k] + jumps[image] * jumps[image]);
    products -= jumps[k] * jumps[image];
  }
  return products > alike * squares && squares > 0;
}

std::vector<WideStripe> wide_stripes(std::span<const float> jumps, const ColumnsAt& columns,
                                     std::optional<double> axis) {
  constexpr double least = 0.02, above_usual = 8 * 1.4826, above_spread = 4;
  std::vector<float> sizes;
  for (const float jump : jumps) sizes.push_back(std::abs(jump));
  const double limit = std::max(least, above_usual * median(sizes));
  const std::vector<Range> back = between_jumps_from_end(jumps, limit);
  std::vector<WideStripe> all, alone;
  for (const Range bins : between_jumps(jumps, limit))
    if (const bool around_axis =
            axis ? bins.first - 1 <= *axis && *axis <= bins.last : is_middle_of_body(jumps, bins);
        !around_axis && std::ranges::find(back, bins) != back.end())
      all.push_back(measured(columns({bins.first - 1, bins.last + 1}), bins));
  for (const WideStripe& stripe : all) {
    const auto twin = [&](const WideStripe& other) { return &other != &stripe && are_alike(stripe, other); };
    if (std::abs(stripe.mean()) > above_spread * stripe.spread && std::ranges::none_of(all, twin))
      alone.push_back(stripe);
  }
  return alone;
}

}  // namespace tandem::pipeline::stripes
