// Volumes know where they lie: their projections land there, and no volume stands in for one of another
// place.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../io/files/plain_file.hpp"
#include "../../io/hdf5/hdf5.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../support/tolerances.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

std::vector<float> voxels_of(const std::filesystem::path& path) {
  io::VolumeReader reader(path);
  const auto [nz, ny, nx] = reader.shape();
  std::vector<float> voxels(static_cast<std::size_t>(nz * ny * nx));
  reader.read({0, nz}, voxels.data());
  return voxels;
}

void write_volume(const std::filesystem::path& path, const io::VolumePlace& place,
                  const std::vector<float>& voxels) {
  const auto writer = io::create_volume(path, place.grid.shape(), {.place = place}, "{}");
  writer->write({0, place.grid.size[2]}, voxels.data());
  writer->finish("{}");
}

/// Line integrals (view, row, bin) of a file with transmissions.
std::vector<float> lines_of(const std::filesystem::path& path) {
  const auto reader = io::open_scan(path);
  const Detector& d = detector_of(reader->info().scan);
  const Index views = views_of(reader->info().scan);
  const io::Frames frames = reader->read(io::FrameKind::projection, {0, views}, {0, d.rows}, {0, d.bins});
  std::vector<float> lines(frames.bytes.size() / sizeof(float));
  std::memcpy(lines.data(), frames.bytes.data(), frames.bytes.size());
  for (float& line : lines) line = -std::log(line);
  return lines;
}

/// |a - b| / |b|
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

/// Float32 transmissions of lines of about 1 hold a line integral to 6e-8 absolute; twice that for the
/// logarithm.
constexpr double stored = 2e-7;

/// The volume in `place`, a part of `whole`, as `whole` would be with nothing else in it.
std::vector<float> alone_in(const io::VolumePlace& whole, const io::VolumePlace& place,
                            const std::vector<float>& part) {
  const auto [nx, ny, nz] = whole.grid.size;
  std::vector<float> all(static_cast<std::size_t>(nx * ny * nz));
  const auto& [width, height, slices] = place.grid.size;
  const auto offset = [&](int axis) { return place.first[static_cast<std::size_t>(axis)]; };
  for (Index z = 0; z < slices; ++z)
    for (Index y = 0; y < height; ++y)
      std::copy_n(part.begin() + (z * height + y) * width, width,
                  all.begin() + ((z + offset(2)) * ny + y + offset(1)) * nx + offset(0));
  return all;
}

/// A region that `recon` cut out is projected as the whole volume with nothing but the region in it.
void lands_where_it_was(const Program& run, const std::string& scan, const std::string& region) {
  ASSERT_EQ(run("simulate -o scan.h5 --phantom ellipsoids --size 24 --rows 20 --views 16 " + scan).code, 0);
  ASSERT_EQ(run("recon scan.h5 -o whole.h5 --size 24").code, 0);
  ASSERT_EQ(run("recon scan.h5 -o part.h5 --size 24 --region " + region).code, 0);
  const io::VolumePlace whole = *io::VolumeReader(run / "whole.h5").place();
  const io::VolumePlace part = *io::VolumeReader(run / "part.h5").place();
  EXPECT_EQ(part.full_size, whole.grid.size);
  write_volume(run / "alone.h5", whole, alone_in(whole, part, voxels_of(run / "part.h5")));
  for (const std::string like : {"--like scan.h5", ""}) {
    const std::string rays = like.empty() ? "--views 7 --rows 20 " + scan : like;
    ASSERT_EQ(run("project alone.h5 -o expected.h5 " + rays).code, 0);
    const Ended ended = run("project part.h5 -o made.h5 " + rays);
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_LE(distance(lines_of(run / "made.h5"), lines_of(run / "expected.h5")), stored) << rays;
  }
}

TEST(ProjectRegion, OfAParallelBeamLandsWhereItWas) {
  lands_where_it_was(Program(), "--pixel-size 0.5", "3:17,5:24,12:19");
}

TEST(ProjectRegion, OfAConeBeamLandsWhereItWas) {
  lands_where_it_was(Program(), "--geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --bins 30",
                     "3:17,5:24,12:19");
}

TEST(ProjectRegion, OfSelectedRowsLandsOnThem) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom ellipsoids --size 24 --rows 20 --views 16").code, 0);
  ASSERT_EQ(run("recon scan.h5 -o part.h5 --detector-rows 11:17").code, 0);
  ASSERT_EQ(run("project part.h5 -o made.h5 --like scan.h5").code, 0);
  ASSERT_EQ(run("project part.h5 -o alone.h5 --views 16").code, 0);  // a row a slice
  const std::vector<float> made = lines_of(run / "made.h5"), alone = lines_of(run / "alone.h5");
  for (std::size_t view = 0; view < 16; ++view)
    for (std::size_t row = 0; row < 20; ++row) {
      const auto line = made.begin() + static_cast<std::ptrdiff_t>((view * 20 + row) * 24);
      if (row < 11 || row >= 17)
        EXPECT_EQ(std::count(line, line + 24, 0.f), 24) << row;
      else
        EXPECT_TRUE(std::equal(line, line + 24,
                               alone.begin() + static_cast<std::ptrdiff_t>((view * 6 + row - 11) * 24)));
    }
  const Ended beside = run("project part.h5 -o out.h5 --views 16 --rows 2");
  EXPECT_EQ(beside.code, 4);
  EXPECT_NE(beside.err.find("fall on rows 2 to 7, the detector has 0 to 1"), std::string::npos) << beside.err;
}

/// Cells 0.5 mm wide and 0.8 mm high: voxels are not cubes, which the volume says and `project` heeds.
TEST(ProjectCells, ThatAreNotSquareKeepTheirHeight) {
  Program run;
  const Detector cells{.bins = 26, .rows = 12, .bin_pitch = 0.5, .row_pitch = 0.8, .axis_bin = 12};
  const ConeBeam cone{cells, {0.1, 0.9, 2, 4.5}, 60, 90, 6.5};
  const VolumeGrid grid{{18, 18, 10}, {0.3, 0.3, 0.8 / 1.5}, {0.4, -0.2, 0.9}};
  const VolumeGrid bricks{{18, 18, 9}, {0.3, 0.3, 0.45}, {0.4, -0.2, 0.9}};  // a grid that fits no detector
  io::ScanWriter writer({run / "scan.h5", io::Content::scan}, cone, 0.5, io::PixelType::float32, 0, 0);
  io::Frames none{
      io::PixelType::float32, {4, 12, 26}, io::PixelBytes(4 * 12 * 26 * sizeof(float), std::byte{0})};
  writer.write(io::FrameKind::projection, {0, 12}, none);
  writer.finish("{}");
  for (const VolumeGrid& g : {grid, bricks}) {
    const LinearOperator A = projector(cone, g);
    Array x(A.domain());
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = 0.01f * static_cast<float>(1 + (7 * i) % 11);
    write_volume(run / "v.h5", io::whole_place(g, true), {x.data(), x.data() + x.size()});
    ASSERT_EQ(run("project v.h5 -o made.h5 --like scan.h5").code, 0);
    const Array y = A * x;
    EXPECT_LE(distance(lines_of(run / "made.h5"), {y.data(), y.data() + y.size()}), stored);
  }
}

/// If no pitch is known, voxels of a binned scan are two of its bins wide, and their values are for each
/// voxel.
TEST(ProjectBins, OfABinnedVolumeAreThoseOfTheFile) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 48 --rows 2 --views 60").code, 0);
  ASSERT_EQ(run("recon scan.h5 -o v.h5 --binning 2").code, 0);
  const io::VolumePlace place = *io::VolumeReader(run / "v.h5").place();
  EXPECT_FALSE(place.in_mm);
  EXPECT_EQ(place.grid.pitch, (std::array<double, 3>{2, 2, 2}));
  ASSERT_EQ(run("project v.h5 -o made.h5 --views 60").code, 0);
  const ParallelBeam beam = std::get<ParallelBeam>(io::open_scan(run / "made.h5")->info().scan);
  EXPECT_EQ(beam.detector.bins, 24);
  const LinearOperator A = projector(beam, fitting_grid(beam));
  Array x(A.domain());
  const std::vector<float> voxels = voxels_of(run / "v.h5");
  std::copy(voxels.begin(), voxels.end(), x.data());
  const Array y = A * x;
  EXPECT_LE(distance(lines_of(run / "made.h5"), {y.data(), y.data() + y.size()}), 4 * stored);
  const Ended coarse = run("project v.h5 -o out.h5 --like scan.h5");  // a slice for two rows
  EXPECT_EQ(coarse.code, 4);
  EXPECT_NE(coarse.err.find("slices are 2 rows apart"), std::string::npos) << coarse.err;
}

TEST(ProjectTiff, IsAsProjectHdf5) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --truth t.h5 --phantom disc --size 24 --rows 3 --views 9").code, 0);
  for (const std::string name : {"v.h5", "v.tif"})
    ASSERT_EQ(run("recon scan.h5 --region 2:20,0:24,1:3 --dtype uint16 --range -1:1 -o " + name).code, 0);
  ASSERT_EQ(run("project v.h5 -o a.h5 --like scan.h5").code, 0);
  ASSERT_EQ(run("project v_00001.tif -o b.h5 --like scan.h5").code, 0);
  EXPECT_EQ(lines_of(run / "a.h5"), lines_of(run / "b.h5"));
}

/// Commands that take a volume. All refuse it alike.
class TakesAVolume : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_EQ(run("simulate -o scan.h5 --truth v.h5 --phantom disc --size 24 --rows 3 --views 9").code, 0);
    ASSERT_EQ(run(GetParam()).code, 0) << run(GetParam()).err;
    std::filesystem::remove(run / "out.h5");
  }
  void refuses(const std::vector<std::string>& parts) {
    const Ended ended = run(GetParam());
    EXPECT_EQ(ended.code, 3) << ended.err;
    for (const std::string& part : parts) EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_FALSE(run.has("out.h5"));
  }
  Program run;
};

INSTANTIATE_TEST_SUITE_P(
    All, TakesAVolume,
    ::testing::Values(
        "project v.h5 -o out.h5 --like scan.h5", "recon scan.h5 -o out.h5 --truth v.h5",
        "recon scan.h5 -o out.h5 --reconstruction-algorithm cgls --iterations 1 --initial v.h5"));

TEST_P(TakesAVolume, ThatIsWhole) {
  const io::PlainFile made(io::Descriptor(::open((run / "v.h5").c_str(), O_RDWR)), "v.h5");
  io::hdf5::File file = io::hdf5::File::modify(made);
  file.data_set("/exchange/data").set_flag("complete", false);
  file.close();
  refuses({"v.h5", "is marked incomplete"});
}

TEST_P(TakesAVolume, OfFiniteNumbers) {
  const io::VolumePlace place = *io::VolumeReader(run / "v.h5").place();
  std::vector<float> voxels = voxels_of(run / "v.h5");
  voxels[24 * 24 + 5 * 24 + 7] = NAN;
  write_volume(run / "v.h5", place, voxels);
  refuses({"v.h5", "voxel (1, 5, 7) (z, y, x) is nan"});
}

TEST_P(TakesAVolume, OfItsOwnGrid) {
  if (std::string(GetParam()).starts_with("project")) GTEST_SKIP() << "projects any grid";
  io::VolumePlace place = *io::VolumeReader(run / "v.h5").place();
  const std::vector<float> voxels = voxels_of(run / "v.h5");
  place.grid.centre[1] = 2;
  write_volume(run / "v.h5", place, voxels);
  refuses({"v.h5", "is on another grid", "along y", "around 2, not"});
  place.grid.centre[1] = 0, place.grid.pitch = {0.5, 0.5, 1};
  write_volume(run / "v.h5", place, voxels);
  refuses({"is on another grid", "along x its 24 voxels of 0.5 bin"});
  place.grid.pitch = {1, 1, 1}, place.in_mm = true;
  write_volume(run / "v.h5", place, voxels);
  refuses({"is on another grid", "it is in 1/mm, not in 1/pixel"});
}

TEST(Info, TellsWhereAVolumeLies) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --phantom disc --size 24 --rows 6 --views 9 --pixel-size 0.5").code, 0);
  for (const std::string name : {"v.h5", "v.tif"}) {
    ASSERT_EQ(run("recon scan.h5 --region 2:20,0:24,1:3 -o " + name).code, 0);
    const auto report = nlohmann::json::parse(run("info " + name + " --json -").out);
    EXPECT_EQ(report["shape"], nlohmann::json({2, 24, 18}));
    EXPECT_EQ(report["pitch"], nlohmann::json({0.5, 0.5, 0.5}));
    EXPECT_EQ(report["centre"], nlohmann::json({-0.5, 0.0, -0.5}));
    EXPECT_EQ(report["full_shape"], nlohmann::json({6, 24, 24}));
    EXPECT_EQ(report["region"], nlohmann::json({{1, 3}, {0, 24}, {2, 20}}));
    EXPECT_EQ(report["unit"], "1/mm");
    const std::string words = run("info " + name).out;
    EXPECT_NE(words.find("region    z 1:3 y 0:24 x 2:20 of 6 x 24 x 24"), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace tandem::test
