#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using io::FrameKind;
using io::PixelType;

Simulation small_scan() {
  Simulation s;
  detector_of(s.scan) = {.bins = 37, .rows = 5, .bin_pitch = 0.2, .row_pitch = 0.2, .axis_bin = 16.7};
  for (int i = 0; i < 11; ++i) angles_of(s.scan).push_back(std::numbers::pi * i / 11);
  s.grid = fitting_grid(s.scan);
  s.phantom = "foam";
  s.seed = 5;
  return s;
}

template <class T>
std::vector<double> values(const io::Frames& frames) {
  std::vector<T> raw(frames.bytes.size() / sizeof(T));
  std::memcpy(raw.data(), frames.bytes.data(), frames.bytes.size());
  return {raw.begin(), raw.end()};
}

TEST(Simulate, BeamsAreSumsOverTheirEnergies) {
  Simulation wide = small_scan();
  wide.beam = {{0.25, 1.9, 0}, {0.75, 0.7, 0}};
  const std::vector<double> one = values<float>(
                                SimulatedScan(small_scan()).frames(FrameKind::projection, {0, 5})),
                            all = values<float>(SimulatedScan(wide).frames(FrameKind::projection, {0, 5}));
  ASSERT_EQ(one.size(), all.size());
  for (std::size_t k = 0; k < one.size(); ++k)  // T = exp(-y)
    EXPECT_NEAR(all[k], 0.25 * std::pow(one[k], 1.9) + 0.75 * std::pow(one[k], 0.7), 1e-6);
}

/// The skull of shepp-logan lies between its first two ellipses, and all others lie within the second one.
TEST(Simulate, BeamsPassTwoMaterialsByTheLengthsInEach) {
  Simulation s = small_scan();
  s.phantom = "shepp-logan", s.max_attenuation = 4, s.dense_above = 0.5;
  s.beam = {{0.3, 1.6, 2.4}, {0.7, 0.742857, 0.4}};
  const SimulatedScan scan(s);
  const std::vector<double> all = values<float>(scan.frames(FrameKind::projection, {1, 3}));
  const std::vector<Ellipsoid>& parts = scan.phantom().ellipsoids;
  const double skull = parts[0].attenuation;
  const auto chord = [](Ellipsoid part, double angle, double u) {
    part.attenuation = 1;
    return line_integral(Phantom{{part}}, angle, u, 0);
  };
  const Detector& d = detector_of(s.scan);
  double most = 0;
  for (Index view = 0; view < views_of(s.scan); ++view)
    for (Index bin = 0; bin < d.bins; ++bin) {
      const double angle = angles_of(s.scan)[view], u = (bin - d.axis_bin) * d.bin_pitch;
      const double dense = skull * (chord(parts[0], angle, u) - chord(parts[1], angle, u));
      const double main = line_integral(scan.phantom(), angle, u, 0) - dense;
      double sum = 0;
      for (const auto& [share, by_main, by_dense] : s.beam)
        sum += share * std::exp(-by_main * main - by_dense * dense);
      EXPECT_NEAR(all[(2 * view + 1) * d.bins + bin], sum, 2e-6) << view << ' ' << bin;
      most = std::max(most, std::min(main, dense));
    }
  EXPECT_GT(most, 0.5);  // rays meet both
}

TEST(Simulate, RefusesTwoMaterialsWhereThereIsOne) {
  Simulation s = small_scan();
  s.beam = {{1, 1, 1}};
  const auto said = [&](const char* phantom, double above) {
    s.phantom = phantom, s.dense_above = above;
    try {
      const SimulatedScan scan(s);
    } catch (const GeometryError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(said("shepp-logan", 0.5), "accepted");
  EXPECT_NE(said("shepp-logan", 1.5).find("nothing that rays meet of the phantom 'shepp-logan' is denser"),
            std::string::npos);
  EXPECT_NE(said("foam", 0.5).find("all that rays meet of the phantom 'foam' is denser than above=0.5"),
            std::string::npos);
  EXPECT_NE(said("foam", 0).find("positive"), std::string::npos);
}

/// Against the sums, in beams of one and of two materials, with an energy that is nearly absorbed at once.
TEST(BeamTable, HasTheSumsOverEnergies) {
  const BeamTable::Beam beam{{0.05, 6, 9}, {0.15, 1.9, 2.1}, {0.5, 0.7, 0.33}, {0.3, 0.21667, 0.2}};
  Random random(3);
  for (const double dense_most : {0.0, 4.0}) {
    const BeamTable table(beam, 9, dense_most);
    for (int k = 0; k < 20000; ++k) {
      const double share = random.uniform(), y = 9.2 * share * share;  // a few beyond the table
      const double dense = 1.1 * dense_most * random.uniform() * random.uniform();
      double sum = 0;
      for (const auto& [part, by_main, by_dense] : beam)
        sum += part * std::exp(-by_main * y - by_dense * dense);
      ASSERT_NEAR(table.transmission(y, dense) / sum, 1, 1e-6) << y << ' ' << dense;
    }
  }
}

class PoissonMean : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Means, PoissonMean, testing::Values(0.01, 0.7, 3, 9.99, 10.01, 17, 140, 9000, 3e6));

TEST_P(PoissonMean, IsMeanAndVariance) {
  const double mean = GetParam();
  constexpr int n = 40000;
  Random random(11);
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double d = static_cast<double>(poisson(mean, random)) - mean;
    sum += d, squares += d * d;
  }
  EXPECT_NEAR(sum / n, 0, tolerance::deviations * std::sqrt(mean / n));
  // the fourth central moment is mean + 3 mean^2
  EXPECT_NEAR(squares / n, mean, tolerance::deviations * std::sqrt((mean + 2 * mean * mean) / n));
}

class SmallPoissonMean : public PoissonMean {};
INSTANTIATE_TEST_SUITE_P(Means, SmallPoissonMean, testing::Values(0.01, 0.7, 3, 9.99, 10.01, 17, 140));

TEST_P(SmallPoissonMean, SharesAreThoseOfPoisson) {
  const double mean = GetParam();
  constexpr int n = 40000;
  std::vector<double> seen(400);
  Random random(12);
  for (int i = 0; i < n; ++i) ++seen[std::min<std::uint64_t>(poisson(mean, random), 399)];
  double statistic = 0, freedom = -1, rest = n, rest_seen = n;
  for (int k = 0; k < 399; ++k) {
    const double expected = n * std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
    if (expected < 10) continue;  // the rare counts go into one class below
    statistic += (seen[static_cast<std::size_t>(k)] - expected) *
                 (seen[static_cast<std::size_t>(k)] - expected) / expected;
    rest -= expected, rest_seen -= seen[static_cast<std::size_t>(k)];
    ++freedom;
  }
  if (rest > 5) statistic += (rest_seen - rest) * (rest_seen - rest) / rest, ++freedom;
  EXPECT_LE(statistic, freedom + tolerance::deviations * std::sqrt(2 * std::max(freedom, 1.0)));
}

TEST(Poisson, OfNothingIsNothing) {
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(poisson(0, random), 0u);
}

TEST(Simulation, WithoutNoiseIsExactTransmission) {
  const Simulation s = small_scan();
  const SimulatedScan scan(s);
  ASSERT_EQ(scan.type(), PixelType::float32);
  const std::vector<double> t = values<float>(scan.frames(FrameKind::projection, {0, 5}));
  std::size_t at = 0;
  for (double angle : angles_of(s.scan))
    for (Index row = 0; row < 5; ++row)
      for (int bin = 0; bin < 37; ++bin)
        EXPECT_NEAR(t[at++],
                    std::exp(-line_integral(scan.phantom(), angle, (bin - 16.7) * 0.2,
                                            row_height(std::get<ParallelBeam>(s.scan), row))),
                    4 * tolerance::float_rounding);
  EXPECT_NEAR(*std::min_element(t.begin(), t.end()), std::exp(-3.0), 4 * tolerance::float_rounding);
  for (double flat : values<float>(scan.frames(FrameKind::flat, {1, 3}))) EXPECT_EQ(flat, 1);
  for (double dark : values<float>(scan.frames(FrameKind::dark, {1, 3}))) EXPECT_EQ(dark, 0);
}

TEST(Simulation, OfAConeBeamIsExactTransmission) {
  for (const char* phantom : {"shepp-logan", "ellipsoids", "disc"}) {
    Simulation s;
    s.phantom = phantom;
    const ConeBeam cone{{23, 9, 0.5, 0.5, 11.7}, {0.3, 2, 4}, 40, 70, 3.6};
    s.scan = cone;
    s.grid = fitting_grid(cone);
    const SimulatedScan scan(s);
    const std::vector<double> t = values<float>(scan.frames(FrameKind::projection, {2, 7}));
    std::size_t at = 0;
    for (const double a : cone.angles)
      for (Index row = 2; row < 7; ++row)
        for (int bin = 0; bin < 23; ++bin) {
          const double u = (bin - 11.7) * 0.5, v = (static_cast<double>(row) - 3.6) * 0.5;
          const std::array source{40 * std::sin(a), -40 * std::cos(a), 0.0};
          const std::array cell{-30 * std::sin(a) + u * std::cos(a), 30 * std::cos(a) + u * std::sin(a), v};
          EXPECT_NEAR(t[at++], std::exp(-line_integral(scan.phantom(), source, cell)),
                      4 * tolerance::float_rounding);
        }
    const std::vector<double> all = values<float>(scan.frames(FrameKind::projection, {0, 9}));
    EXPECT_NEAR(*std::min_element(all.begin(), all.end()), std::exp(-3.0), 4 * tolerance::float_rounding);
  }
}

TEST(Simulation, OfSheppLoganForAConeBeamEndsAlongZ) {
  Simulation s;
  s.scan = ConeBeam{{23, 9, 0.5, 0.5, 11}, {0.3}, 40, 70, 4};
  s.grid = fitting_grid(s.scan);
  const SimulatedScan scan(s);
  for (const Ellipsoid& e : scan.phantom().ellipsoids) EXPECT_EQ(e.semi_axes[2], e.semi_axes[1]);
}

TEST(Simulation, DoesNotDependOnRowRangesOrThreads) {
  Simulation s = small_scan();
  s.photons = 500, s.rings_percent = 2;
  const SimulatedScan scan(s);
  for (FrameKind kind : {FrameKind::projection, FrameKind::flat, FrameKind::dark}) {
    const io::Frames whole = scan.frames(kind, {0, 5});
    const std::vector<double> all = values<std::uint16_t>(whole);
    const ThreadLimit limit(1);
    EXPECT_EQ(all, values<std::uint16_t>(SimulatedScan(s).frames(kind, {0, 5})));
    const io::Frames part = scan.frames(kind, {3, 5});
    EXPECT_EQ(part.shape, (Shape{whole.shape[0], 2, 37}));
    const std::vector<double> rows = values<std::uint16_t>(part);
    for (std::size_t f = 0; f < static_cast<std::size_t>(whole.shape[0]); ++f)
      for (std::size_t i = 0; i < 74; ++i) ASSERT_EQ(rows[f * 74 + i], all[(f * 5 + 3) * 37 + i]);
  }
}

TEST(Simulation, SeedsDiffer) {
  Simulation s = small_scan();
  s.phantom = "disc", s.photons = 500;
  const auto first = values<std::uint16_t>(SimulatedScan(s).frames(FrameKind::projection, {0, 1}));
  s.seed = 6;
  EXPECT_NE(first, values<std::uint16_t>(SimulatedScan(s).frames(FrameKind::projection, {0, 1})));
}

TEST(Simulation, FlatsAndProjectionsHavePoissonNoise) {
  Simulation s = small_scan();
  angles_of(s.scan).assign(400, 0.3);  // one view over and over: its spread is the noise
  s.flats = 400, s.photons = 2000;
  const SimulatedScan scan(s);
  const std::vector<double> dark = values<std::uint16_t>(scan.frames(FrameKind::dark, {2, 3}));
  for (FrameKind kind : {FrameKind::flat, FrameKind::projection}) {
    const std::vector<double> counts = values<std::uint16_t>(scan.frames(kind, {2, 3}));
    double ratio = 0;
    for (std::size_t bin = 0; bin < 37; ++bin) {
      double sum = 0, squares = 0;
      for (std::size_t f = 0; f < 400; ++f) {
        const double c = counts[f * 37 + bin] - dark[bin];
        sum += c, squares += c * c;
      }
      ratio += (squares - sum * sum / 400) / 399 / (sum / 400) / 37;  // variance over mean
    }
    // each ratio has variance 2/399; the mean count of at least 50 adds below 2 %
    EXPECT_NEAR(ratio, 1, tolerance::deviations * std::sqrt(2.05 / (399 * 37)));
  }
}

TEST(Simulation, RingsAreFixedForACellAndUnseenByFlats) {
  Simulation s = small_scan();
  detector_of(s.scan).bins = 2000, detector_of(s.scan).axis_bin = 999.2;
  s.grid = fitting_grid(s.scan);
  const SimulatedScan clean(s);
  s.rings_percent = 3;
  const SimulatedScan ringed(s);
  const auto a = values<float>(clean.frames(FrameKind::projection, {0, 1}));
  const auto b = values<float>(ringed.frames(FrameKind::projection, {0, 1}));
  double squares = 0;
  for (std::size_t bin = 0; bin < 2000; ++bin) {
    const double error = b[bin] / a[bin] - 1;
    squares += error * error;
    EXPECT_NEAR(b[10 * 2000 + bin] / a[10 * 2000 + bin] - 1, error, 4 * tolerance::float_rounding);
  }
  // squares of a uniform deviate have the relative variance 4/5
  EXPECT_NEAR(squares / 2000, 9e-4, tolerance::deviations * 9e-4 * std::sqrt(0.8 / 2000));
  for (double flat : values<float>(ringed.frames(FrameKind::flat, {0, 1}))) EXPECT_EQ(flat, 1);
}

TEST(Simulation, CountsFitTheirType) {
  Simulation s = small_scan();
  s.photons = 60000;
  const SimulatedScan most16(s);
  ASSERT_EQ(most16.type(), PixelType::uint16);
  const auto counts = values<std::uint16_t>(most16.frames(FrameKind::flat, {0, 5}));
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 65535);
  s.photons = 1e6;
  const SimulatedScan more(s);
  ASSERT_EQ(more.type(), PixelType::uint32);
  const auto large = values<std::uint32_t>(more.frames(FrameKind::flat, {0, 5}));
  EXPECT_GT(*std::min_element(large.begin(), large.end()), 9e5);
}

TEST(Simulation, CountsThatRingsRaiseFitTheirType) {
  Simulation s = small_scan();
  s.photons = 60000, s.rings_percent = 20;
  const SimulatedScan ringed(s);
  ASSERT_EQ(ringed.type(), PixelType::uint32);
  const auto counts = values<std::uint32_t>(ringed.frames(FrameKind::projection, {0, 5}));
  EXPECT_GT(*std::max_element(counts.begin(), counts.end()), 65535);
  s.photons = 59999 / (1 + 0.2 * std::numbers::sqrt3);
  ASSERT_EQ(SimulatedScan(s).type(), PixelType::uint16);
  const auto small = values<std::uint16_t>(SimulatedScan(s).frames(FrameKind::projection, {0, 5}));
  EXPECT_LT(*std::max_element(small.begin(), small.end()), 65535);
  s.photons = 4e9;
  EXPECT_THROW(SimulatedScan{s}, GeometryError);
}

TEST(Simulation, TruthIsTheScaledPhantom) {
  const Simulation s = small_scan();
  const SimulatedScan scan(s);
  std::vector<float> out(37 * 37), expected(37 * 37);
  scan.truth({2, 3}, out);
  voxelise(scan.phantom(), s.grid, {2, 3}, expected);
  EXPECT_EQ(out, expected);
  EXPECT_NEAR(largest_line_integral(scan.phantom(), std::get<ParallelBeam>(s.scan)), 3,
              3 * tolerance::double_rounding);
}

TEST(Simulation, RefusesWhatCannotBeMeasured) {
  const auto refuses = [](auto change) {
    Simulation s = small_scan();
    change(s);
    EXPECT_THROW(SimulatedScan{s}, GeometryError);
  };
  refuses([](Simulation& s) { s.photons = -1; });
  refuses([](Simulation& s) { s.photons = 4.1e9; });
  refuses([](Simulation& s) { s.max_attenuation = 0; });
  refuses([](Simulation& s) { s.rings_percent = -1; });
  refuses([](Simulation& s) { s.flats = 0; });
  refuses([](Simulation& s) { s.darks = -1; });
  refuses([](Simulation& s) { s.phantom = "nothing"; });
  refuses([](Simulation& s) { s.phantom = "disc", detector_of(s.scan).axis_bin = -30; });
  EXPECT_THROW(static_cast<void>(SimulatedScan(small_scan()).frames(FrameKind::flat, {4, 6})), GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
