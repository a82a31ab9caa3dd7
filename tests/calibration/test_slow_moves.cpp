// Moves that a volume follows, and how much of them reprojections tell.

#include "../../calibration/slow_moves.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../geometry/free_views.hpp"
#include "../../geometry/view_angles.hpp"

namespace tandem::calibration {
namespace {

/// Parallel rays from so much of a turn.
FlexibleBeam rays(double arc, int views = 90) {
  std::vector<double> angles;
  for (int k = 0; k < views; ++k) angles.push_back(arc * k / views);
  return as_free_views(ParallelBeam{{30, 20, 1, 1, 14.5}, angles});
}

/// As a volume would that follows rows twice a turn to three quarters, and bins thrice to a half.
std::vector<ViewMove> told_of(std::vector<ViewMove> moves) {
  const std::size_t n = moves.size();
  const auto keep = [&](std::size_t kind, int frequency, double phase, double share) {
    double sum = 0;
    const auto wave = [&](std::size_t v) {
      return std::cos(frequency * whole_turn * static_cast<double>(v) / static_cast<double>(n) - phase);
    };
    for (std::size_t v = 0; v < n; ++v) sum += 2 * wave(v) * moves[v][kind] / static_cast<double>(n);
    for (std::size_t v = 0; v < n; ++v) moves[v][kind] -= (1 - share) * sum * wave(v);
  };
  for (const double phase : {0.0, 0.25 * whole_turn}) keep(1, 2, phase, 0.25), keep(0, 3, phase, 0.5);
  return moves;
}

TEST(SlowMoves, AreMadeWholeByWhatTrialsTell) {
  const FlexibleBeam scan = rays(whole_turn);
  SlowMoves slow(scan, {Move::bins, Move::rows});
  for (int number = 0; number < SlowMoves::trials; ++number) slow.learn(number, told_of(slow.trial(number)));
  std::vector<ViewMove> moves;
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    const double t = static_cast<double>(k);
    moves.push_back({std::sin(0.1 * t * t), std::cos(0.2 * t * t), 0.1 * t});
  }
  subtract_common_moves(moves, scan);
  std::vector<ViewMove> steps = told_of(moves);
  slow.make_whole(steps);
  for (std::size_t v = 0; v < moves.size(); ++v)
    for (std::size_t k = 0; k < kinds_of_move; ++k) EXPECT_NEAR(steps[v][k], moves[v][k], 1e-9);
}

/// What waves are in pulls counts as far as it goes when it is made whole; the rest stays.
TEST(SlowMoves, AreTakenOutOfPulls) {
  const FlexibleBeam scan = rays(whole_turn);
  SlowMoves slow(scan, {Move::rows});
  for (int number = 0; number < SlowMoves::trials; ++number) slow.learn(number, told_of(slow.trial(number)));
  std::vector<ViewMove> pulls, squares(scan.views.size(), ViewMove{});
  const auto wave = [&](int frequency, std::size_t v) {
    return std::cos(frequency * whole_turn * static_cast<double>(v) / static_cast<double>(scan.views.size()));
  };
  for (std::size_t v = 0; v < scan.views.size(); ++v) pulls.push_back({0, wave(2, v) + wave(20, v), 0});
  slow.take_out(pulls, squares);
  double mean = 0;
  for (std::size_t v = 0; v < pulls.size(); ++v) {
    EXPECT_NEAR(pulls[v][1], wave(20, v), 1e-9);
    EXPECT_EQ(squares[v][0], 0);
    mean += squares[v][1] / static_cast<double>(pulls.size());
  }
  EXPECT_NEAR(mean, 0.5 / (0.25 * 0.25), 1e-9);  // a quarter is told; half is the mean square of a wave
}

/// Trials and what is made whole hold nothing that no frame tells, whatever was learned.
TEST(SlowMoves, HaveNothingInCommon) {
  for (const double arc : {half_turn, whole_turn}) {
    const FlexibleBeam scan = rays(arc);
    SlowMoves slow(scan, {Move::bins, Move::rows});
    std::vector<ViewMove> steps;
    for (int k = 0; k < 90; ++k) steps.push_back({std::sin(0.1 * k * k), std::cos(0.2 * k * k), 0});
    subtract_common_moves(steps, scan);
    for (int number = 0; number < SlowMoves::trials; ++number) {
      std::vector<ViewMove> told = slow.trial(number);
      double size = 0;
      for (const ViewMove& move : told) size += std::abs(move[0]) + std::abs(move[1]);
      EXPECT_GT(size, 1);
      for (ViewMove& move : told)
        for (double& each : move) each *= 0.3;
      slow.learn(number, told);
    }
    slow.make_whole(steps);
    std::vector<ViewMove> apart = steps;
    subtract_common_moves(apart, scan);
    for (std::size_t v = 0; v < steps.size(); ++v)
      for (std::size_t k = 0; k < kinds_of_move; ++k) EXPECT_NEAR(steps[v][k], apart[v][k], 1e-9);
  }
}

}  // namespace
}  // namespace tandem::calibration
