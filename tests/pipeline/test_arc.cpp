// Scans that lack a part of the turn, and what is known of their objects.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/units.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

/// Holes in a body of one attenuation, from views of 90 degrees.
class PartOfATurn : public ::testing::Test {
 protected:
  void SetUp() override {
    Simulation s;
    s.phantom = "foam";
    detector_of(s.scan) = {144, 1, 1, 1, 71.5};
    angles_of(s.scan) = test::regular_angles(90, half_turn / 2);
    s.grid = fitting_grid(s.scan);
    s.grid.size = {96, 96, 1};
    s.photons = 2e4;
    const SimulatedScan scan(s);
    test::write_scan(path_, scan);
    truth_.resize(96 * 96);
    scan.truth({0, 1}, truth_);
    highest_ = *std::max_element(truth_.begin(), truth_.end());
  }
  Recipe recipe() const {
    Recipe one;
    one.method = "tv", one.size = 96, one.tv_weight = 0.2f;
    return one;
  }
  Recipe with_levels(float high) const {
    Recipe one = recipe();
    one.levels = {0.0f, high};
    return one;
  }
  double decibels(const Recipe& asked) {
    const std::vector<float> volume = test::reconstructed(path_, asked, 0, &outcome_);
    double squares = 0;
    for (std::size_t i = 0; i < volume.size(); ++i) squares += std::pow(volume[i] - truth_[i], 2);
    return 10 * std::log10(std::pow(highest_, 2) * static_cast<double>(volume.size()) / squares);
  }
  bool is_warned_of(const std::string& words) const {
    return std::ranges::any_of(outcome_.warnings, [&](const std::string& warning) {
      return warning.find(words) != std::string::npos;
    });
  }

  test::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "scan.h5";
  std::vector<float> truth_;
  float highest_ = 0;
  Outcome outcome_;
};

/// Measured: 19.9 dB without bounds, 25.5 within, 28.4 with levels.
TEST_F(PartOfATurn, IsNearerToTheTruthWithItsLevels) {
  Recipe within = recipe();
  within.lowest = 0, within.highest = highest_;
  const double bounded = decibels(within);
  EXPECT_FALSE(outcome_.between_levels);
  EXPECT_GT(decibels(with_levels(highest_)), bounded + 2);
  EXPECT_EQ(outcome_.iterations, 500);
  EXPECT_LT(outcome_.between_levels.value(), 0.1);
  EXPECT_FALSE(is_warned_of("levels"));
}

TEST_F(PartOfATurn, WarnsOfVoxelsBetweenLevels) {
  decibels(with_levels(2 * highest_));
  EXPECT_GT(outcome_.between_levels.value(), 0.2);
  EXPECT_TRUE(is_warned_of("between the"));
}

/// The middle direction of the rays: views from 0 to 89 degrees look along 90 to 179.
TEST_F(PartOfATurn, FindsTheDirectionOfItsRays) {
  Recipe one = recipe();
  one.finds_tv_direction = true;
  const Plan plan = make_plan(io::open_scan(path_)->info(), one);
  EXPECT_NEAR(std::sin(plan.job.options.tv_direction.value() - in_radians(134.5)), 0, 1e-9);
  EXPECT_GT(decibels(one), 15);
}

/// Nobody gives a weight, and no trial is made.
TEST_F(PartOfATurn, HasAWeightFromNoise) {
  Recipe one = recipe();
  const double given = decibels(one);
  one.tv_weight.reset();
  EXPECT_GT(decibels(one), given - 2);
  EXPECT_EQ(outcome_.searched.trials, 0);
}

}  // namespace
}  // namespace tandem::pipeline
