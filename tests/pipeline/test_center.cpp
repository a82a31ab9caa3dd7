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

#include "tandem/core/error.hpp"
#include "tandem/io/scan_reader.hpp"
#include "tandem/pipeline/center.hpp"
#include "tandem/pipeline/simulate.hpp"
#include "tandem/tests/support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

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
                    Case{"shepp-logan", 256, 131.7, 361, 360, vo},
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
  const Sinograms s = clean({"foam", 256, 131.7, 90, 180, vo});
  const AxisEstimate found = find_axis(s.values, s.angles, 1, 256, {.between = {{100, 110}}});
  EXPECT_GE(found.axis_bin, 100);
  EXPECT_LE(found.axis_bin, 110);
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

// ---- Measured scans (shared/data/README.md). Preprocessing as short as it gets.

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
  const auto views = static_cast<Index>(angles_of(info.scan).size());
  Sinograms s{{}, angles_of(info.scan), rows.size(), bins.size()};
  const auto counts = numbers(reader.read(io::FrameKind::projection, {0, views}, rows, bins));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t cell = i % flat.size();
    const double span = flat[cell] - dark[cell];
    s.values.push_back(attenuation(span > 0 ? (counts[i] - dark[cell]) / span : 1));
  }
  return s;
}

const std::filesystem::path data = TANDEM_TEST_DATA;

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

TEST(MeasuredAxis, OfRowsOfAirHasNoAgreement) {
  if (!exists(data)) GTEST_SKIP() << data << " is not there";
  const auto reader = io::open_scan(data / "nxtomo/capsule_nxtomo.nxs");
  for (Index row = 0; row < 22; row += 5)
    EXPECT_LT(measured(*reader, {row, row + 1}).axis().agreement, tolerance::doubtful_agreement) << row;
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
}  // namespace tandem::pipeline
