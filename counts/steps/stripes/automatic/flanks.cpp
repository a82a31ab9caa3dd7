#include "flanks.hpp"

#include <cmath>

namespace tandem::pipeline::stripes {

namespace {

/// The sum of x^power over the columns of a flank, 1 at its far end.
double moment(Index half, int power) {
  double sum = 0;
  for (Index x = half + 1; x <= 2 * half; ++x)
    sum += std::pow(static_cast<double>(x) / static_cast<double>(2 * half), power);
  return sum;
}

}  // namespace

Flanks::Flanks(Index half)
    : half_(half), second_(moment(half, 2) / moment(half, 0)), third_(moment(half, 4) / moment(half, 2)) {
  Powers squares{};
  for (Index x = half + 1; x <= reach(); ++x)
    for (std::size_t k = 0; k < powers; ++k) squares[k] += 2 * at(x)[k] * at(x)[k];
  for (std::size_t k = 0; k < powers; ++k) scale_[k] = 1 / std::sqrt(squares[k]);
  const Index inner = half / 2;
  const double share = 1 / static_cast<double>(2 * inner + 1);
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
  const double x = static_cast<double>(column) / static_cast<double>(reach());
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
    for (std::size_t k = 0; k < powers && std::abs(x) > half_; ++k)
      fit[k] += at(x)[k] * profile[static_cast<std::size_t>(middle + x)];
  std::vector<OfBlocks> all;
  for (Index x = -half_; x <= half_; ++x) {
    all.push_back(profile[static_cast<std::size_t>(middle + x)]);
    for (std::size_t k = 0; k < powers; ++k) all.back() -= at(x)[k] * fit[k];
  }
  return all;
}

}  // namespace tandem::pipeline::stripes
