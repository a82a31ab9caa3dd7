#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <span>

#include "../../calibration/hardening.hpp"
#include "../../calibration/moments.hpp"
#include "../../calibration/whole_turn.hpp"
#include "../../counts/hardening_polynomial.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

using calibration::BeamVerdict;
using calibration::Hardening;
using calibration::HardeningBy;

/// Energies of a beam: the share of each, and its attenuation over the mean one.
struct Energy {
  double share, attenuation;
};
using Beam = std::vector<Energy>;

/// Attenuations of aluminium over a wide beam fall by six; a few lines of it.
Beam wide_beam() {
  Beam beam{{0.08, 2.9}, {0.17, 1.6}, {0.25, 1.0}, {0.25, 0.70}, {0.15, 0.55}, {0.10, 0.45}};
  double mean = 0;
  for (const auto& [share, attenuation] : beam) mean += share * attenuation;
  for (auto& [share, attenuation] : beam) attenuation /= mean;
  return beam;
}
const Beam one_energy{{1, 1}};

/// What is measured of a line integral of the mean attenuation.
double measured(const Beam& beam, double p) {
  double transmission = 0;
  for (const auto& [share, attenuation] : beam) transmission += share * std::exp(-attenuation * p);
  return -std::log(transmission);
}

/// An ellipse with two holes beside the axis, whose thickest ray is 3.3.
Phantom body(double turned = 0.3) {
  return scaled({{{1, {0.72, 0.5, INFINITY}, {0.08, 0.05, 0}, turned},
                  {-1, {0.12, 0.12, INFINITY}, {0.3, 0.1, 0}, 0},
                  {-0.5, {0.16, 0.1, INFINITY}, {-0.25, 0, 0}, 0.4}}},
                96, 0.024);
}
Phantom round_body(double x = 0) { return scaled({{{1, {0.7, 0.7, INFINITY}, {x, 0, 0}, 0}}}, 96, 0.024); }

constexpr Index bins = 256, views = 360;

ParallelBeam parallel(double arc = 2 * std::numbers::pi, double axis = 0.5 * (bins - 1)) {
  return {.detector = {.bins = bins, .axis_bin = axis}, .angles = regular_angles(views, arc)};
}
ConeBeam fan(double arc = 2 * std::numbers::pi) {
  return {.detector = {.bins = bins, .bin_pitch = 2, .row_pitch = 2, .axis_bin = 0.5 * (bins - 1)},
          .angles = regular_angles(views, arc),
          .sod = 600,
          .sdd = 1000};
}

/// Line integrals as a beam shows them to cells that add up what falls on them, with the noise of so many
/// photons a cell; 0: none.
std::vector<float> lines_of(const Phantom& sample, const Scan& scan, const Beam& beam, double photons = 0) {
  constexpr Index parts = 4;
  Scan fine = scan;
  Detector& d = detector_of(fine);
  d.bins *= parts, d.bin_pitch /= parts, d.axis_bin = parts * (d.axis_bin + 0.5) - 0.5;
  std::vector<float> rays(views_of(fine) * d.bins), lines;
  project(sample, fine, {0, 1}, rays);
  std::mt19937 random(7);
  for (std::size_t k = 0; k < rays.size(); k += parts) {
    double through = 0;
    for (Index part = 0; part < parts; ++part) through += std::exp(-measured(beam, rays[k + part])) / parts;
    if (photons > 0)
      through = std::max<double>(std::poisson_distribution<int>(photons * through)(random), 0.5) / photons;
    lines.push_back(static_cast<float>(-std::log(through)));
  }
  return lines;
}

Hardening found_in(const Phantom& sample, const Scan& scan, const Beam& beam, double photons = 0,
                   HardeningBy means = HardeningBy::moments_and_slices) {
  return find_hardening(lines_of(sample, scan, beam, photons), scan, 1, means);
}

/// By how much corrected line integrals are no multiple of lengths: half the range of their ratio.
double bend_left(const Hardening& found, const Beam& beam) {
  const pipeline::HardeningPolynomial p(found.polynomial);
  double low = INFINITY, high = 0;
  for (double length = 0.3; length <= 3.2; length += 0.1) {
    const double ratio = p(measured(beam, length)) / length;
    low = std::min(low, ratio), high = std::max(high, ratio);
  }
  return (high - low) / (high + low);
}

TEST(ViewMoments, OfExactProjectionsHaveNoOtherHarmonics) {
  for (const Scan& scan : {Scan(parallel()), Scan(parallel(std::numbers::pi)), Scan(fan())}) {
    const auto turn = calibration::whole_turn_of(lines_of(body(), scan, one_energy), scan, 1);
    ASSERT_TRUE(turn) << kind_of(scan);
    const std::vector<double> as_it_is{1}, squares{0, 1};
    const calibration::ViewMoments moments(*turn);
    EXPECT_LT(moments.misfit(as_it_is), 0.05) << kind_of(scan);
    EXPECT_GT(moments.misfit(squares), 10) << kind_of(scan);
  }
}

/// Thickest ray 7: means of line integrals over cells, and of the beam that they add up.
TEST(ViewMoments, AreRightOfRaysAndOfCells) {
  using calibration::LinesOf;
  const Phantom dense = scaled(body(), 1, 2.1);
  const Scan scan = parallel();
  const std::vector<float> cells = lines_of(dense, scan, one_energy);
  std::vector<float> means = lines_of(scaled(body(), 1, 1e-3), scan, one_energy);  // its beam hardly falls
  for (float& p : means) p *= 2100;
  const auto misfit = [&](const std::vector<float>& lines, LinesOf made_of) {
    const calibration::ViewMoments moments(*calibration::whole_turn_of(lines, scan, 1), made_of);
    const std::vector<double> as_it_is{1};
    return moments.misfit(as_it_is);
  };
  EXPECT_LT(misfit(means, LinesOf::others), 0.05);
  EXPECT_LT(misfit(cells, LinesOf::cells), 0.05);
  EXPECT_GT(misfit(means, LinesOf::cells), 2 * misfit(means, LinesOf::others));
  EXPECT_GT(misfit(cells, LinesOf::others), 2 * misfit(cells, LinesOf::cells));
}

TEST(ViewMoments, OfAPolynomialAreThoseOfItsLineIntegrals) {
  const Scan scan = parallel();
  std::vector<float> lines = lines_of(body(), scan, one_energy);
  const std::vector<double> c{0.9, 0.08, -0.01};
  const calibration::ViewMoments moments(*calibration::whole_turn_of(lines, scan, 1));
  const pipeline::HardeningPolynomial p(c);
  for (float& y : lines) y = static_cast<float>(p(y));
  const calibration::ViewMoments after(*calibration::whole_turn_of(lines, scan, 1));
  const std::vector<double> as_it_is{1};
  EXPECT_NEAR(moments.misfit(c) / after.misfit(as_it_is), 1, 0.002);
  EXPECT_NEAR(moments.mass(c) / after.mass(as_it_is), 1, 1e-4);
}

TEST(WholeTurn, OfAHalfTurnIsThatOfAWholeOne) {
  const auto half = calibration::whole_turn_of(lines_of(body(), parallel(std::numbers::pi), one_energy),
                                               parallel(std::numbers::pi), 1, 720);
  const auto whole = calibration::whole_turn_of(lines_of(body(), parallel(), one_energy), parallel(), 1);
  ASSERT_TRUE(half && whole);
  EXPECT_EQ(half->views, 2 * whole->views);
  double squares = 0, all = 0;  // rays of the other side lie between bins, so edges are a little softer
  for (Index v = 0; v < whole->views; ++v)
    for (Index k = 0; k < whole->rays; ++k)
      squares += std::pow(half->view(0, 2 * v)[k] - whole->view(0, v)[k], 2),
          all += std::pow(whole->view(0, v)[k], 2);
  EXPECT_LT(std::sqrt(squares / all), 0.002);
}

TEST(WholeTurn, HasRaysThatOnlyTheOtherSideSees) {
  const ParallelBeam aside = parallel(2 * std::numbers::pi, 48);
  const auto turn = calibration::whole_turn_of(lines_of(body(), aside, one_energy), aside, 1);
  ASSERT_TRUE(turn);
  EXPECT_NEAR(turn->distance(0), -turn->distance(turn->rays - 1), 1);
  double squares = 0, all = 0;
  for (Index v = 0; v < turn->views; v += 30)
    for (Index k = 0; k < turn->rays; k += 3) {
      const double p = line_integral(body(), 2 * std::numbers::pi * v / turn->views, turn->distance(k), 0);
      squares += std::pow(turn->view(0, v)[k] - p, 2), all += p * p;
    }
  EXPECT_LT(std::sqrt(squares / all), 0.01);
}

TEST(WholeTurn, IsMadeAboutAnyAxis) {
  for (const double off : {-20.0, -0.49, -0.3, -1e-9, 0.0, 0.2, 0.5, 7.7})
    for (Scan scan : {Scan(parallel()), Scan(parallel(std::numbers::pi)), Scan(fan())}) {
      detector_of(scan).axis_bin += off;
      const auto turn = calibration::whole_turn_of(lines_of(body(), scan, one_energy), scan, 1);
      ASSERT_TRUE(turn) << kind_of(scan) << ' ' << off;
      EXPECT_NEAR(turn->distance(0), -turn->distance(turn->rays - 1), 1.001 * turn->step) << off;
    }
}

TEST(WholeTurn, IsNotMadeOfPartOfOne) {
  const ConeBeam arc = fan(2.4);
  EXPECT_FALSE(calibration::whole_turn_of(lines_of(body(), arc, one_energy), arc, 1));
  const ParallelBeam wedge = parallel(2.4), aside = parallel(std::numbers::pi, -2);
  EXPECT_FALSE(calibration::whole_turn_of(lines_of(body(), wedge, one_energy), wedge, 1));
  EXPECT_FALSE(calibration::whole_turn_of(lines_of(body(), aside, one_energy), aside, 1));
}

TEST(FindHardening, StraightensAWideBeamInEveryGeometry) {
  const double bend = bend_left({.polynomial = {1}}, wide_beam());
  EXPECT_GT(bend, 0.1);  // what there is to mend
  for (const Scan& scan : {Scan(parallel()), Scan(parallel(std::numbers::pi)), Scan(fan()),
                           Scan(parallel(2 * std::numbers::pi, 48))}) {
    for (const double photons : {0.0, 40000.0}) {
      const Hardening found = found_in(body(), scan, wide_beam(), photons);
      EXPECT_EQ(found.verdict, BeamVerdict::hardened)
          << kind_of(scan) << ' ' << photons << ' ' << found.before << ' ' << found.after << ' '
          << found.noise;
      EXPECT_LT(bend_left(found, wide_beam()), 0.012) << kind_of(scan) << ' ' << photons << ' ' << found.b;
    }
  }
}

TEST(FindHardening, LeavesOneEnergyAsItIs) {
  for (const Scan& scan : {Scan(parallel()), Scan(parallel(std::numbers::pi)), Scan(fan())})
    for (const double photons : {0.0, 40000.0, 2000.0}) {
      const Hardening found = found_in(body(), scan, one_energy, photons);
      EXPECT_FALSE(found.is_corrected())
          << kind_of(scan) << ' ' << photons << ' ' << found.b << ' ' << found.before << ' ' << found.noise;
    }
}

TEST(FindHardening, SeesARoundBodyByItsSlopesAlone) {
  const Hardening found = found_in(round_body(), fan(), wide_beam(), 40000);
  EXPECT_EQ(found.verdict, BeamVerdict::hardened_by_slopes) << found.b << ' ' << found.before;
  EXPECT_LT(bend_left(found, wide_beam()), 0.3 * bend_left({.polynomial = {1}}, wide_beam())) << found.b;
  EXPECT_FALSE(found_in(round_body(), fan(), one_energy, 40000).is_corrected());
  const Hardening blind = found_in(round_body(0.15), fan(), wide_beam(), 40000, HardeningBy::moments);
  EXPECT_EQ(blind.verdict, BeamVerdict::not_known) << blind.before << ' ' << blind.noise;
}

TEST(FindHardening, DoesNotCorrectWhatHardeningDidNotDo) {
  const Scan scan = fan();
  Phantom moved = body();
  for (Ellipsoid& part : moved.ellipsoids) part.centre[0] += 3;
  for (const auto& [beam, photons] :
       {std::pair(one_energy, 40000.0), {one_energy, 2000.0}, {wide_beam(), 2000.0}}) {
    std::vector<float> lines = lines_of(body(), scan, beam, photons);
    const std::vector<float> later = lines_of(moved, scan, beam, photons);
    std::copy(later.begin() + views / 3 * bins, later.end(), lines.begin() + views / 3 * bins);
    const Hardening found = find_hardening(lines, scan, 1, HardeningBy::moments_and_slices);
    EXPECT_FALSE(found.is_corrected()) << found.before << ' ' << found.after;
    EXPECT_NE(found.verdict, BeamVerdict::none);
    EXPECT_FALSE(found.drifts) << photons;
  }
}

TEST(FindHardening, SeesABeamThatDriftsByTheAirBesideTheSample) {
  for (const Scan& scan : {Scan(fan()), Scan(parallel()), Scan(parallel(2 * std::numbers::pi, 60))})
    for (const Beam& beam : {one_energy, wide_beam()}) {
      std::vector<float> lines = lines_of(body(), scan, beam, 40000);
      const Hardening steady = find_hardening(lines, scan, 1, HardeningBy::moments);
      EXPECT_FALSE(steady.drifts);
      for (Index v = 0; v < views; ++v)
        for (Index b = 0; b < bins; ++b) lines[v * bins + b] += static_cast<float>(0.02 * v / views);
      const Hardening found = find_hardening(lines, scan, 1, HardeningBy::moments);
      EXPECT_TRUE(found.drifts);
      EXPECT_EQ(found.verdict, steady.verdict) << kind_of(scan) << ' ' << found.before << ' ' << found.noise;
      EXPECT_NEAR(found.b, steady.b, 0.02);
    }
  std::vector<float> round = lines_of(round_body(0.15), fan(), one_energy, 40000);
  for (Index k = 0; k < std::ssize(round); ++k) round[k] += static_cast<float>(0.02 * k / std::ssize(round));
  const Hardening found = find_hardening(round, fan(), 1, HardeningBy::moments);
  EXPECT_EQ(found.verdict, BeamVerdict::not_known);
  EXPECT_TRUE(found.drifts);
}

TEST(FindHardening, SaysWhyItCannotTell) {
  const auto why = [](const Phantom& sample, const Scan& scan) {
    const Hardening found = found_in(sample, scan, wide_beam());
    EXPECT_EQ(found.verdict, BeamVerdict::not_known);
    EXPECT_FALSE(found.is_corrected());
    return std::string(found.why_not);
  };
  EXPECT_NE(why(body(), fan(2.4)).find("whole turn"), std::string::npos);
  EXPECT_NE(why(scaled(body(), 2, 0.5), parallel()).find("air"), std::string::npos);
  EXPECT_NE(why(body(), parallel(std::numbers::pi, 58)).find("the axis lies aside"), std::string::npos);
  ParallelBeam few = parallel();
  few.angles = regular_angles(24, std::numbers::pi);
  EXPECT_NE(why(body(), few).find("views"), std::string::npos);
  EXPECT_NE(why({}, parallel()).find("no sample"), std::string::npos);
  const Scan scan = parallel();
  std::vector<float> below = lines_of(body(), scan, wide_beam());
  for (float& q : below) q -= 0.3F;  // air is not at zero
  EXPECT_FALSE(find_hardening(below, scan, 1, HardeningBy::moments_and_slices).is_corrected());
}

TEST(FindHardening, BearsFewWrongValues) {
  const Scan scan = fan();
  std::vector<float> lines = lines_of(body(), scan, wide_beam(), 40000);
  const double b = find_hardening(lines, scan, 1, HardeningBy::moments).b;
  for (const float wrong : {1e30F, 1e6F, 50.0F}) {
    lines[views / 2 * bins + bins / 2] = wrong;
    const Hardening found = find_hardening(lines, scan, 1, HardeningBy::moments);
    EXPECT_TRUE(std::isfinite(found.before)) << wrong;
    EXPECT_NEAR(found.b, b, 0.01) << wrong;
  }
}

TEST(HardeningPolynomial, GoesOnStraight) {
  const Hardening found = found_in(body(), parallel(), wide_beam());
  const pipeline::HardeningPolynomial p(found.polynomial, found.straight_from);
  EXPECT_EQ(p.rises_to(), pipeline::HardeningPolynomial::highest);
  const double q = found.straight_from, slope = (p(q) - p(q - 0.01)) / 0.01;
  EXPECT_GT(q, 2);
  EXPECT_NEAR(p(q + 20) - p(q), 20 * slope, 0.02 * 20 * slope);
  EXPECT_NEAR(slope, 1 / found.b, 0.2 / found.b);  // that of thick layers
}

TEST(FindHardening, IsTheSameForAnyOrderOfViewsAndFirstAngle) {
  const ConeBeam straight = fan();
  ConeBeam mixed = straight;
  for (Index v = 0; v < views; ++v) mixed.angles[v] = straight.angles[v * 7 % views] + 1.234;
  const double b = found_in(body(), straight, wide_beam()).b;
  EXPECT_NEAR(found_in(body(), mixed, wide_beam()).b, b, 0.005);
  ConeBeam aside = straight;
  aside.detector.axis_bin += 0.4;
  EXPECT_NEAR(found_in(body(), aside, wide_beam()).b, b, 0.005);
}

}  // namespace
}  // namespace tandem::test
