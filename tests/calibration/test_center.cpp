#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../../calibration/center.hpp"
#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/test_data.hpp"
#include "../support/tolerances.hpp"

namespace tandem::calibration {
namespace {

using pipeline::SimulatedScan, pipeline::Simulation;

constexpr double pi = std::numbers::pi;

/// Line integrals (view, row, bin) with what is needed to find their axis.
struct Sinograms {
  std::vector<float> values;
  std::vector<double> angles;
  Index rows, bins;

  AxisEstimate axis(AxisMethod method = AxisMethod::automatic) const {
    return find_axis(values, angles, rows, bins, {.method = method});
  }
};

/// Equal steps over an arc, its end left out, in the order 0, 7, 14, ... modulo their number.
std::vector<double> shuffled(Index views, double arc) {
  std::vector<double> angles;
  for (Index i = 0; i < views; ++i)
    angles.push_back(arc * static_cast<double>(i * 7 % views) / static_cast<double>(views));
  return angles;
}

struct Case {
  const char* phantom;
  Index bins;
  double axis;
  Index views;
  double arc_deg;
  AxisMethod method;
};

Simulation simulation(const Case& c) {
  Simulation s;
  s.phantom = c.phantom;
  detector_of(s.scan) = {.bins = c.bins, .axis_bin = c.axis};
  angles_of(s.scan) = shuffled(c.views, c.arc_deg * pi / 180);
  s.grid = fitting_grid(s.scan);
  return s;
}

Sinograms clean(const Case& c) {
  const Simulation s = simulation(c);
  const SimulatedScan scan(s);
  Sinograms sinograms{std::vector<float>(static_cast<std::size_t>(c.views * c.bins)), angles_of(s.scan), 1,
                      c.bins};
  project(scan.phantom(), std::get<ParallelBeam>(s.scan), {0, 1}, sinograms.values);
  return sinograms;
}

class KnownAxis : public testing::TestWithParam<Case> {};
constexpr auto opposite = AxisMethod::opposite, vo = AxisMethod::vo;
INSTANTIATE_TEST_SUITE_P(
    Scans, KnownAxis,
    testing::Values(Case{"shepp-logan", 256, 120.3, 181, 180, vo}, Case{"shepp-logan", 255, 127, 45, 180, vo},
                    Case{"shepp-logan", 256, 131.71, 16, 180, vo}, Case{"disc", 256, 97.45, 181, 180, vo},
                    Case{"foam", 256, 131.7, 90, 180, vo}, Case{"foam", 512, 249.13, 361, 180, vo},
                    Case{"ellipsoids", 128, 62.58, 60, 180, vo},
                    Case{"shepp-logan", 256, 120.3, 360, 360, opposite},
                    Case{"foam", 256, 131.7, 90, 360, opposite}, Case{"foam", 256, 40.2, 360, 360, opposite},
                    Case{"shepp-logan", 256, 131.7, 361, 360, opposite},
                    Case{"ellipsoids", 2100, 1031.4, 180, 360, opposite}),
    [](const auto& scan_case) {
      const Case& c = scan_case.param;
      std::string name = c.phantom + std::to_string(c.bins) + "Views" + std::to_string(c.views) + "Arc" +
                         std::to_string(static_cast<int>(c.arc_deg));
      std::erase(name, '-');
      return name;
    });

TEST_P(KnownAxis, IsFoundWithinATenthOfABin) {
  const AxisEstimate found = clean(GetParam()).axis();
  EXPECT_EQ(found.method, GetParam().method);
  EXPECT_NEAR(found.axis_bin, GetParam().axis, tolerance::axis_clean);
  EXPECT_GT(found.agreement, tolerance::doubtful_agreement);
}

TEST_P(KnownAxis, MovesWithTheData) {
  Sinograms sinograms = clean(GetParam());
  const double before = sinograms.axis().axis_bin;
  // the mirrored detector turns the axis over, and the order of the bins with it
  for (Index v = 0; v < GetParam().views; ++v)
    std::reverse(sinograms.values.begin() + v * sinograms.bins,
                 sinograms.values.begin() + (v + 1) * sinograms.bins);
  EXPECT_NEAR(sinograms.axis().axis_bin, static_cast<double>(sinograms.bins - 1) - before,
              tolerance::axis_clean);
}

TEST(Axis, IsFoundInNoisyCountsWithinItsUncertainty) {
  for (double arc : {180.0, 360.0}) {
    Simulation s = simulation({"shepp-logan", 256, 121.4, 360, arc, vo});
    s.photons = 1000;
    const SimulatedScan scan(s);
    const io::Frames counts = scan.frames(io::FrameKind::projection, {0, 1});
    Sinograms sinograms{{}, angles_of(s.scan), 1, 256};
    for (std::size_t i = 0; i < counts.bytes.size(); i += 2) {
      std::uint16_t count;
      std::memcpy(&count, counts.bytes.data() + i, 2);
      sinograms.values.push_back(static_cast<float>(-std::log(std::max(count - 100.0, 1.0) / 1000)));
    }
    const AxisEstimate found = sinograms.axis();
    EXPECT_NEAR(found.axis_bin, 121.4, tolerance::axis_clean + tolerance::deviations * found.uncertainty);
    EXPECT_LT(found.uncertainty, tolerance::axis_measured);
  }
}

TEST(Axis, OfSeveralRowsIsFoundTogether) {
  Simulation s = simulation({"ellipsoids", 128, 60.8, 90, 180, vo});
  detector_of(s.scan).rows = 5;
  Sinograms sinograms{std::vector<float>(90 * 5 * 128), angles_of(s.scan), 5, 128};
  project(SimulatedScan(s).phantom(), std::get<ParallelBeam>(s.scan), {0, 5}, sinograms.values);
  EXPECT_NEAR(sinograms.axis().axis_bin, 60.8, tolerance::axis_clean);
}

TEST(Axis, IsLookedForBetweenTheGivenBins) {
  for (double arc : {180.0, 360.0}) {
    const Sinograms s = clean({"foam", 256, 131.7, 90, arc, vo});
    const auto between = [&](double low, double high) {
      return find_axis(s.values, s.angles, 1, 256, {.between = {{low, high}}});
    };
    EXPECT_NEAR(between(128, 135).axis_bin, 131.7, tolerance::axis_clean);
    EXPECT_NEAR(between(0, 255).axis_bin, 131.7, tolerance::axis_clean);
    // at an end of the range is not where views agree, and beside the detector they are not seen twice
    for (const auto& [low, high] :
         {std::pair{100.0, 130.0}, {133.0, 150.0}, {-20.0, 140.0}, {120.0, 256.0}, {256.0, 400.0}})
      EXPECT_THROW(between(low, high), GeometryError) << arc << ": " << low << " to " << high;
  }
}

TEST(Axis, BesideTheDetectorIsNotFound) {
  for (const char* phantom : {"shepp-logan", "disc", "foam", "ellipsoids"})
    for (double axis : {-20.0, -10.0}) {
      Simulation s = simulation({phantom, 128, axis, 180, 360, opposite});
      s.grid = {{200, 200, 1}, {1, 1, 1}, {}};  // the body reaches to the detector
      Sinograms half{std::vector<float>(180 * 128), angles_of(s.scan), 1, 128};
      project(SimulatedScan(s).phantom(), std::get<ParallelBeam>(s.scan), {0, 1}, half.values);
      EXPECT_THROW(half.axis(), GeometryError) << phantom << axis;
      EXPECT_THROW(half.axis(opposite), GeometryError) << phantom << axis;
    }
}

/// Line integrals of counts, of as many photons as the simulation has; free of noise if it has none.
std::vector<float> measured(const Simulation& s) {
  const SimulatedScan scan(s);
  const Detector& d = detector_of(s.scan);
  std::vector<float> lines(angles_of(s.scan).size() * static_cast<std::size_t>(d.rows * d.bins));
  if (!s.photons) {
    project(scan.phantom(), std::get<ParallelBeam>(s.scan), {0, d.rows}, lines);
    return lines;
  }
  const io::Frames counts = scan.frames(io::FrameKind::projection, {0, d.rows});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint16_t count;
    std::memcpy(&count, counts.bytes.data() + 2 * i, 2);
    lines[i] = static_cast<float>(-std::log(std::max(count - 100.0, 0.5) / *s.photons));
  }
  return lines;
}

/// A scan of any kind that the methods are for. Half turns see all of the body; whole ones may see half of
/// it.
Simulation some_scan(Random& random, std::uint64_t seed) {
  const auto from = [&](double low, double high) { return low + (high - low) * random.uniform(); };
  Simulation s;
  constexpr std::uint64_t bodies = 5;  // the balls behind them leave slices empty
  s.phantom = phantom_names()[seed % bodies];
  s.seed = seed;
  const bool whole = seed % 3 == 0, noisy = seed % 5 != 0, twice = seed % 7 == 0;
  Detector& d = detector_of(s.scan);
  d.bins = static_cast<Index>(from(64, 200)), d.rows = seed % 2 ? 1 : 3;
  const double end = static_cast<double>(d.bins - 1);
  d.axis_bin = whole ? from(0.25, 0.75) * end : from(0.4, 0.6) * end;
  const auto views = static_cast<Index>(from(45, 200));
  const double start = from(0, 6), arc = whole ? 2 * pi : pi;
  for (Index v = 0; v < views; ++v)
    angles_of(s.scan).push_back(start + arc * static_cast<double>(v) /
                                            static_cast<double>(twice ? views - 1 : views));
  const double seen = whole ? end : 2 * std::min(d.axis_bin, end - d.axis_bin);
  const auto size = static_cast<Index>(0.9 * seen);
  s.grid = {{size, size, d.rows}, {1, 1, 1}, {}};
  if (noisy) s.photons = std::pow(10, from(2.3, 4.6));
  return s;
}

TEST(Axis, LiesWithinThreeUncertaintiesInNearlyAllScans) {
  constexpr int scans = 60, beyond_allowed = 1;  // normal deviates would give 0.16
  Random random(20261122);
  int beyond = 0;
  std::vector<double> uncertainties;
  for (int k = 0; k < scans; ++k) {
    const Simulation s = some_scan(random, static_cast<std::uint64_t>(k));
    const Detector& d = detector_of(s.scan);
    const AxisEstimate found = find_axis(measured(s), angles_of(s.scan), d.rows, d.bins);
    beyond += std::abs(found.axis_bin - d.axis_bin) > 3 * found.uncertainty;
    uncertainties.push_back(found.uncertainty);
  }
  EXPECT_LE(beyond, beyond_allowed);
  std::nth_element(uncertainties.begin(), uncertainties.begin() + scans / 2, uncertainties.end());
  EXPECT_LT(uncertainties[scans / 2], tolerance::axis_clean);  // and says something
}

/// The views of `odd` in the odd sixteenths of a whole turn, and the views of `even` in the others.
std::vector<float> alternating(const std::vector<float>& even, const std::vector<float>& odd, Index views) {
  std::vector<float> all = even;
  const auto bins = static_cast<std::ptrdiff_t>(even.size() / static_cast<std::size_t>(views));
  for (Index v = 0; v < views; ++v)
    if (v * 16 / views % 2) std::copy_n(odd.begin() + v * bins, bins, all.begin() + v * bins);
  return all;
}

TEST(Axis, UncertaintyIsWhatGroupsOfViewsDifferBy) {
  constexpr Index views = 320, bins = 128;
  const auto disc_about = [&](double axis) {
    Simulation s;
    s.phantom = "disc";
    detector_of(s.scan) = {.bins = bins, .axis_bin = axis};
    for (Index v = 0; v < views; ++v)
      angles_of(s.scan).push_back(2 * pi * static_cast<double>(v) / static_cast<double>(views));
    s.grid = {{110, 110, 1}, {1, 1, 1}, {}};
    return measured(s);
  };
  std::vector<double> angles;
  for (Index v = 0; v < views; ++v)
    angles.push_back(2 * pi * static_cast<double>(v) / static_cast<double>(views));
  const std::vector<float> both = alternating(disc_about(62.5), disc_about(63.5), views);
  const AxisEstimate found = find_axis(both, angles, 1, bins);
  EXPECT_NEAR(found.axis_bin, 63, tolerance::axis_clean);
  // 16 groups that differ by half a bin each way: a deviation of 0.5 / sqrt(16), and Student's factor for 16
  const double expected = 0.125 * (1 + 2 / 16.0);
  EXPECT_NEAR(found.uncertainty, expected, tolerance::axis_groups * expected);
}

TEST(Axis, UncertaintyCoversAnArcOneStepTooShort) {
  for (const char* phantom : {"disc", "shepp-logan", "foam"})
    for (Index views : {46, 91}) {
      Simulation s = simulation({phantom, 140, 66.2, views, 180, vo});
      s.grid = {{120, 120, 1}, {1, 1, 1}, {}};
      std::vector<double> given;
      for (Index v = 0; v < views; ++v) {
        angles_of(s.scan)[static_cast<std::size_t>(v)] =
            pi * static_cast<double>(v) / static_cast<double>(views - 1);
        given.push_back(pi * static_cast<double>(v) / static_cast<double>(views));
      }
      const AxisEstimate found = find_axis(measured(s), given, 1, 140);
      EXPECT_LT(std::abs(found.axis_bin - 66.2), 3 * found.uncertainty) << phantom << views;
    }
}

TEST(Axis, MethodsHaveNames) {
  for (AxisMethod method : {AxisMethod::automatic, opposite, vo})
    EXPECT_EQ(axis_method(name_of(method)), method);
  EXPECT_THROW(axis_method("centre"), GeometryError);
}

TEST(Axis, IsRefusedWhereTheViewsDoNotTellIt) {
  const Sinograms half = clean({"foam", 128, 60.8, 90, 180, vo});
  EXPECT_THROW(half.axis(opposite), GeometryError);
  EXPECT_THROW(clean({"foam", 128, 60.8, 90, 120, vo}).axis(), GeometryError);
  EXPECT_THROW(clean({"foam", 128, 60.8, 5, 180, vo}).axis(), GeometryError);
  Sinograms flat = half;
  std::fill(flat.values.begin(), flat.values.end(), 0.5f);
  EXPECT_THROW(flat.axis(), GeometryError);
  EXPECT_THROW(find_axis(half.values, half.angles, 1, 127), SpaceError);
  EXPECT_THROW(find_axis(half.values, half.angles, 1, 128, {.between = {{9, 3}}}), GeometryError);
  Sinograms broken = half;
  broken.angles[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(broken.axis(), GeometryError);
}

// ---- Measured scans. Preprocessing as short as it gets.

std::vector<double> numbers(const io::Frames& f) {
  std::vector<double> out;
  const auto add = [&]<class T>(T) {
    std::vector<T> raw(f.bytes.size() / sizeof(T));
    std::memcpy(raw.data(), f.bytes.data(), f.bytes.size());
    out.assign(raw.begin(), raw.end());
  };
  if (f.type == io::PixelType::uint16) add(std::uint16_t{});
  if (f.type == io::PixelType::float32) add(float{});
  return out;
}

/// The mean of all frames of one kind, (row, bin).
std::vector<double> mean(io::ScanReader& reader, io::FrameKind kind, Index count, Range rows, Range bins) {
  const std::vector<double> all = numbers(reader.read(kind, {0, count}, rows, bins));
  const auto size = static_cast<std::size_t>(rows.size() * bins.size());
  std::vector<double> m(size);
  for (std::size_t i = 0; i < all.size(); ++i) m[i % size] += all[i] / static_cast<double>(count);
  return m;
}

float attenuation(double transmission) { return static_cast<float>(-std::log(std::max(transmission, 1e-3))); }

Sinograms measured(io::ScanReader& reader, Range rows) {
  const io::ScanInfo& info = reader.info();
  const Range bins{0, detector_of(info.scan).bins};
  const auto flat = mean(reader, io::FrameKind::flat, info.flats, rows, bins);
  const auto dark = mean(reader, io::FrameKind::dark, info.darks, rows, bins);
  const Index views = views_of(info.scan);
  Sinograms s{{}, angles_of(info.scan), rows.size(), bins.size()};
  const auto counts = numbers(reader.read(io::FrameKind::projection, {0, views}, rows, bins));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t cell = i % flat.size();
    const double span = flat[cell] - dark[cell];
    s.values.push_back(attenuation(span > 0 ? (counts[i] - dark[cell]) / span : 1));
  }
  return s;
}

const std::filesystem::path data = test::test_data();

TEST(MeasuredAxis, OfTheTooth) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "dxchange/tooth.h5");
  for (Range rows : {Range{0, 1}, Range{1, 2}, Range{0, 2}})
    EXPECT_NEAR(measured(*reader, rows).axis().axis_bin, 295.5, tolerance::axis_measured);
}

TEST(MeasuredAxis, OfTheCapsule) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "nxtomo/capsule_nxtomo.nxs");
  for (AxisMethod method : {AxisMethod::automatic, opposite}) {
    for (Index row = 60; row < 135; row += 6)
      EXPECT_NEAR(measured(*reader, {row, row + 1}).axis(method).axis_bin, 85.8, tolerance::axis_measured)
          << row;
    const AxisEstimate all = measured(*reader, {0, 135}).axis(method);
    EXPECT_NEAR(all.axis_bin, 85.8, tolerance::axis_measured);
    EXPECT_GT(all.agreement, tolerance::doubtful_agreement);
  }
}

TEST(MeasuredAxis, OfTheCapsuleIsCoveredWhereTheArcIsWrong) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "nxtomo/capsule_nxtomo.nxs");
  for (Range rows : {Range{60, 120}, Range{80, 84}, Range{100, 101}}) {
    Sinograms s = measured(*reader, rows);
    for (std::size_t v = 0; v < s.angles.size(); ++v)
      s.angles[v] = pi * static_cast<double>(v) / static_cast<double>(s.angles.size());
    const AxisEstimate found = s.axis();
    EXPECT_LT(std::abs(found.axis_bin - 85.83), 3 * found.uncertainty) << rows.first;
    EXPECT_LT(found.uncertainty, tolerance::axis_measured);
  }
}

TEST(MeasuredAxis, OfRowsOfAirHasNoAgreement) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "nxtomo/capsule_nxtomo.nxs");
  for (Index row = 0; row < 22; row += 5) {
    const Sinograms air = measured(*reader, {row, row + 1});
    try {
      EXPECT_LT(air.axis().agreement, tolerance::doubtful_agreement) << row;
    } catch (const GeometryError&) {  // they do not even single out a place
    }
  }
}

TEST(MeasuredAxis, OfTheNeutronSinogramWholeAndCropped) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "sinogram/sinogram_360_neutron_image.tif",
                                    {.arc_deg = 360, .arc_inclusive = true});
  const auto counts = numbers(reader->read(io::FrameKind::projection, {0, 459}, {0, 1}, {0, 503}));
  // columns 205 to 502 alone are a half acquisition
  for (auto [first, axis] : {std::pair{0, 244.8}, std::pair{205, 39.8}}) {
    Sinograms s{{}, angles_of(reader->info().scan), 1, 503 - first};
    for (std::size_t view = 0; view < 459; ++view) {
      const double* line = counts.data() + view * 503;
      double air = 0;
      for (int bin = 0; bin < 30; ++bin) air += line[bin] / 30;
      for (int bin = first; bin < 503; ++bin) s.values.push_back(attenuation(line[bin] / air));
    }
    EXPECT_NEAR(s.axis().axis_bin, axis, tolerance::axis_measured);
  }
}

}  // namespace
}  // namespace tandem::calibration
