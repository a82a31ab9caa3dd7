#include "rates.hpp"

#include <algorithm>
#include <cmath>

namespace tandem::pipeline {

std::optional<double> Rates::rate(const std::string& kind) const {
  const auto found = seen_.find(kind);
  if (found == seen_.end()) return {};
  std::vector<double> sorted = found->second.latest;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

void Rates::add(const std::string& kind, double rate, From from) {
  if (!(rate > 0) || !std::isfinite(rate)) return;
  Seen& seen = seen_[kind];
  if (seen.from == From::run && from == From::trial) return;
  if (seen.from != from) seen = {from, {}};
  seen.latest.push_back(rate);
  if (seen.latest.size() > most) seen.latest.erase(seen.latest.begin());
}

void Rates::add(const Rates& newer) {
  for (const auto& [kind, seen] : newer.all())
    for (const double rate : seen.latest) add(kind, rate, seen.from);
}

}  // namespace tandem::pipeline
