// FBP and FDK of views that come at any angles: with holes, at random, in bursts, over arcs, against closed
// forms.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "../../core/units.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/projector.hpp"
#include "../support/operators.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr double mu = 0.02;

struct Disc {
  double x, y, radius;
};

template <class Kind>
Array line_integrals(const std::vector<Disc>& discs, const Kind& scan) {
  Phantom body;
  for (const auto& [x, y, radius] : discs)
    body.ellipsoids.push_back({mu, {radius, radius, INFINITY}, {x, y, 0}, 0});
  Array y(projection_space(scan));
  const std::span<float> all{y.data(), static_cast<std::size_t>(y.size())};
  if constexpr (std::is_same_v<Kind, ParallelBeam>)
    project(body, scan, {0, scan.detector.rows}, all);
  else
    project(body, scan, {0, 1}, all, 3);
  return y;
}

double mean_in(const Disc& disc, const Array& volume, const VolumeGrid& grid) {
  double sum = 0, count = 0;
  for (Index iy = 0; iy < grid.size[1]; ++iy)
    for (Index ix = 0; ix < grid.size[0]; ++ix)
      if (std::hypot(grid.x(static_cast<double>(ix)) - disc.x, grid.y(static_cast<double>(iy)) - disc.y) <
          disc.radius) {
        sum += static_cast<double>(volume.data()[iy * grid.size[0] + ix]);
        ++count;
      }
  return sum / count;
}

/// Angles of those of 480 steps of a turn that are there.
std::vector<double> steps_where(const std::function<bool(int)>& there) {
  std::vector<double> angles;
  for (int k = 0; k < 480; ++k)
    if (there(k)) angles.push_back(whole_turn * k / 480);
  return angles;
}

struct Way {
  std::string name;
  std::vector<double> angles;
  double within;  ///< error of the mean that is allowed
};

/// A disc is seen alike from everywhere: its mean is off by what the disc is off the axis, and by few views.
std::vector<Way> ways_round() {
  Random random(2);
  std::vector<double> at_random, golden;
  for (int k = 0; k < 300; ++k) {
    at_random.push_back(5 * whole_turn * random.uniform());
    golden.push_back(half_turn * (3 - std::sqrt(5)) * k);
  }
  return {
      {"two lost neighbours", steps_where([](int k) { return k < 100 || k > 101; }), tolerance::fbp_patch},
      {"gated", steps_where([](int k) { return k % 40 < 20; }), tolerance::gapped_patch},
      {"by chance", steps_where([&](int) { return random.uniform() < 0.4; }), tolerance::gapped_patch},
      {"at random", at_random, tolerance::gapped_patch},
      {"golden ratio", golden, tolerance::fbp_patch},
      {"both ends", test::regular_angles(241, whole_turn, true), tolerance::fbp_patch},
      {"falling", test::regular_angles(240, -whole_turn), tolerance::fbp_patch},
      {"hole of 25 degrees", steps_where([](int k) { return k < 50 || k > 82; }), tolerance::gapped_patch}};
}

TEST(ViewGaps, AFanWithItsAxisAsideReadsItsDisc) {
  for (const Way& way : ways_round()) {
    const FanBeam scan{{{160, 1, 1.5, 1.5, 44.3}, way.angles, 300, 450, 0}};
    ASSERT_TRUE(half_acquisition(scan)) << way.name;
    const VolumeGrid grid = fitting_grid(scan);
    const Disc disc{10, -4, 30};
    const Array volume = fdk(scan, grid) * line_integrals({disc}, scan);
    EXPECT_NEAR(mean_in({10, -4, 27}, volume, grid) / mu, 1, way.within) << way.name;
  }
}

TEST(ViewGaps, ParallelHalfAcquisitionsReadTheirDisc) {
  for (const Way& way : ways_round()) {
    const ParallelBeam scan{{160, 1, 1, 1, 44.3}, way.angles};
    ASSERT_TRUE(half_acquisition(scan)) << way.name;
    const VolumeGrid grid = fitting_grid(scan);
    const Disc disc{10, -4, 70};
    const Array y = line_integrals({disc}, scan);
    for (const LinearOperator& B :
         {fbp(projector(symmetric(scan), grid), scan, grid), fourier_fbp(scan, grid)})
      EXPECT_NEAR(mean_in({10, -4, 66}, B * y, grid) / mu, 1, way.within) << way.name;
  }
}

TEST(ViewGaps, FansWithTheirAxisInTheMiddleReadTheirDisc) {
  for (const Way& way : ways_round()) {
    const FanBeam scan{{{160, 1, 1.5, 1.5, 79.7}, way.angles, 300, 450, 0}};
    const VolumeGrid grid = fitting_grid(scan);
    const Array volume = fdk(scan, grid) * line_integrals({{10, -4, 30}}, scan);
    EXPECT_NEAR(mean_in({10, -4, 27}, volume, grid) / mu, 1, way.within) << way.name;
  }
}

/// N views in equal steps over half a turn are all of it, and over half a turn and the fan a short scan: N -
/// 1 steps of N would read 5 % less.
TEST(ViewGaps, FewViewsOfAnArcReadTheirDisc) {
  for (const double beyond : {0.0, 0.53})
    for (const Index views : {20, 60}) {
      const FanBeam scan{
          {{160, 1, 1.5, 1.5, 79.7}, test::regular_angles(views, half_turn + beyond), 300, 450, 0}};
      const VolumeGrid grid = fitting_grid(scan);
      const Array volume = fdk(scan, grid) * line_integrals({{2, -1, 30}}, scan);
      EXPECT_NEAR(mean_in({2, -1, 27}, volume, grid) / mu, 1, beyond > 0 ? tolerance::fbp_patch : 0.01)
          << views << " views, " << beyond;
    }
}

double root_mean_square(const Array& a) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(a.data()[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// Outside of two discs there is nothing; what is there are streaks.
double streaks(const ParallelBeam& scan, const std::vector<float>& weights) {
  const VolumeGrid grid = test::grid_of(151, 151, 1);
  const std::vector<Disc> discs{{30, 5, 12}, {-30, -10, 12}};
  const LinearOperator F = ramp_filter(scan, {0, views_of(scan)}, weights);
  Array volume = backprojector(projector(scan, grid), scan, grid) * (F * line_integrals(discs, scan));
  for (Index iy = 0; iy < 151; ++iy)
    for (Index ix = 0; ix < 151; ++ix)
      for (const auto& [x, y, radius] : discs)
        if (std::hypot(grid.x(static_cast<double>(ix)) - x, grid.y(static_cast<double>(iy)) - y) < radius + 2)
          volume.data()[iy * 151 + ix] = 0;
  return root_mean_square(volume);
}

TEST(ViewGaps, AMissingWedgeIsNotGivenToItsEnds) {
  for (const double wedge : {28.0, 40.0, 60.0}) {
    std::vector<double> angles = test::regular_angles(180);
    std::erase_if(angles, [&](double a) { return in_radians(70) < a && a < in_radians(70 + wedge); });
    const ParallelBeam scan{{161, 1, 1, 1, 80}, angles};
    const std::vector<float> own = view_shares(scan);
    std::vector<float> of_ends(angles.size(), static_cast<float>(in_radians(1)));
    for (const std::size_t end : {std::size_t{70}, std::size_t{71}})
      of_ends[end] = static_cast<float>(in_radians(0.5 * (wedge + 1)));
    EXPECT_LT(streaks(scan, own), 0.95 * streaks(scan, of_ends)) << wedge;
  }
}

/// A view that is given several times has its weight once, so that its repetitions are averaged.
TEST(ViewGaps, RepeatedViewsAreAveraged) {
  const ParallelBeam once{{61, 1, 1, 1, 30}, test::regular_angles(90)};
  ParallelBeam thrice = once;
  for (const int turn : {1, 2})
    for (const double a : once.angles) thrice.angles.push_back(a + turn * whole_turn);
  for (const float w : view_shares(thrice)) EXPECT_NEAR(w, half_turn / 270, 4 * tolerance::u);
}

}  // namespace
}  // namespace tandem
