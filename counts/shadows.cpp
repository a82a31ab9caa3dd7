#include "shadows.hpp"

#include <cmath>

namespace tandem::pipeline {

std::vector<Shadow> shadows_in(std::span<const float> net, std::span<const Range> bins) {
  std::vector<Shadow> shadows;
  for (const Range& range : bins) {
    double sum = 0;
    Index count = 0;
    for (const float counts : net.subspan(range.first, range.size()))
      if (std::isfinite(counts)) sum += counts, ++count;
    if (count > 0) shadows.push_back({0.5 * (range.first + range.last - 1), sum / count});
  }
  return shadows;
}

float scatter_at(std::span<const Shadow> shadows, Index bin) {
  const auto after = std::ranges::find_if(shadows, [bin](const Shadow& s) { return s.middle >= bin; });
  if (after == shadows.begin()) return static_cast<float>(shadows.front().mean);
  if (after == shadows.end()) return static_cast<float>(shadows.back().mean);
  const Shadow& before = *(after - 1);
  const double share = (bin - before.middle) / (after->middle - before.middle);
  return static_cast<float>(before.mean + share * (after->mean - before.mean));
}

double mean_beside(std::span<const float> net, std::span<const Range> covered) {
  double sum = 0;
  Index count = 0;
  for (Index b = 0; b < std::ssize(net); ++b)
    if (std::isfinite(net[b]) && net[b] > 0 && !is_in(covered, b)) sum += net[b], ++count;
  return count > 0 ? sum / count : 0;
}

void take_scatter(std::span<float> span, std::span<float> variance, std::span<const Range> shadows,
                  std::span<const Range> covered) {
  const std::vector<Shadow> behind = shadows_in(span, shadows);
  double most = 0;
  for (const Shadow& shadow : behind) most = std::max(most, shadow.mean);
  if (behind.empty() || 2 * most >= mean_beside(span, covered)) return;
  for (Index b = 0; b < std::ssize(span); ++b) {
    if (is_in(covered, b) || !(span[b] > 0)) continue;
    const float whole = span[b];
    span[b] -= taken_of(scatter_at(behind, b), whole);
    variance[b] *= (whole / span[b]) * (whole / span[b]);
  }
}

}  // namespace tandem::pipeline
