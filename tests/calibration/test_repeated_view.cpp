#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "../../calibration/repeated_view.hpp"
#include "../../pipeline/simulate.hpp"

namespace tandem::calibration {
namespace {

using pipeline::SimulatedScan, pipeline::Simulation;

constexpr double pi = std::numbers::pi, axis = 66.2;
constexpr Index bins = 140;

/// The first two and the last two of `views` in steps of `arc` / `steps`.
std::vector<float> ends(const char* phantom, Index views, double arc, Index steps) {
  Simulation s;
  s.phantom = phantom;
  detector_of(s.scan) = {.bins = bins, .axis_bin = axis};
  for (Index v : {Index{0}, Index{1}, views - 2, views - 1})
    angles_of(s.scan).push_back(0.3 + arc * static_cast<double>(v) / static_cast<double>(steps));
  s.grid = {{120, 120, 1}, {1, 1, 1}, {}};
  std::vector<float> lines(4 * bins);
  project(SimulatedScan(s).phantom(), std::get<ParallelBeam>(s.scan), {0, 1}, lines);
  return lines;
}

bool repeats(const std::vector<float>& lines, std::optional<double> mirror) {
  return repeats_first_view(lines, {4, 1, bins}, {0, 1, 2, 3}, mirror);
}

TEST(RepeatedView, IsTheFirstOneAfterAWholeTurnAndItsMirrorImageAfterHalf) {
  for (const char* phantom : {"disc", "shepp-logan", "foam", "ellipsoids"}) {
    EXPECT_TRUE(repeats(ends(phantom, 46, pi, 45), axis)) << phantom;
    EXPECT_FALSE(repeats(ends(phantom, 45, pi, 45), axis)) << phantom;
    EXPECT_TRUE(repeats(ends(phantom, 91, 2 * pi, 90), {})) << phantom;
    EXPECT_FALSE(repeats(ends(phantom, 90, 2 * pi, 90), {})) << phantom;
    EXPECT_FALSE(repeats(ends(phantom, 46, pi, 45), {})) << phantom;
  }
}

TEST(RepeatedView, IsNotSaidOfABodyThatLooksAlikeFromEverywhere) {
  std::vector<float> lines(4 * bins);
  Random random(7);
  for (Index v = 0; v < 4; ++v)
    for (Index b = 0; b < bins; ++b) {
      const double from = (static_cast<double>(b) - axis) / 40;
      lines[static_cast<std::size_t>(v * bins + b)] =
          static_cast<float>(std::sqrt(std::max(0.0, 1 - from * from)) + 0.02 * (random.uniform() - 0.5));
    }
  EXPECT_FALSE(repeats(lines, axis));
  EXPECT_FALSE(repeats(lines, {}));
}

}  // namespace
}  // namespace tandem::calibration
