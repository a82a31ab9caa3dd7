#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "../../calibration/least_squares.hpp"
#include "../../calibration/moments.hpp"
#include "../../calibration/second_material.hpp"
#include "../../calibration/whole_turn.hpp"
#include "../../counts/steps/tube_tables.hpp"
#include "../../geometry/phantom.hpp"
#include "../support/scans.hpp"

namespace tandem::test {
namespace {

using calibration::find_hardening;
using calibration::find_second_material;
using calibration::Hardening;
using calibration::HardeningBy;
using calibration::SecondMaterial;
using pipeline::DenserMaterial;

constexpr double density_of_bone = 1.92;  // g/cm^3

/// A share of what the detector sees, and what water and bone attenuate of it, 1/mm.
struct Energy {
  double share, water, bone;
};
using Beam = std::vector<Energy>;

Energy at(double kev, double share) {
  return {share, 0.1 * pipeline::mass_attenuation("water", kev),
          0.1 * density_of_bone * pipeline::mass_attenuation("bone", kev)};
}

/// Every third energy of the beam of a tube behind aluminium, mm, on a detector that adds up energies.
Beam tube(double kv, double aluminium = 3) {
  Beam beam;
  double all = 0;
  const auto energies = pipeline::spectrum_of_tube(kv);
  for (std::size_t k = 0; k < energies.size(); k += 3) {
    const auto& [kev, energy] = energies[k];
    beam.push_back(
        at(kev, energy * std::exp(-0.27 * aluminium * pipeline::mass_attenuation("aluminium", kev))));
    all += beam.back().share;
  }
  for (Energy& energy : beam) energy.share /= all;
  return beam;
}
const Beam one_energy{at(70, 1)};

double thin(const Beam& beam, double Energy::*material) {
  double mean = 0;
  for (const Energy& energy : beam) mean += energy.share * (energy.*material);
  return mean;
}

/// Lengths in water and in bone, mm: an ellipse beside the axis, in which rods of bone take the place of
/// water.
struct Body {
  Phantom water, bone;
};
Body with_bones(std::vector<std::array<double, 3>> rods = {{-36, 3, 11}, {46, -5, 9}, {10, 33, 7}}) {
  Body body{{{{1, {80, 60, INFINITY}, {4, 3, 0}, 0}, {-1, {9, 9, INFINITY}, {4, -27, 0}, 0}}}, {}};
  for (const auto& [x, y, radius] : rods) {
    body.bone.ellipsoids.push_back({1, {radius, radius, INFINITY}, {x, y, 0}, 0});
    body.water.ellipsoids.push_back({-1, {radius, radius, INFINITY}, {x, y, 0}, 0});
  }
  return body;
}

constexpr Index bins = 256, views = 360;

ConeBeam fan() {
  return {.detector = {.bins = bins, .bin_pitch = 1.28, .row_pitch = 1.28, .axis_bin = 0.5 * (bins - 1)},
          .angles = regular_angles(views, 2 * std::numbers::pi),
          .sod = 500,
          .sdd = 800};
}
ParallelBeam parallel() {
  return {.detector = {.bins = bins, .bin_pitch = 0.8, .row_pitch = 0.8, .axis_bin = 0.5 * (bins - 1) + 1.3},
          .angles = regular_angles(views, std::numbers::pi)};
}

/// What a scan has: line integrals as measured, those of the bones alone as a first volume shows them, and
/// lengths in water and in bone.
struct Measured {
  std::vector<float> lines, dense;
  Eigen::MatrixXd lengths;
};

/// Closed form: sums over the energies and over the rays in a cell. `scatter`: a share of the beam in air
/// that falls on all cells. `photons` a cell; 0: no noise.
Measured measured(const Body& body, const Scan& scan, const Beam& beam, double photons = 0,
                  double scatter = 0) {
  constexpr Index parts = 4;
  Scan fine = scan;
  Detector& d = detector_of(fine);
  d.bins *= parts, d.bin_pitch /= parts, d.axis_bin = parts * (d.axis_bin + 0.5) - 0.5;
  std::vector<float> water(views_of(fine) * d.bins), bone(water.size());
  project(body.water, fine, {0, 1}, water), project(body.bone, fine, {0, 1}, bone);
  std::mt19937 random(7);
  Measured all;
  all.lengths.resize(std::ssize(water) / parts, 2);
  for (std::size_t k = 0; k < water.size(); k += parts) {
    double through = scatter, of_water = 0, of_bone = 0;
    for (std::size_t j = k; j < k + parts; ++j) {
      of_water += water[j] / parts, of_bone += bone[j] / parts;
      for (const Energy& energy : beam)
        through += energy.share * std::exp(-energy.water * water[j] - energy.bone * bone[j]) / parts;
    }
    if (photons > 0)
      through = std::max<double>(std::poisson_distribution<int>(photons * through)(random), 0.5) / photons;
    all.lines.push_back(static_cast<float>(-std::log(through)));
    all.dense.push_back(static_cast<float>(0.8 * thin(beam, &Energy::bone) * of_bone));  // 20 % too low
    all.lengths.row(std::ssize(all.lines) - 1) << of_water, of_bone;
  }
  return all;
}

SecondMaterial found_in(const Measured& m, const Scan& scan) {
  return find_second_material(m.lines, m.dense, scan, 1,
                              find_hardening(m.lines, scan, 1, HardeningBy::moments));
}

/// Line integrals that are a sum of so much for each length of water and of bone have no bands. The rms that
/// is left of the best such sum, over the rms of it all, and the attenuation of water in it.
struct Bands {
  double left, water;
};
Bands bands(const Measured& m, const std::function<double(double, double)>& corrected) {
  Eigen::VectorXd p(m.lengths.rows());
  for (Index k = 0; k < p.size(); ++k) p[k] = corrected(m.lines[k], m.dense[k]);
  const Eigen::VectorXd of_length =
      (m.lengths.transpose() * m.lengths).ldlt().solve(m.lengths.transpose() * p);
  return {(p - m.lengths * of_length).norm() / p.norm(), of_length[0]};
}
Bands bands(const Measured& m, const SecondMaterial& found) {
  const pipeline::HardeningPolynomial curve(found.polynomial, found.straight_from);
  return bands(m, [&](double q, double s) { return found.denser(curve(q), s); });
}
Bands bands(const Measured& m, const Hardening& found) {
  const pipeline::HardeningPolynomial curve(found.polynomial, found.straight_from);
  return bands(m, [&](double q, double) { return curve(q); });
}

TEST(SecondMaterial, TakesBandsOutInEveryBeam) {
  for (const Scan& scan : {Scan(fan()), Scan(parallel())})
    for (const double kv : {80.0, 140.0})
      for (const double photons : {0.0, 40000.0}) {
        const Beam beam = tube(kv);
        const Measured m = measured(with_bones(), scan, beam, photons);
        const Hardening one = find_hardening(m.lines, scan, 1, HardeningBy::moments);
        const SecondMaterial found = found_in(m, scan);
        const std::string where = std::string(kind_of(scan)) + ' ' + std::to_string(kv) + " kV";
        ASSERT_TRUE(found.is_told()) << where << ": " << found.why_not << ' ' << found.before << ' '
                                     << found.one << ' ' << found.two << ' ' << found.noise;
        EXPECT_LT(found.two, 0.5 * found.one) << where;
        EXPECT_GT(found.denser.d1 + found.denser.d2, 0) << where;
        EXPECT_LT(found.largest_share, 0.4) << where;
        const Bands with_two = bands(m, found);
        EXPECT_NEAR(with_two.water / thin(beam, &Energy::water), 1, 0.012) << where << ' ' << found.b;
        if (photons > 0) continue;
        EXPECT_LT(with_two.left, 0.45 * bands(m, one).left) << where;
      }
}

TEST(SecondMaterial, IsNotSeenInOneEnergyOrInOneMaterial) {
  for (const Scan& scan : {Scan(fan()), Scan(parallel())})
    for (const double photons : {0.0, 40000.0, 2000.0}) {
      const SecondMaterial one = found_in(measured(with_bones(), scan, one_energy, photons), scan);
      EXPECT_FALSE(one.is_told()) << one.before << ' ' << one.two << ' ' << one.noise;
      // a rod of denser water: one curve is right for all of it
      Measured dense_water = measured(with_bones(), scan, one_energy);
      const Beam beam = tube(120);
      for (Index k = 0; k < std::ssize(dense_water.lines); ++k) {
        double through = 0;
        for (const Energy& energy : beam)
          through += energy.share *
                     std::exp(-energy.water * (dense_water.lengths(k, 0) + 1.9 * dense_water.lengths(k, 1)));
        dense_water.lines[k] = static_cast<float>(-std::log(through));
      }
      EXPECT_FALSE(found_in(dense_water, scan).is_told());
    }
}

TEST(SecondMaterial, IsNotTakenForScatterOrForASampleThatMoved) {
  const Scan scan = fan();
  for (const Beam& beam : {one_energy, tube(120)}) {
    const SecondMaterial scatter = found_in(measured(with_bones(), scan, beam, 40000, 0.02), scan);
    EXPECT_FALSE(scatter.is_told()) << scatter.one << ' ' << scatter.two << ' ' << scatter.noise;
    Measured moved = measured(with_bones(), scan, beam, 40000);
    Body later = with_bones();
    for (Phantom* part : {&later.water, &later.bone})
      for (Ellipsoid& e : part->ellipsoids) e.centre[0] += 3;
    const std::vector<float> lines = measured(later, scan, beam, 40000).lines;
    std::copy(lines.begin() + views / 3 * bins, lines.end(), moved.lines.begin() + views / 3 * bins);
    const SecondMaterial found = found_in(moved, scan);
    EXPECT_FALSE(found.is_told()) << found.one << ' ' << found.two << ' ' << found.noise;
  }
}

TEST(SecondMaterial, IsFoundInABeamThatDrifts) {
  const Scan scan = fan();
  Measured m = measured(with_bones(), scan, tube(120), 40000);
  const SecondMaterial steady = found_in(m, scan);
  for (Index k = 0; k < std::ssize(m.lines); ++k)
    m.lines[k] += static_cast<float>(0.02 * k / std::ssize(m.lines));
  const SecondMaterial found = found_in(m, scan);
  EXPECT_TRUE(found.is_told()) << found.why_not;
  EXPECT_TRUE(found.drifts);
  EXPECT_FALSE(steady.drifts);
  EXPECT_NEAR(found.b, steady.b, 0.02);
}

TEST(SecondMaterial, SaysWhyNot) {
  const Scan scan = fan();
  Measured m = measured(with_bones(), scan, tube(120));
  const Hardening one = find_hardening(m.lines, scan, 1, HardeningBy::moments);
  EXPECT_EQ(find_second_material(m.lines, std::vector<float>(m.lines.size()), scan, 1, one).why_not,
            "nothing is dense in these rows");
  EXPECT_FALSE(find_second_material(m.lines, m.dense, scan, 1, {}).is_told());
  Hardening cut_off;
  cut_off.why_not = "rows do not come down to air at their ends";
  EXPECT_EQ(find_second_material(m.lines, m.dense, scan, 1, cut_off).why_not, cut_off.why_not);
}

/// Numbers are those that scans of an outside simulator gave: bones in water, and what each limit is against.
TEST(SecondMaterial, IsToldWithinItsLimitsAlone) {
  SecondMaterial bones;
  bones.b = 0.893, bones.before = 2.73, bones.one = 0.466, bones.two = 0.079, bones.noise = 0.085;
  bones.largest_share = 0.13;
  const auto against = [&](const auto& change) {
    SecondMaterial found = bones;
    change(found);
    return std::string(calibration::what_speaks_against(found, 4.4));
  };
  using Found = SecondMaterial;
  EXPECT_EQ(against([](Found&) {}), "");
  EXPECT_EQ(against([](Found& f) { f.noise = 0.026; }), "");  // ten times the photons
  EXPECT_EQ(against([](Found& f) { f.before = 6.05, f.one = 1.8, f.two = 0.3; }), "");     // dense bones
  EXPECT_NE(against([](Found& f) { f.before = 0.18, f.one = 0.16, f.two = 0.062; }), "");  // tubes of PVC
  EXPECT_NE(against([](Found& f) { f.before = 0.14, f.noise = 0.02; }), "");
  EXPECT_NE(against([](Found& f) { f.one = 0.11; }), "");                                 // a small bone
  EXPECT_NE(against([](Found& f) { f.before = 1.11, f.one = 0.95, f.two = 0.46; }), "");  // scatter
  EXPECT_NE(against([](Found& f) { f.largest_share = 6.1; }), "");  // beside mended metal
  EXPECT_NE(against([](Found& f) { f.b = 0.4; }), "");              // between hips of metal
  EXPECT_NE(against([](Found& f) { f.b = 1; }), "");                // bones in a round body
}

TEST(SecondMaterial, DoesNotDependOnTheUnitOfWhatIsDense) {
  const Scan scan = fan();
  Measured m = measured(with_bones(), scan, tube(120));
  const SecondMaterial found = found_in(m, scan);
  for (float& s : m.dense) s *= 4;
  const SecondMaterial other = found_in(m, scan);
  EXPECT_NEAR(other.b, found.b, 1e-6);
  EXPECT_NEAR(other.denser.d1, found.denser.d1 / 4, 1e-5);
  EXPECT_NEAR(other.denser.d2, found.denser.d2 / 16, 1e-5);
}

TEST(ViewMoments, OfDensePartsAreThoseOfTheirLineIntegrals) {
  for (const Scan& scan : {Scan(fan()), Scan(parallel())}) {
    Measured m = measured(with_bones(), scan, one_energy);
    const auto dense = calibration::whole_turn_of(m.dense, scan, 1);
    const calibration::ViewMoments moments(*calibration::whole_turn_of(m.lines, scan, 1),
                                           calibration::LinesOf::cells, &*dense);
    std::vector<double> c(calibration::ViewMoments::with_dense);
    c[0] = 0.9, c[1] = 0.02, c[7] = 0.03, c[8] = -0.002, c[14] = 0.04;
    for (std::size_t k = 0; k < m.lines.size(); ++k) {
      const double q = m.lines[k], s = m.dense[k];
      m.lines[k] = static_cast<float>(q * (0.9 + 0.02 * q) + q * (0.03 - 0.002 * q) * s + 0.04 * s * s);
    }
    const calibration::ViewMoments after(*calibration::whole_turn_of(m.lines, scan, 1));
    EXPECT_NEAR(moments.misfit(c) / after.misfit(std::vector<double>{1}), 1, 0.01) << kind_of(scan);
    EXPECT_NEAR(moments.mass(c) / after.mass(std::vector<double>{1}), 1, 1e-3) << kind_of(scan);
  }
}

/// The least one of a convex function over d1, d2 >= 0: slopes are 0, or lead out of the quadrant.
RC_GTEST_PROP(LeastSquaresFromZero, HasNoSlopeThatLeadsInside, ()) {
  const Index n = *rc::gen::inRange<Index>(1, 9);
  std::srand(*rc::gen::arbitrary<unsigned>());
  const Eigen::VectorXd a = Eigen::VectorXd::Random(n), u = Eigen::VectorXd::Random(n);
  const Eigen::VectorXd v = *rc::gen::arbitrary<bool>() ? Eigen::VectorXd(2 * u) : Eigen::VectorXd::Random(n);
  const DenserMaterial found = calibration::least_squares_from_zero(a, u, v);
  const Eigen::VectorXd left = a + found.d1 * u + found.d2 * v;
  const auto holds = [&](double d, const Eigen::VectorXd& by) {
    const double slope = left.dot(by), none = 1e-9 * (1 + by.squaredNorm());
    return d >= 0 && slope >= -none && (d == 0 || std::abs(slope) <= none);
  };
  RC_ASSERT(holds(found.d1, u) && holds(found.d2, v));
}

}  // namespace
}  // namespace tandem::test
