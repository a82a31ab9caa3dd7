// The attenuation of a round body from a part of its line integrals.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../../calibration/attenuation.hpp"

namespace tandem::calibration {
namespace {

/// Line integrals of a disc of 80 mm radius, 0.02 1/mm, whose middle lies `aside` mm from that of the bins.
std::vector<float> line_of(double aside, Index bins, double bin_mm, double radius = 80) {
  std::vector<float> line;
  for (Index b = 0; b < bins; ++b) {
    const double s = (b - 0.5 * (bins - 1)) * bin_mm - aside;
    line.push_back(static_cast<float>(0.04 * std::sqrt(std::max(0.0, radius * radius - s * s))));
  }
  return line;
}

TEST(AttenuationOfRound, IsThatOfADiscWhereverItIsCut) {
  for (const double aside : {0.0, 17.0, -40.0})
    for (const Index bins : {51, 100, 300})
      EXPECT_NEAR(attenuation_of_round(line_of(aside, bins, 0.8), bins, 0.8), 0.02, 1e-5)
          << aside << ' ' << bins;
}

TEST(AttenuationOfRound, BearsLinesOfOtherShapes) {
  std::vector<float> lines = line_of(3, 80, 1);
  for (const double aside : {10.0, 5.0, -20.0}) {
    const std::vector<float> more = line_of(aside, 80, 1);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  for (int k = 0; k < 80; ++k) lines.push_back(static_cast<float>(1 + 0.001 * k * k));  // bends the other way
  lines.resize(lines.size() + 80);                                                      // air
  EXPECT_NEAR(attenuation_of_round(lines, 80, 1), 0.02, 1e-5);
}

TEST(AttenuationOfRound, LeavesLinesOfAirOut) {
  std::vector<float> lines = line_of(3, 80, 1);
  for (int k = 0; k < 3 * 80; ++k) lines.push_back(0.001F * static_cast<float>(k % 3));
  EXPECT_NEAR(attenuation_of_round(lines, 80, 1), 0.02, 1e-5);
}

/// A level row, which no disc has, and no body at all.
TEST(AttenuationOfRound, OfNoRoundBodyIsThatOfAWideOne) {
  EXPECT_NEAR(attenuation_of_round(std::vector<float>(40, 2), 40, 1), 2 / (0.25 * M_PI * 40), 1e-6);
  EXPECT_LE(attenuation_of_round(std::vector<float>(40), 40, 1), 0);
}

}  // namespace
}  // namespace tandem::calibration
