// Scans that lack a part of the turn, and what is known of their objects.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../core/units.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../support/reconstructions.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::pipeline {
namespace {

/// A phantom from views of 90 degrees.
Simulation from_an_arc(const char* phantom) {
  Simulation s;
  s.phantom = phantom;
  detector_of(s.scan) = {144, 1, 1, 1, 71.5};
  angles_of(s.scan) = test::regular_angles(90, half_turn / 2);
  s.grid = fitting_grid(s.scan);
  return s;
}

/// Holes in a body of one attenuation.
class PartOfATurn : public ::testing::Test {
 protected:
  void SetUp() override {
    Simulation s = from_an_arc("foam");
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

/// What `--limited-angle` asks for, with a shell or without, of a full disc.
class LimitedAngle : public ::testing::Test {
 protected:
  void SetUp() override {
    const Simulation s = from_an_arc("disc");
    const SimulatedScan scan(s);
    test::write_scan(disc_, scan);
    std::vector<float> truth(s.grid.size[0] * s.grid.size[1]);
    scan.truth({0, 1}, truth);
    attenuation_ = *std::max_element(truth.begin(), truth.end());
  }
  static Recipe asked() {
    Recipe one;
    one.method = "tv";
    one.support.is_disc = one.support_if_it_fits = one.finds_tv_direction = one.direction_if_it_fits = true;
    return one;
  }
  static Recipe with_shell(double shell) {
    Recipe one = asked();
    one.levels = {0.0f, 1.0f}, one.finds_high_level = true, one.support.shell = shell;
    return one;
  }
  Completed completed(Recipe& one, const std::filesystem::path& path) {
    const auto say = [this](const std::string& text) { said_ += text + '\n'; };
    return complete(one, *io::open_scan(path), {.note = say, .warn = say});
  }
  bool says(const std::string& words) const { return said_.find(words) != std::string::npos; }

  test::TemporaryFolder folder_;
  const std::filesystem::path disc_ = folder_.path() / "disc.h5";
  float attenuation_ = 0;
  std::string said_;
};

TEST_F(LimitedAngle, FindsTheHigherLevelInTheShell) {
  Recipe one = with_shell(16);
  const Completed found = completed(one, disc_);
  EXPECT_NEAR(one.levels->second / attenuation_, 1, 0.02);
  EXPECT_EQ(static_cast<float>(found.support.shell.value().value), one.levels->second);
  EXPECT_FALSE(says("uncertain")) << said_;
  Recipe given = one;  // the disc is known then
  EXPECT_FALSE(completed(given, disc_).support.disc);
  EXPECT_EQ(given.levels, one.levels);
  one.levels->first = 1;
  EXPECT_THROW(completed(one, disc_), GeometryError) << "the lower one is above it";
}

TEST_F(LimitedAngle, SaysThatAThinShellTellsLittle) {
  Recipe one = with_shell(3);
  completed(one, disc_);
  EXPECT_TRUE(says("is uncertain by 9 %")) << said_;
}

TEST_F(LimitedAngle, WarnsOfAShellThatIsNotFull) {
  const auto path = folder_.path() / "foam.h5";
  test::write_scan(path, SimulatedScan(from_an_arc("foam")));  // pores from the rim inwards
  Recipe one = with_shell(50);
  completed(one, path);
  EXPECT_TRUE(says("it is not full there")) << said_;
}

/// Without a pitch, attenuations count in voxels, which binning makes larger.
TEST_F(LimitedAngle, FindsTheLevelOfBinnedVoxels) {
  Recipe one = with_shell(16), binned = one;
  binned.binning = 1;
  completed(one, disc_), completed(binned, disc_);
  EXPECT_EQ(binned.levels->second, 2 * one.levels->second);
}

TEST_F(LimitedAngle, LeavesOutWhatDoesNotFit) {
  Simulation s;  // ellipsoids, from all around
  detector_of(s.scan) = {96, 1, 1, 1, 47.5};
  angles_of(s.scan) = test::regular_angles(60, half_turn);
  s.grid = fitting_grid(s.scan);
  const auto path = folder_.path() / "whole.h5";
  test::write_scan(path, SimulatedScan(s));
  Recipe one = asked();
  completed(one, path);
  EXPECT_FALSE(one.finds_tv_direction);
  EXPECT_FALSE(one.support.any());
  for (const char* words : {"all around", "is no disc"})
    EXPECT_NE(said_.find(words), std::string::npos) << said_;
  one.support.is_disc = true, one.support_if_it_fits = false;
  EXPECT_THROW(completed(one, path), GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
