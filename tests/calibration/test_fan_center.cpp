// The axis of fan and cone beams.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numbers>
#include <vector>

#include "../../calibration/center.hpp"
#include "../../core/error.hpp"
#include "../../counts/preprocess.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/scans.hpp"
#include "../support/test_data.hpp"
#include "../support/tolerances.hpp"

namespace tandem::calibration {
namespace {

using pipeline::SimulatedScan, pipeline::Simulation;

struct Case {
  const char* phantom;
  Index bins;
  double axis;
  Index views, rows;
  double arc;  ///< rad
};

/// Views in the order 0, 7, 14, ... modulo their number. Half the fan: about 14 degrees.
ConeBeam scan_for(const Case& c) {
  ConeBeam scan{{c.bins, c.rows, 1, 1, c.axis}, {}, 1.4 * static_cast<double>(c.bins), 0, 0};
  scan.sdd = 2 * static_cast<double>(c.bins);
  scan.midplane_row = 0.5 * static_cast<double>(c.rows - 1);
  const std::vector<double> angles = test::regular_angles(c.views, c.arc);
  for (Index v = 0; v < c.views; ++v)
    scan.angles.push_back(angles[static_cast<std::size_t>(v * 7 % c.views)]);
  return scan;
}

Simulation simulation_of(const Case& c) {
  Simulation s;
  s.phantom = c.phantom;
  s.scan = scan_for(c);
  s.grid = fitting_grid(s.scan);
  s.grid.size[0] = s.grid.size[1] = c.bins - c.bins / 8;  // the body stays inside the fan
  return s;
}

std::vector<float> line_integrals(const Case& c) {
  const ConeBeam scan = scan_for(c);
  std::vector<float> y(static_cast<std::size_t>(c.views * c.rows * c.bins));
  project(SimulatedScan(simulation_of(c)).phantom(), scan, {0, c.rows}, y);
  return y;
}

/// The scan with its axis forgotten.
ConeBeam unknown_axis(const Case& c) {
  ConeBeam scan = scan_for(c);
  scan.detector.axis_bin = 0;
  return scan;
}

class KnownFanAxis : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Scans, KnownFanAxis,
                         testing::Values(Case{"shepp-logan", 256, 127.5, 360, 1, whole_turn},
                                         Case{"shepp-logan", 256, 120.3, 360, 1, whole_turn},
                                         Case{"foam", 255, 140.7, 180, 1, whole_turn},
                                         Case{"foam", 256, 70.25, 360, 1,
                                              whole_turn},  // half of the body is seen at a time
                                         Case{"ellipsoids", 128, 60.8, 181, 5, whole_turn},
                                         Case{"ellipsoids", 128, 32.4, 181, 5, whole_turn},  // half, too
                                         Case{"shepp-logan", 1100, 531.4, 300, 1, whole_turn},
                                         Case{"foam", 256, 131.3, 240, 1, half_turn + 0.6}));  // a short scan

TEST_P(KnownFanAxis, IsFoundWithinATenthOfABin) {
  const Case& c = GetParam();
  const AxisEstimate found = find_axis(line_integrals(c), unknown_axis(c));
  EXPECT_NEAR(found.axis_bin, c.axis, tolerance::axis_clean);
  EXPECT_GT(found.agreement, 0.9);
  EXPECT_EQ(found.method, AxisMethod::opposite);
}

TEST(FanAxis, IsFoundInNoisyCountsWithinItsUncertainty) {
  const Case c{"shepp-logan", 256, 121.4, 360, 1, whole_turn};
  Simulation s = simulation_of(c);
  s.photons = 500;
  const io::Frames counts = SimulatedScan(s).frames(io::FrameKind::projection, {0, 1});
  std::vector<float> y;
  for (std::size_t i = 0; i < counts.bytes.size(); i += 2) {
    std::uint16_t count;
    std::memcpy(&count, counts.bytes.data() + i, 2);
    y.push_back(static_cast<float>(-std::log(std::max(count - 100.0, 1.0) / 500)));
  }
  const AxisEstimate found = find_axis(y, unknown_axis(c));
  EXPECT_NEAR(found.axis_bin, c.axis, tolerance::axis_clean + tolerance::deviations * found.uncertainty);
  EXPECT_LT(found.uncertainty, tolerance::axis_measured);
}

TEST(FanAxis, IsNotThatOfTheOtherSenseOfRotation) {
  const Case c{"foam", 256, 120.3, 360, 1, whole_turn};
  ConeBeam turned = unknown_axis(c);
  for (double& angle : turned.angles) angle = -angle;
  EXPECT_LT(find_axis(line_integrals(c), turned).agreement, 0.9);
}

/// Two lost neighbours, bursts that a gate leaves (no two of them half a turn apart would tell nothing), and
/// what chance leaves, in a fan and in a parallel beam.
TEST(FanAxis, AsideIsFoundFromViewsWithHoles) {
  const Case c{"shepp-logan", 128, 30.4, 360, 1, whole_turn};
  Random random(3);
  const std::vector<std::function<bool(Index)>> ways{
      [](Index k) { return k < 100 || k > 101; }, [](Index k) { return k % 30 < 12; },
      [&](Index) { return random.uniform() < 0.4; }, [](Index k) { return k < 40 || k > 89; }};
  for (std::size_t way = 0; way < ways.size(); ++way) {
    ConeBeam fan = scan_for(c);
    fan.angles.clear();
    for (Index k = 0; k < 360; ++k)
      if (ways[way](k)) fan.angles.push_back(whole_turn * static_cast<double>(k) / 360);
    const Phantom body = SimulatedScan(simulation_of(c)).phantom();
    const ParallelBeam parallel{fan.detector, fan.angles};
    std::vector<float> y(fan.angles.size() * 128);
    project(body, fan, {0, 1}, y);
    fan.detector.axis_bin = 0;
    EXPECT_NEAR(find_axis(y, fan, {.aside = true}).axis_bin, 30.4, tolerance::axis_clean) << way;
    EXPECT_NEAR(find_axis(y, fan).axis_bin, 30.4, tolerance::axis_clean) << way;
    project(body, parallel, {0, 1}, y);
    EXPECT_NEAR(find_axis(y, parallel.angles, 1, 128, {.aside = true}).axis_bin, 30.4, tolerance::axis_clean)
        << way;
  }
}

TEST(FanAxis, IsLookedForBetweenTheGivenBins) {
  const Case c{"foam", 256, 120.3, 180, 1, whole_turn};
  const std::vector<float> y = line_integrals(c);
  EXPECT_NEAR(find_axis(y, unknown_axis(c), {.between = {{118, 124}}}).axis_bin, c.axis,
              tolerance::axis_clean);
  EXPECT_THROW(find_axis(y, unknown_axis(c), {.between = {{140, 150}}}), GeometryError);
}

TEST(FanAxis, IsRefusedWhereNothingTellsIt) {
  const Case c{"foam", 64, 30.3, 60, 1, whole_turn};
  const ConeBeam scan = unknown_axis(c);
  std::vector<float> y = line_integrals(c);
  EXPECT_THROW(find_axis(y, scan, {.method = AxisMethod::vo}), GeometryError);
  EXPECT_THROW(find_axis(y, scan, {.between = {{9, 3}}}), GeometryError);
  const Case few{"foam", 64, 30.3, 8, 1, whole_turn};
  EXPECT_THROW(find_axis(line_integrals(few), unknown_axis(few)), GeometryError);
  const Case quarter{"foam", 64, 30.3, 60, 1, 0.5 * half_turn};  // no ray is seen twice
  EXPECT_THROW(find_axis(line_integrals(quarter), unknown_axis(quarter)), GeometryError);
  std::fill(y.begin(), y.end(), 0.5f);
  EXPECT_THROW(find_axis(y, scan), GeometryError);
  y.pop_back();
  EXPECT_THROW(find_axis(y, scan), SpaceError);
}

// ---- Measured: fan-tiff/sweetener

/// The sum of squared differences of neighbouring pixels.
double gradient_energy(const Array& x) {
  const auto [slices, ny, nx] = x.space().shape();
  double sum = 0;
  for (Index iy = 1; iy < ny; ++iy)
    for (Index ix = 1; ix < nx; ++ix) {
      const float* at = x.data() + iy * nx + ix;
      sum += std::pow(static_cast<double>(at[0] - at[-1]), 2) +
             std::pow(static_cast<double>(at[0] - at[-nx]), 2);
    }
  return sum;
}

TEST(MeasuredFanAxis, OfTheSweetenerIsWhereThePictureIsSharpest) {
  const std::filesystem::path folder = test::test_data() / "fan-tiff/sweetener";
  if (!exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto reader = io::open_scan(folder, {.flats = {folder / "io000000.tif", folder / "io000001.tif"},
                                             .darks = {folder / "di000000.tif"},
                                             .arc_deg = 360,
                                             .pixel_size_mm = 0.0748,
                                             .sod_mm = 423.56,
                                             .sdd_mm = 528});
  auto scan = std::get<FanBeam>(reader->info().scan);
  const Range bins{0, scan.detector.bins};
  const pipeline::Preprocessing how;
  pipeline::Findings findings;
  const Array y =
      preprocess(reader->read(io::FrameKind::projection, {0, 900}, {0, 1}, bins),
                 read_reference(*reader, {0, 1}, bins, how), how, projection_space(scan), findings)
          .y;
  const AxisEstimate found = find_axis({y.data(), static_cast<std::size_t>(y.size())}, scan);
  EXPECT_NEAR(found.axis_bin, 971.1, 0.8);  // where the reconstruction is sharpest
  EXPECT_GT(found.agreement, 0.9);

  const VolumeGrid part = region(fitting_grid(scan), {820, 900}, {1030, 1110}, {0, 1});  // beans
  double best = 0, sharpest = 0;
  for (double axis = found.axis_bin - 3; axis <= found.axis_bin + 3; axis += 0.5) {
    scan.detector.axis_bin = axis;
    Array moved(projection_space(scan));
    std::copy_n(y.data(), y.size(), moved.data());
    const double energy = gradient_energy(fdk(scan, part) * moved);
    if (energy > best) best = energy, sharpest = axis;
  }
  EXPECT_NEAR(sharpest, found.axis_bin, 1);
}

}  // namespace
}  // namespace tandem::calibration
