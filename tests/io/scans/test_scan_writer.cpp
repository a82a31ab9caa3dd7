#include <numbers>
#include <numeric>
#include <thread>

#include "../../../io/scans/scan_writer.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::Frames;
using io::PixelType;

namespace {

ParallelBeam sample_scan() {
  return {.detector = {.bins = 5, .rows = 3, .bin_pitch = 0.5, .row_pitch = 0.25, .axis_bin = 1.75},
          .angles = {0.1, 1.2, 2.3, 3.0},
          .row_axis_bins = {}};
}

/// `count` frames of the given rows; the values go on from `start`.
Frames counts(Index count, Index row_count, std::uint16_t start) {
  Frames made{PixelType::uint16, {count, row_count, 5}, {}};
  std::vector<std::uint16_t> pixels(static_cast<std::size_t>(count * row_count * 5));
  std::iota(pixels.begin(), pixels.end(), start);
  made.bytes.resize(pixels.size() * 2);
  std::memcpy(made.bytes.data(), pixels.data(), made.bytes.size());
  return made;
}

}  // namespace

TEST(ScanWriter, WritesWhatOpenScanReads) {
  const TemporaryFolder folder;
  ParallelBeam scan = sample_scan();
  scan.row_axis_bins = {1.5, 1.75, 2};
  {
    io::ScanWriter writer({folder / "scan.h5", io::Content::scan}, scan, 0.5, PixelType::uint16, 2, 1);
    writer.write(FrameKind::projection, {1, 3}, counts(4, 2, 100));
    writer.write(FrameKind::projection, {0, 1}, counts(4, 1, 500));
    writer.write(FrameKind::flat, {0, 3}, counts(2, 3, 1000));
    writer.write(FrameKind::dark, {0, 3}, counts(1, 3, 2000));
    EXPECT_FALSE(fs::exists(folder / "scan.h5"));
    writer.finish("{}");
  }
  const auto reader = io::open_scan(folder / "scan.h5");
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(info.format, "DXchange");
  EXPECT_EQ(info.type, PixelType::uint16);
  EXPECT_EQ(info.axis_bin, 1.75);
  EXPECT_EQ(info.pixel_size_mm, 0.5);
  EXPECT_EQ(detector_of(info.scan).row_pitch, 0.25);
  EXPECT_EQ(std::get<ParallelBeam>(info.scan).row_axis_bins, scan.row_axis_bins);
  EXPECT_TRUE(info.notes.empty());
  for (std::size_t v = 0; v < 4; ++v) EXPECT_DOUBLE_EQ(angles_of(info.scan)[v], scan.angles[v]);
  EXPECT_EQ(values(reader->read(FrameKind::projection, {0, 4}, {1, 3}, {0, 5})), values(counts(4, 2, 100)));
  EXPECT_EQ(values(reader->read(FrameKind::projection, {0, 4}, {0, 1}, {0, 5})), values(counts(4, 1, 500)));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), values(counts(2, 3, 1000)));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), values(counts(1, 3, 2000)));
}

TEST(ScanWriter, WritesAConeBeamThatOpenScanReads) {
  const TemporaryFolder folder;
  const ParallelBeam sample = sample_scan();
  const ConeBeam scan{sample.detector, sample.angles, 423.56, 528.01, 0.75};
  io::ScanWriter writer({folder / "scan.h5", io::Content::scan}, scan, scan.detector.bin_pitch,
                        PixelType::uint16, 0, 0);
  writer.write(FrameKind::projection, {0, 3}, counts(4, 3, 0));
  writer.finish("{}");
  const io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  const auto& read = std::get<ConeBeam>(info.scan);
  EXPECT_EQ(read.sod, scan.sod);
  EXPECT_EQ(read.sdd, scan.sdd);
  EXPECT_EQ(read.midplane_row, scan.midplane_row);
  EXPECT_EQ(read.detector.axis_bin, scan.detector.axis_bin);
  EXPECT_EQ(read.detector.bin_pitch, scan.detector.bin_pitch);
  EXPECT_EQ(read.detector.row_pitch, scan.detector.row_pitch);
  EXPECT_TRUE(info.notes.empty());
}

TEST(ScanWriter, LeavesOutWhatNobodyKnows) {
  const TemporaryFolder folder;
  ParallelBeam scan = sample_scan();
  io::ScanWriter writer({folder / "scan.h5", io::Content::scan}, scan, std::nullopt, PixelType::uint16, 0, 0);
  writer.write(FrameKind::projection, {0, 3}, counts(4, 3, 0));
  writer.finish("{}");
  const io::ScanInfo info = io::open_scan(folder / "scan.h5")->info();
  EXPECT_FALSE(info.pixel_size_mm);
  EXPECT_EQ(info.flats, 0);
  EXPECT_EQ(info.darks, 0);
}

TEST(ScanWriter, LeavesNothingUnlessFinished) {
  const TemporaryFolder folder;
  {
    io::ScanWriter writer({folder / "scan.h5", io::Content::scan}, sample_scan(), std::nullopt,
                          PixelType::uint16, 1, 0);
    writer.write(FrameKind::projection, {0, 3}, counts(4, 3, 0));
    EXPECT_TRUE(says(refusal([&] { writer.finish("{}"); }), {"data_white", "0 of 3 rows"}));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ScanWriter, RefusesFramesThatWereNotAnnounced) {
  const TemporaryFolder folder;
  io::ScanWriter writer({folder / "scan.h5", io::Content::scan}, sample_scan(), std::nullopt,
                        PixelType::uint16, 1, 0);
  const auto refused = [&](FrameKind kind, Range y, const Frames& f) {
    return refusal([&] { writer.write(kind, y, f); });
  };
  EXPECT_TRUE(
      says(refused(FrameKind::dark, {0, 3}, counts(1, 3, 0)), {"data_dark", "0 frames were announced"}));
  EXPECT_TRUE(says(refused(FrameKind::flat, {0, 3}, counts(2, 3, 0)), {"data_white", "2 frames"}));
  EXPECT_TRUE(says(refused(FrameKind::flat, {1, 4}, counts(1, 3, 0)), {"data_white", "rows 1:4"}));
  EXPECT_TRUE(says(refusal([&] {
                     io::ScanWriter({folder / "lost/scan.h5", io::Content::scan}, sample_scan(), {},
                                    PixelType::uint16, 0, 0);
                   }),
                   {"lost", "does not exist"}));
}

TEST(Hdf5, MayBeReadByOneThreadWhileAnotherWrites) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer's heap stays locked in a child that was forked beside another thread's malloc";
#endif
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5", "u16", true);
  std::thread reading([&] {
    for (int i = 0; i < 50; ++i) {
      const auto reader = io::open_scan(folder / "scan.h5");
      EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, views));
    }
  });
  const std::vector<float> slab(20);
  for (int i = 0; i < 50; ++i) {
    const auto writer = io::create_volume(folder / "volume.h5", {3, 4, 5}, {}, "{}");
    for (Index z = 0; z < 3; ++z) writer->write({z, z + 1}, slab.data());
    writer->finish("{}");
  }
  reading.join();
}

}  // namespace tandem::test
