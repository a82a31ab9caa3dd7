// Shifts and rolls of single views, by their reprojections.

#include "../../calibration/view_moves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../calibration/mass_moves.hpp"
#include "../../core/random.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"

namespace tandem::calibration {
namespace {

constexpr Index rows = 40, bins = 56;

double normal(Random& random) {
  return std::sqrt(-2 * std::log(random.uniform())) * std::cos(whole_turn * random.uniform());
}

struct Jitter {
  Phantom body = scaled(ellipsoids(), 22, 1);
  bool cone = false, all_round = false;  ///< parallel rays come from half a turn else
  int views = 90;
  double shift = 0.5, turn_deg = 0;
  double noise = 0.01;  ///< as a share of the largest line integral
  bool slow = false;    ///< moves are a parabola over the views
  std::uint64_t seed = 1;
  double aside = 0.3;  ///< bins from the middle of the detector to the axis
  Index height = rows;
};

/// A scan as it is thought to be, its frames, and how views were moved.
struct Moved {
  FlexibleBeam scan;
  std::vector<ViewMove> moves;
  FrameStack frames;
};

FlexibleBeam circle(const Jitter& c) {
  std::vector<double> angles;
  for (int k = 0; k < c.views; ++k)
    angles.push_back((c.cone || c.all_round ? whole_turn : half_turn) * k / c.views);
  const Detector d{bins, c.height, 1, 1, 0.5 * (bins - 1) + c.aside};
  return as_free_views(c.cone ? Scan(ConeBeam{d, angles, 200, 300, 0.5 * static_cast<double>(c.height - 1)})
                              : Scan(ParallelBeam{d, angles}));
}

FrameStack seen_by(const Scan& scan, const Jitter& c, Random& random) {
  const std::size_t views = views_of(scan);
  FrameStack frames{{}, c.height, bins, std::vector<double>(views), 0, 1};
  frames.values.resize(views * static_cast<std::size_t>(c.height * bins));
  project(c.body, scan, {0, c.height}, frames.values, 4);
  const auto most = static_cast<double>(*std::ranges::max_element(frames.values));
  for (float& value : frames.values) value += static_cast<float>(c.noise * most * normal(random));
  return frames;
}

Moved moved_views(const Jitter& c) {
  Moved all{circle(c), {}, {}};
  Random random(c.seed);
  for (std::size_t k = 0; k < all.scan.views.size(); ++k) {
    const double t = 2 * static_cast<double>(k) / static_cast<double>(c.views - 1) - 1;
    const ViewMove free{c.shift * normal(random), c.shift * normal(random),
                        in_radians(c.turn_deg) * normal(random)};
    all.moves.push_back(c.slow ? ViewMove{2 * c.shift * t * t, c.shift * (t - t * t), 0} : free);
  }
  // An axis that is off pulls the shifts of views, if they go half a turn: calibrate finds it first.
  subtract_common_moves(all.moves, all.scan);
  all.frames = seen_by(moved_by(all.scan, all.moves), c, random);
  return all;
}

double rms(const std::vector<ViewMove>& a, const std::vector<ViewMove>& b, Move move) {
  double sum = 0;
  const auto k = static_cast<std::size_t>(move);
  for (std::size_t v = 0; v < a.size(); ++v) sum += std::pow(a[v][k] - b[v][k], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// That moves are found to within a bound, and that what is said of their uncertainty holds to a factor of
/// two.
void expect_found(const Moved& truth, const ViewMoves& found, Move move, double bound) {
  const auto k = static_cast<std::size_t>(move);
  ASSERT_EQ(found.verdict[k], Verdict::resolved);
  const double off = rms(found.moves, truth.moves, move);
  const double said = rms(found.uncertainty, std::vector<ViewMove>(truth.moves.size()), move);
  EXPECT_LT(off, bound);
  EXPECT_LT(off, 2 * said);
  EXPECT_GT(off, said / 2);
}

/// That errors of some scans are as large as is said: their mean square is near one, and of a hundred views
/// one errs by more than three uncertainties at most.
void expect_as_certain_as_said(Jitter c, std::initializer_list<Move> moves, std::uint64_t scans = 3) {
  for (const Move move : moves) {
    double squares = 0, views = 0, beyond = 0;
    for (c.seed = 1; c.seed <= scans; ++c.seed) {
      const Moved truth = moved_views(c);
      const ViewMoves found = find_view_moves(truth.frames, truth.scan);
      ASSERT_EQ(found.verdict[at(move)], Verdict::resolved);
      for (std::size_t v = 0; v < truth.moves.size(); ++v, ++views) {
        const double off =
            std::abs(found.moves[v][at(move)] - truth.moves[v][at(move)]) / found.uncertainty[v][at(move)];
        squares += off * off, beyond += off > 3 ? 1 : 0;
      }
    }
    EXPECT_LT(squares / views, 1.5);
    EXPECT_LE(beyond / views, 0.01);
  }
}

/// What lies outside of the circle that all views see is a filter's, and pulls views: half a turn sees it
/// from one side.
TEST(ViewMoves, ThatAreNotThereAreNotMadeUpBesideAnAxisAsideOfTheMiddle) {
  expect_as_certain_as_said({.views = 60, .shift = 0, .noise = 0.002, .aside = 3}, {Move::bins, Move::rows});
}

/// Rows at the edges lie within some views only.
TEST(ViewMoves, OfFewRowsThatMovedAreAsCertainAsIsSaid) {
  expect_as_certain_as_said({.views = 60, .noise = 0.005, .height = 20}, {Move::bins, Move::rows});
}

TEST(ViewMoves, OfOneRowAreAsCertainAsIsSaid) {
  for (const bool cone : {false, true})
    expect_as_certain_as_said({.cone = cone, .views = 120, .shift = 0, .height = 1}, {Move::bins}, 10);
}

TEST(ViewMoves, AreFoundOfParallelRays) {
  const Moved truth = moved_views({});
  const ViewMoves found = find_view_moves(truth.frames, truth.scan);
  expect_found(truth, found, Move::bins, 0.08);
  expect_found(truth, found, Move::rows, 0.08);
  EXPECT_EQ(found.verdict[static_cast<std::size_t>(Move::turn)], Verdict::flat);  // it was not asked for
  EXPECT_LT(found.misfit, 0.5 * found.misfit_before);
}

TEST(ViewMoves, AreFoundOfACone) {
  const Moved truth = moved_views({.cone = true});
  const ViewMoves found = find_view_moves(truth.frames, truth.scan);
  expect_found(truth, found, Move::bins, 0.08);
  expect_found(truth, found, Move::rows, 0.08);
}

/// In one pass a filter makes edges of bubbles beside the midplane by which rows err by 0.06.
TEST(ViewMoves, AreFoundOfFoam) {
  Phantom body = scaled(foam(3), 20, 1);
  body.ellipsoids.resize(40);  // the cylinder and some of its bubbles
  const Moved truth = moved_views({.body = body, .cone = true});
  const ViewMoves found = find_view_moves(truth.frames, truth.scan);
  expect_found(truth, found, Move::bins, 0.04);
  expect_found(truth, found, Move::rows, 0.04);
}

/// Parallel rays from opposite sides make the same of a sample that rises twice a turn, so that a round tells
/// a fifth of it: 16 rounds without a step that is as much longer leave 0.8^16 * 0.5 = 0.014 and more.
TEST(ViewMoves, ThatTheVolumeFollowsAreFoundInFewRounds) {
  Phantom body = scaled(foam(3), 22, 1);
  body.ellipsoids.resize(40);
  Moved truth{circle({.all_round = true}), {}, {}};
  const std::size_t views = truth.scan.views.size();
  for (std::size_t k = 0; k < views; ++k) {
    const double angle = whole_turn * static_cast<double>(k) / static_cast<double>(views);
    truth.moves.push_back({0.5 * std::sin(3 * angle), 0.5 * std::cos(2 * angle), 0});
  }
  Random random(1);
  truth.frames = seen_by(moved_by(truth.scan, truth.moves), {.body = body, .noise = 0}, random);
  const ViewMoves found = find_view_moves(truth.frames, truth.scan);
  for (const Move move : {Move::bins, Move::rows}) {
    ASSERT_EQ(found.verdict[static_cast<std::size_t>(move)], Verdict::resolved);
    EXPECT_LT(rms(found.moves, truth.moves, move), 0.02);
  }
  EXPECT_LE(found.rounds, 8);
}

/// Shifts of several cells are small ones where cells are joined.
TEST(ViewMoves, ThatAreLargeAreFound) {
  for (const double shift : {1.0, 2.0, 3.0}) {
    const Moved truth = moved_views({.all_round = true, .shift = shift});
    const ViewMoves found = find_view_moves(truth.frames, truth.scan);
    expect_found(truth, found, Move::bins, 0.05);
    expect_found(truth, found, Move::rows, 0.15);
  }
}

TEST(ViewMoves, AreTurnsToo) {
  const Moved truth = moved_views({.turn_deg = 1});
  const ViewMoves found = find_view_moves(truth.frames, truth.scan, {.turns = true});
  expect_found(truth, found, Move::bins, 0.08);
  expect_found(truth, found, Move::rows, 0.08);
  expect_found(truth, found, Move::turn, in_radians(0.5));  // 0.17 cells at the upper end
}

/// Most of such a parabola is a shift of the sample: 0.017 bins are left of it over half a turn, and 0.084
/// over a whole one. Rows, which have no such shift, are told worst: to 0.005.
TEST(ViewMoves, ThatAreSlowAreFoundMoreExactly) {
  for (const bool all_round : {false, true}) {
    const Moved truth = moved_views({.all_round = all_round, .slow = true});
    const ViewMoves found = find_view_moves(truth.frames, truth.scan, {.degree = 2});
    for (const Move move : {Move::bins, Move::rows}) {
      ASSERT_EQ(found.verdict[static_cast<std::size_t>(move)], Verdict::resolved);
      EXPECT_LT(rms(found.moves, truth.moves, move), 0.01);
    }
    EXPECT_LE(found.rounds, 8);
  }
}

TEST(ViewMoves, OfAirAreNotMadeUp) {
  Moved air = moved_views({});
  Random random(7);
  for (float& value : air.frames.values) value = static_cast<float>(normal(random));
  const ViewMoves found = find_view_moves(air.frames, air.scan);
  for (const Verdict verdict : found.verdict) EXPECT_EQ(verdict, Verdict::flat);
  for (const ViewMove& move : found.moves) EXPECT_EQ(move, ViewMove{});
}

/// A cylinder shows its edges, and nothing that changes with height.
TEST(ViewMoves, OfACylinderAlongItselfAreNotMadeUp) {
  const Moved truth = moved_views({.body = {{{1, {18, 18, INFINITY}, {0, 0, 0}, 0}}}});
  const ViewMoves found = find_view_moves(truth.frames, truth.scan);
  expect_found(truth, found, Move::bins, 0.08);
  EXPECT_EQ(found.verdict[static_cast<std::size_t>(Move::rows)], Verdict::flat);
  for (const ViewMove& move : found.moves) EXPECT_EQ(move[1], 0);
}

TEST(ViewMoves, ThatTheSampleMakesAreNotTold) {
  const FlexibleBeam scan = circle({});
  std::vector<ViewMove> all;
  for (std::size_t k = 0; k < scan.views.size(); ++k) {
    const double angle = half_turn * static_cast<double>(k) / static_cast<double>(scan.views.size());
    all.push_back({0.7 + 2 * std::cos(angle) - 3 * std::sin(angle), 1.5, 0.1});
  }
  subtract_common_moves(all, scan);
  for (const ViewMove& move : all)
    for (const double number : move) EXPECT_NEAR(number, 0, 1e-9);  // some hundred roundings
}

/// The image of a view that is moved lies as far towards higher cells, and the axis leans as its roll says.
TEST(MassMoves, TellSlowMovesThatAreWrong) {
  const Moved truth = moved_views({});
  ViewMoves found{.moves = truth.moves, .uncertainty = {truth.moves.size(), ViewMove{0.02, 0.02, 0}}};
  found.verdict.fill(Verdict::resolved);
  EXPECT_FALSE(off_by_mass(truth.frames, truth.scan, found));
  for (std::size_t v = 0; v < found.moves.size(); ++v)
    found.moves[v][at(Move::bins)] += std::cos(3 * half_turn * static_cast<double>(v) / 90);
  EXPECT_NEAR(off_by_mass(truth.frames, truth.scan, found).value(), std::sqrt(0.5), 0.05);
  FrameStack cut = truth.frames;  // a sample that reaches beyond the bins has another centre of mass
  const float most = *std::ranges::max_element(truth.frames.values);
  for (float& value : cut.values) value += most;
  EXPECT_TRUE(off_by_mass(cut, truth.scan, found));  // an offset does not matter
  for (std::size_t k = 0; k < cut.values.size(); ++k)
    cut.values[k] = truth.frames.values[k] + (k % bins < 8 ? most : 0.0F);
  EXPECT_FALSE(off_by_mass(cut, truth.scan, found));
  found.verdict.fill(Verdict::flat);
  EXPECT_FALSE(off_by_mass(truth.frames, truth.scan, found));  // nothing was told
}

TEST(ViewMoves, SayWhereImagesLie) {
  const Scan cone =
      ConeBeam{{bins, rows, 1, 1, 0.5 * (bins - 1) + 0.3}, {0, 2, 4}, 200, 300, 0.5 * (rows - 1)};
  const FlexibleBeam all = as_free_views(moved_by(cone, {{2, -3, 0.1}, {2, -3, 0.1}, {2, -3, 0.1}}));
  const FlexibleBeam wanted =
      as_free_views(cone, {.roll = 0.1, .bin_shifts = {2, 2, 2}, .row_shifts = {-3, -3, -3}});
  for (std::size_t k = 0; k < 3; ++k) {
    const FlexibleView& found = all.views[k];
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(found.detector[i], wanted.views[k].detector[i], 1e-9);
      EXPECT_NEAR(found.bin_step[i], wanted.views[k].bin_step[i], 1e-12);
      EXPECT_NEAR(found.row_step[i], wanted.views[k].row_step[i], 1e-12);
    }
  }
}

}  // namespace
}  // namespace tandem::calibration
