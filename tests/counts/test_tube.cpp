// Beams of tubes: the tables against numbers of others, and the polynomials that are fitted to them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../counts/hardening_polynomial.hpp"
#include "../../counts/steps/simulated_beam.hpp"
#include "../../counts/steps/step.hpp"
#include "../../counts/steps/tube_tables.hpp"

namespace tandem::pipeline {
namespace {

using Beam = std::vector<std::array<double, 2>>;  // keV and share

/// NIST, Tables of X-Ray Mass Attenuation Coefficients, at their energies; the last ones, between them, are
/// sums over elements of the finer tables of xraydb.
TEST(TubeTables, AttenuateAsThoseOfNist) {
  struct Known {
    const char* material;
    double kev, attenuation;
  };
  for (const auto& [material, kev, attenuation] : {Known{"water", 10, 5.329},
                                                   {"water", 60, 0.2059},
                                                   {"water", 300, 0.1186},
                                                   {"aluminium", 60, 0.2778},
                                                   {"aluminium", 15, 7.955},
                                                   {"iron", 100, 0.3717},
                                                   {"iron", 20, 25.68},
                                                   {"copper", 80, 0.7630},
                                                   {"titanium", 30, 4.972},
                                                   {"pmma", 60, 0.1924},
                                                   {"polyethylene", 100, 0.1719},
                                                   {"bone", 60, 0.3148},
                                                   {"carbon", 50, 0.1871}})
    EXPECT_NEAR(mass_attenuation(material, kev) / attenuation, 1, 1e-3) << material << ' ' << kev;
  for (const auto& [material, kev, attenuation] : {Known{"water", 12, 3.1265},
                                                   {"water", 25, 0.50824},
                                                   {"aluminium", 45, 0.44656},
                                                   {"iron", 70, 0.81637},
                                                   {"copper", 125, 0.29690},
                                                   {"pmma", 35, 0.26025}})
    EXPECT_NEAR(mass_attenuation(material, kev) / attenuation, 1, 5e-3) << material << ' ' << kev;
}

Beam filtered(double kv, double al_mm, double cu_mm = 0) {
  Beam beam = spectrum_of_tube(kv);
  for (auto& [kev, share] : beam)
    share *= std::exp(-0.2699 * al_mm * mass_attenuation("aluminium", kev) -
                      0.896 * cu_mm * mass_attenuation("copper", kev));
  return beam;
}

/// Energy that air absorbs of a beam's energy, cm^2/g (NIST), between its energies by straight lines of
/// logarithms.
double absorbed_by_air(double kev) {
  constexpr double known[12][2] = {{10, 4.742},   {15, 1.334},   {20, .5389},   {30, .1537},
                                   {40, .06833},  {50, .04098},  {60, .03041},  {80, .02407},
                                   {100, .02325}, {150, .02496}, {200, .02672}, {300, .02872}};
  int at = 0;
  while (at < 10 && known[at + 1][0] < kev) ++at;
  const double part = std::log(kev / known[at][0]) / std::log(known[at + 1][0] / known[at][0]);
  return known[at][1] * std::pow(known[at + 1][1] / known[at][1], part);
}

/// How much of a metal halves the kerma in air, mm.
double half_value_layer(const Beam& beam, const std::string& metal, double density) {
  const auto kerma = [&](double mm) {
    double sum = 0;
    for (const auto& [kev, share] : beam)
      sum += share * absorbed_by_air(kev) * std::exp(-0.1 * mm * density * mass_attenuation(metal, kev));
    return sum;
  };
  double low = 0, high = 50;
  while (high - low > 1e-4) (2 * kerma((low + high) / 2) > kerma(0) ? low : high) = (low + high) / 2;
  return low;
}

double mean_kev(const Beam& beam) {
  double energy = 0, photons = 0;
  for (const auto& [kev, share] : beam) energy += share, photons += share / kev;
  return energy / photons;
}

/// Numbers of spekpy 2.5.4 itself, with its own attenuations.
TEST(TubeTables, HaveTheHalfValueLayersOfSpekpy) {
  EXPECT_NEAR(half_value_layer(filtered(80, 2.5), "aluminium", 2.699) / 2.734, 1, 0.02);
  EXPECT_NEAR(half_value_layer(filtered(120, 2.5), "aluminium", 2.699) / 4.219, 1, 0.02);
  EXPECT_NEAR(half_value_layer(filtered(200, 0, 1), "copper", 8.96) / 1.528, 1, 0.02);
  EXPECT_NEAR(mean_kev(filtered(80, 2.5)) / 42.90, 1, 0.01);
  EXPECT_NEAR(mean_kev(filtered(120, 2.5)) / 54.44, 1, 0.01);
  EXPECT_NEAR(mean_kev(filtered(200, 0, 1)) / 98.13, 1, 0.01);
}

StepValues tube(double kv, double al, double cu = 0, const std::string& material = "water") {
  return {{"beam-hardening", "tube"},
          {"tube:kv", kv},
          {"tube:al", al},
          {"tube:cu", cu},
          {"tube:material", material}};
}

HardeningPolynomial fitted(const StepValues& values) {
  const StepValues found = preprocessing_of(values, {0, 1}, 0).values;
  return HardeningPolynomial(option::beam_hardening.of(found).value(),
                             option::straight_from.of(found).value());
}

/// Between the voltages of the tables: line integrals 1, 3 and 6 over what a thin layer tells. The
/// spectra are spekpy's at these voltages, and the attenuations xraydb's, from 5 keV on.
TEST(BeamHardening, FollowsTubesBetweenTheTables) {
  struct Known {
    double kv, al, cu;
    const char* material;
    double ratios[3];
  };
  for (const auto& [kv, al, cu, material, ratios] : {Known{45, 1, 0, "water", {1.1567, 1.3346, 1.4807}},
                                                     {45, 1, 0, "iron", {1.4017, 2.0264, 2.6377}},
                                                     {75, 2, 0, "water", {1.0766, 1.1632, 1.2344}},
                                                     {75, 2, 0, "aluminium", {1.3665, 1.7931, 2.1304}},
                                                     {110, 3, 0, "water", {1.0414, 1.0901, 1.1327}},
                                                     {110, 3, 0, "iron", {1.7326, 2.7571, 3.8009}},
                                                     {225, 3, 1, "aluminium", {1.0417, 1.1018, 1.1574}},
                                                     {225, 3, 1, "iron", {1.3746, 1.7938, 2.0935}},
                                                     {285, 0, 2, "water", {1.0072, 1.0206, 1.0386}},
                                                     {285, 0, 2, "iron", {1.2437, 1.4689, 1.6415}}}) {
    const HardeningPolynomial polynomial = fitted(tube(kv, al, cu, material));
    for (int k = 0; k < 3; ++k) {
      const double q = std::array{1, 3, 6}[k];
      EXPECT_NEAR(polynomial(q) / q / ratios[k], 1, 0.01) << kv << " kV, " << material << ", " << q;
    }
  }
}

/// A slab's line integral and that of the attenuation of a thin layer, from the tables.
std::array<double, 2> lines_of_slab(const Beam& beam, const std::string& material, double length) {
  double all = 0, left = 0, thin = 0;
  for (const auto& [kev, share] : beam) {
    const double attenuation = mass_attenuation(material, kev);
    all += share, thin += share * attenuation, left += share * std::exp(-attenuation * length);
  }
  return {-std::log(left / all), thin / all * length};
}

TEST(BeamHardening, StraightensSlabsInTheBeamOfATube) {
  double worst = 0;
  for (const auto& [kv, al, cu, material] : {std::tuple{30.0, 0.5, 0.0, "polyethylene"},
                                             {60.0, 1.0, 0.0, "pmma"},
                                             {80.0, 2.5, 0.0, "water"},
                                             {80.0, 3.0, 0.0, "bone"},
                                             {120.0, 3.0, 0.0, "water"},
                                             {120.0, 3.0, 0.0, "aluminium"},
                                             {120.0, 1.0, 0.0, "iron"},
                                             {140.0, 0.0, 0.5, "calcite"},
                                             {225.0, 0.0, 1.0, "aluminium"},
                                             {225.0, 0.0, 2.0, "titanium"},
                                             {300.0, 0.0, 3.0, "copper"}}) {
    const Beam beam = filtered(kv, al, cu);
    const HardeningPolynomial polynomial = fitted(tube(kv, al, cu, material));
    EXPECT_EQ(polynomial.coefficients().front(), 1);
    EXPECT_EQ(polynomial.rises_to(), HardeningPolynomial::highest);
    double length = 1e-3 / lines_of_slab(beam, material, 1)[1];
    for (; lines_of_slab(beam, material, length)[0] < 6; length *= 1.07) {
      const auto [q, p] = lines_of_slab(beam, material, length);
      worst = std::max(worst, std::abs(polynomial(q) / p - 1));
      EXPECT_NEAR(polynomial(q) / p, 1, 1e-3) << kv << " kV, " << material << ", " << q;
    }
    while (lines_of_slab(beam, material, length)[0] < 8) length *= 1.01;  // the curve goes on straight
    const auto [q, p] = lines_of_slab(beam, material, length);
    EXPECT_NEAR(polynomial(q) / p, 1, 0.02) << kv << " kV, " << material << ", " << q;
  }
  std::cout << "slabs differ by " << 100 * worst << " % at most\n";
}

TEST(BeamHardening, RefusesTubesThatTheTablesLack) {
  const auto refused = [](const StepValues& values) {
    try {
      preprocessing_of(values, {0, 1}, 0);
    } catch (const GeometryError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto without = [](const char* name) {
    StepValues values = tube(120, 3);
    values.erase(name);
    return values;
  };
  StepValues unfiltered = without("tube:al");
  unfiltered.erase("tube:cu");
  for (const auto& [values, said] :
       {std::pair{tube(29.9, 3), "kv=29.9: the tables have tubes from 30 to 300 kV; give spectrum:file=FILE"},
        {tube(301, 3), "kv=301"},
        {tube(std::nan(""), 3), "kv=nan"},
        {tube(120, -1), "al=-1 is no number from 0 to 50 mm"},
        {tube(120, 51), "al=51"},
        {tube(120, 0, 21), "cu=21 is no number from 0 to 20 mm"},
        {tube(120, std::nan("")), "al=nan"},
        {tube(120, 3, 0, "wood"), "material=wood is not known; the tables have water, pmma"},
        {without("tube:kv"), "give kv=KV, as in tube:kv=120,al=3"},
        {StepValues{{"beam-hardening", "tube"}}, "give kv=KV"},
        {unfiltered, "al=0 if the beam has none"}})
    EXPECT_NE(refused(values).find(said), std::string::npos) << refused(values) << ", and not " << said;
  for (const auto& ends : {tube(30, 0), tube(300, 50, 20), tube(30, 50, 20), tube(30, 50, 20, "copper"),
                           without("tube:cu"), without("tube:al"), without("tube:material")})
    EXPECT_EQ(refused(ends), "accepted");
}

/// Attenuations over the mean are those of the tables, and their means are 1.
TEST(SimulatedBeam, HasTwoMaterials) {
  StepValues values{{"spectrum", "tube"}, {"tube:kv", 120.0}, {"tube:al", 3.0}};
  EXPECT_FALSE(simulated_dense_above(values));
  values["tube:dense"] = "bone";
  EXPECT_EQ(simulated_dense_above(values), 0.5);
  values["tube:above"] = 1.2;
  EXPECT_EQ(simulated_dense_above(values), 1.2);
  const auto beam = simulated_beam(values);
  const Beam tube = filtered(120, 3);
  ASSERT_EQ(beam.size(), tube.size());
  double shares = 0, main = 0, dense = 0;
  for (std::size_t k = 0; k < beam.size(); ++k) {
    shares += beam[k][0], main += beam[k][0] * beam[k][1], dense += beam[k][0] * beam[k][2];
    const double kev = tube[k][0];
    EXPECT_NEAR(beam[k][1] / beam[0][1],
                mass_attenuation("water", kev) / mass_attenuation("water", tube[0][0]), 1e-9);
    EXPECT_NEAR(beam[k][2] / beam[0][2], mass_attenuation("bone", kev) / mass_attenuation("bone", tube[0][0]),
                1e-9);
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_NEAR(main, 1, 1e-12);
  EXPECT_NEAR(dense, 1, 1e-12);
}

}  // namespace
}  // namespace tandem::pipeline
