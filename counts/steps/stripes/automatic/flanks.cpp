#include "flanks.hpp"

#include <cmath>

namespace tandem::pipeline::stripes {

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

const std::vector<Flanks>& windows() {
  static const std::vector<Flanks> all = [] {
    std::vector<Flanks> made;
    for (const Index half : {0, 1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45}) made.emplace_back(half);
    return made;
  }();
  return all;
}

}  // namespace tandem::pipeline::stripes
