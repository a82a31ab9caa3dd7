// What methods do to broad, soft rings.

#include <gtest/gtest.h>

#include <iostream>

#include "../support/broad_rings.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

Plane without_rings(const Plane& sinogram, pipeline::Notes* notes = nullptr,
                    std::optional<double> axis = ring_axis) {
  return without_stripes(sinogram, "auto", {}, notes, axis);
}

/// The mean over an ellipse, less its rim of two pixels.
double mean_within(const Array& slice, const Ellipsoid& e) {
  double sum = 0, count = 0;
  const double middle = 0.5 * (ring_bins - 1), a = e.semi_axes[0] - 2, b = e.semi_axes[1] - 2;
  for (Index i = 0; i < ring_bins; ++i)
    for (Index j = 0; j < ring_bins; ++j) {
      const double x = static_cast<double>(j) - middle - e.centre[0],
                   y = static_cast<double>(i) - middle - e.centre[1], c = std::cos(e.rotation),
                   s = std::sin(e.rotation);
      if (std::pow((x * c + y * s) / a, 2) + std::pow((y * c - x * s) / b, 2) > 1) continue;
      sum += slice.data()[i * ring_bins + j], ++count;
    }
  return sum / count;
}

/// The grains that are wide enough for a mean.
std::vector<Ellipsoid> grains_of(const BroadRings& scan) {
  std::vector<Ellipsoid> grains;
  for (const Ellipsoid& e : scan.phantom().ellipsoids)
    if (e.semi_axes[1] > 8 && e.semi_axes[0] < 100) grains.push_back(e);
  return grains;
}

/// Whether one of the rings goes through an ellipse.
bool is_crossed(const Ellipsoid& e) {
  return std::ranges::any_of(soft_stripes_of_case(), [&](const SoftStripe& s) {
    const double apart = std::hypot(e.centre[0], e.centre[1]) - std::abs(s.middle - ring_axis);
    return std::abs(apart) < e.semi_axes[0] + s.half_width + s.rise / 2;
  });
}

class BroadRingsOf : public ::testing::TestWithParam<BroadRings::Beam> {};

/// Rings of 1.7e-4 become weaker than 3.4e-5, a fifth, and grains keep their values.
TEST_P(BroadRingsOf, AreTakenOutByAutoAndFeaturesStay) {
  const BroadRings scan(GetParam());
  for (const bool turned : {false, true}) {
    if (turned && GetParam() == BroadRings::Beam::fan) continue;  // slices of a fan take long
    const Plane striped = scan.transmissions(soft_stripes_of_case(turned));
    pipeline::Notes notes;
    const Array clean = scan.slice(scan.transmissions({})), before = scan.slice(striped),
                after = scan.slice(without_rings(striped, &notes));
    EXPECT_EQ(notes["soft stripes taken out"], 1);
    const double with = radial_high_frequencies(before, ring_bins),
                 left = radial_high_frequencies(after, ring_bins);
    std::cout << "none " << with << ", auto " << left << ", no rings "
              << radial_high_frequencies(clean, ring_bins) << '\n';
    EXPECT_LT(left, tolerance::share_of_broad_rings * with);
    double most = 0;
    for (const Ellipsoid& grain : grains_of(scan))
      most = std::max(most, std::abs(mean_within(before, grain) / mean_within(clean, grain) - 1));
    for (const Ellipsoid& grain : grains_of(scan)) {
      const double due = mean_within(clean, grain);
      const double bound =
          is_crossed(grain) ? tolerance::share_of_broad_rings * most : tolerance::features_beside_rings;
      EXPECT_NEAR(mean_within(after, grain), due, bound * due)
          << is_crossed(grain) << ' ' << grain.centre[0] << ' ' << grain.centre[1];
    }
  }
}

TEST_P(BroadRingsOf, AreNotMadeWhereThereAreNone) {
  const BroadRings scan(GetParam());
  for (const double photons : {1e4, 4e4, 1e6})
    for (const std::optional<double> axis : {std::optional<double>(ring_axis), std::optional<double>()}) {
      const Plane clean = scan.transmissions({}, photons);
      pipeline::Notes notes;
      EXPECT_EQ(without_rings(clean, &notes, axis).values, clean.values) << photons;
      EXPECT_EQ(notes, (pipeline::Notes{{"no stripes found, unchanged", 1}}));
    }
}

INSTANTIATE_TEST_SUITE_P(OfBeams, BroadRingsOf,
                         ::testing::Values(BroadRings::Beam::parallel, BroadRings::Beam::fan));

/// A round body near the axis is the same in all views too, but on both sides; a ring is on one.
TEST(BroadRings, AreToldFromRoundBodiesNearTheAxis) {
  constexpr Index views = 360, bins = 512;
  constexpr double axis = 0.5 * (bins - 1) - 4;
  for (const double aside : {0.0, 2.0, 7.0, 20.0}) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    Plane plane(views, bins);
    for (Index view = 0; view < views; ++view)
      for (Index b = 0; b < bins; ++b) {
        const double angle = std::numbers::pi * static_cast<double>(view) / views;
        const auto chord = [&](double radius, double x, double y) {
          const double u = static_cast<double>(b) - axis - x * std::cos(angle) - y * std::sin(angle);
          return 2 * std::sqrt(std::max(0.0, radius * radius - u * u));
        };
        const double p = 5e-3 * chord(190, 5, 3) +
                         5e-4 * (chord(90, aside, aside) - chord(60, aside, aside)) +
                         3e-4 * chord(12, 0.5 * aside, 0);
        plane(view, b) = static_cast<float>(std::exp(-p) * (1 + 0.005 * normal(random)));
      }
    pipeline::Notes notes;
    without_stripes(plane, "auto", {}, &notes, axis);
    EXPECT_EQ(notes, (pipeline::Notes{{"no stripes found, unchanged", 1}})) << aside;
    Plane striped = plane;
    for (Index view = 0; view < views; ++view)
      for (Index b = 0; b < bins; ++b)
        striped(view, b) *=
            static_cast<float>(std::exp(-SoftStripe{axis + 130, 6, 6, 0.03}.at(static_cast<double>(b))));
    notes.clear();
    without_stripes(striped, "auto", {}, &notes, axis);
    EXPECT_EQ(notes["soft stripes taken out"], 1) << aside;
  }
}

/// The rings that each method leaves, and how far the grains are off at the most: the table of
/// docs/preprocessing.md, from this program with --gtest_also_run_disabled_tests.
TEST(BroadRings, DISABLED_RankMethods) {
  const BroadRings scan(BroadRings::Beam::parallel);
  const Plane striped = scan.transmissions(soft_stripes_of_case());
  const Array clean = scan.slice(scan.transmissions({}));
  const auto row = [&](std::string_view name, const Array& slice) {
    double off = 0;
    for (const Ellipsoid& grain : grains_of(scan))
      off = std::max(off, std::abs(mean_within(slice, grain) / mean_within(clean, grain) - 1));
    std::cout << name << ": " << radial_high_frequencies(slice, ring_bins) << ", " << 100 * off << " %\n";
  };
  row("no rings", clean);
  row("none", scan.slice(striped));
  using Values = StepValues;
  const std::vector<std::pair<std::string_view, Values>> methods{
      {"auto", {}},
      {"sf", {}},
      {"ti", {{"ti:beta", 0.1}}},
      {"ti", {}},
      {"ti", {{"ti:nblock", Index{1}}, {"ti:alpha", 1.5}}},
      {"vo-sorting", {}},
      {"vo-filtering", {}},
      {"vo-large", {}},
      {"vo-large", {{"vo-large:size", Index{61}}}},
      {"vo-all", {}},
      {"raven", {}},
      {"fw", {{"fw:filter", std::string("db5")}, {"fw:sigma", 2.0}, {"fw:level", Index{3}}}},
      {"fw", {}},
      {"fw", {{"fw:level", Index{7}}}}};
  for (const auto& [name, values] : methods)
    row(name, scan.slice(without_stripes(striped, name, values, nullptr, ring_axis)));
}

}  // namespace
}  // namespace tandem::test
