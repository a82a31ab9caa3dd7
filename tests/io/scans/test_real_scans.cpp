#include <numbers>

#include "../../support/test_data.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::PixelType;

namespace {

const fs::path data = test_data();
constexpr double radian = std::numbers::pi / 180;

double mean(const std::vector<double>& all) {
  double sum = 0;
  for (double value : all) sum += value;
  return sum / static_cast<double>(all.size());
}

}  // namespace

TEST(RealScan, ToothOfTheAps) {
  if (!fs::exists(data / "dxchange/tooth.h5")) GTEST_SKIP() << "no tooth.h5";
  const auto reader = io::open_scan(data / "dxchange/tooth.h5");
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "DXchange");
  EXPECT_EQ(info.type, PixelType::float32);
  EXPECT_EQ(angles_of(info.scan).size(), 181u);
  EXPECT_EQ(detector_of(info.scan).rows, 2);
  EXPECT_EQ(detector_of(info.scan).bins, 640);
  EXPECT_NEAR(angles_of(info.scan).back(), 179.0055 * radian, 1e-5);
  EXPECT_NEAR(mean(all_of(*reader, FrameKind::flat)), 27922, 100);
  EXPECT_NEAR(mean(all_of(*reader, FrameKind::dark)), 105, 1);
}

TEST(RealScan, CapsuleIsTheSameAsTiffAndAsNXtomo) {
  if (!fs::exists(data / "tiff-stack/capsule")) GTEST_SKIP() << "no capsule";
  const fs::path folder = data / "tiff-stack/capsule";
  io::OpenOptions options;
  options.flats = {folder / "flat_00001.tiff"};
  options.darks = {folder / "dark_00001.tiff"};
  options.angles = folder / "angles.txt";
  options.angle_lines = Range{10, 101};
  const auto stack = io::open_scan(folder / "tiffs", options);
  const auto nxtomo = io::open_scan(data / "nxtomo/capsule_nxtomo.nxs");
  EXPECT_EQ(stack->info().type, PixelType::uint16);
  EXPECT_EQ(stack->read(FrameKind::flat, {0, 1}, {0, 1}, {0, 1}).type, PixelType::float32);
  ASSERT_EQ(angles_of(stack->info().scan).size(), 91u);
  EXPECT_NEAR(angles_of(stack->info().scan).front(), -88.2 * radian, 1e-5);
  EXPECT_NEAR(angles_of(stack->info().scan).back(), 91.8 * radian, 1e-5);
  for (std::size_t v = 0; v < 91; ++v)
    EXPECT_NEAR(angles_of(stack->info().scan)[v], angles_of(nxtomo->info().scan)[v], 1e-9);
  EXPECT_EQ(all_of(*stack, FrameKind::projection), all_of(*nxtomo, FrameKind::projection));
  EXPECT_EQ(nxtomo->info().flats, 1);
  EXPECT_EQ(nxtomo->info().darks, 2 - 1);
}

TEST(RealScan, K11OfDiamondIsNXtomoInContent) {
  if (!fs::exists(data / "nxtomo/k11-18014.nxs")) GTEST_SKIP() << "no k11-18014.nxs";
  const auto reader = io::open_scan(data / "nxtomo/k11-18014.nxs");
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(angles_of(info.scan).size(), 3001u);
  EXPECT_EQ(info.flats, 100);
  EXPECT_EQ(info.darks, 100);
  EXPECT_EQ(detector_of(info.scan).rows, 22);
  EXPECT_EQ(detector_of(info.scan).bins, 26);
  EXPECT_NEAR(angles_of(info.scan).front(), 89.995 * radian, 0.01 * radian);
  EXPECT_NEAR(angles_of(info.scan).back(), 269.995 * radian, 0.01 * radian);
  EXPECT_GT(mean(all_of(*reader, FrameKind::flat)), mean(all_of(*reader, FrameKind::dark)));
}

TEST(RealScan, NeutronSinogramHasALineAView) {
  const fs::path path = data / "sinogram/sinogram_360_neutron_image.tif";
  if (!fs::exists(path)) GTEST_SKIP() << "no sinogram";
  io::OpenOptions options;
  options.arc_deg = 360;
  options.arc_inclusive = true;
  const auto reader = io::open_scan(path, options);
  EXPECT_EQ(reader->info().format, "TIFF sinogram");
  EXPECT_EQ(reader->info().type, PixelType::uint16);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 459u);
  EXPECT_EQ(detector_of(reader->info().scan).bins, 503);
  EXPECT_NEAR(angles_of(reader->info().scan).back(), 2 * std::numbers::pi, 1e-12);
  EXPECT_GT(mean(all_of(*reader, FrameKind::projection)), 0);
}

TEST(RealScan, SweetenerLeavesItsFlatsOutOfTheStack) {
  const fs::path folder = data / "fan-tiff/sweetener";
  if (!fs::exists(folder)) GTEST_SKIP() << "no sweetener";
  io::OpenOptions options;
  options.flats = {folder / "io000000.tif", folder / "io000001.tif"};
  options.darks = {folder / "di000000.tif"};
  options.arc_deg = 360;
  const auto reader = io::open_scan(folder, options);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 900u);
  EXPECT_EQ(detector_of(reader->info().scan).rows, 1);
  EXPECT_EQ(detector_of(reader->info().scan).bins, 1944);
  EXPECT_EQ(reader->info().flats, 2);
  EXPECT_EQ(reader->read(FrameKind::projection, {899, 900}, {0, 1}, {0, 1944}).bytes.size(), 1944u * 2);
}

TEST(RealScan, SweetenerNeedsNoNumbers) {
  const fs::path folder = data / "fan-tiff/sweetener";
  if (!fs::exists(folder)) GTEST_SKIP() << "no sweetener";
  const auto reader = io::open_scan(folder);
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "TIFF stack with FlexRay settings");
  EXPECT_EQ(kind_of(info.scan), FanBeam::kind);
  EXPECT_DOUBLE_EQ(point_source_of(info.scan).sod, 423.562012);
  EXPECT_DOUBLE_EQ(point_source_of(info.scan).sdd, 527.997070);
  EXPECT_DOUBLE_EQ(info.pixel_size_mm.value(), 0.0748);
  EXPECT_DOUBLE_EQ(info.axis_bin.value(), 974.365845);
  EXPECT_EQ(info.flats, 2);
  EXPECT_EQ(info.darks, 1);
  ASSERT_EQ(angles_of(info.scan).size(), 900u);
  for (std::size_t v = 0; v < 900; ++v)  // every fourth of 3601 views over a turn, both ends among them
    EXPECT_NEAR(angles_of(info.scan)[v], 0.4 * static_cast<double>(v) * radian, 1e-12);
}

TEST(RealScan, HelsinkiSinogramIsTheSameAsMatlabAndAsTiff) {
  const fs::path path = data / "mat/htc2022_ta_sparse_example.mat";
  const fs::path tiff = data / "sinogram/htc2022_ta_000-060deg_absorption.tif";
  if (!fs::exists(path) || !fs::exists(tiff)) GTEST_SKIP() << "no Helsinki sinogram";
  const auto reader = io::open_scan(path);
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "MATLAB sinogram");
  EXPECT_DOUBLE_EQ(point_source_of(info.scan).sod, 410.66);
  EXPECT_DOUBLE_EQ(point_source_of(info.scan).sdd, 553.74);
  EXPECT_DOUBLE_EQ(info.pixel_size_mm.value(), 0.2);
  ASSERT_EQ(angles_of(info.scan).size(), 121u);
  EXPECT_DOUBLE_EQ(angles_of(info.scan).back(), 60 * radian);
  EXPECT_EQ(all_of(*reader, FrameKind::projection),
            all_of(*io::open_scan(tiff, {.arc_deg = 60, .arc_inclusive = true}), FrameKind::projection));
}

}  // namespace tandem::test
