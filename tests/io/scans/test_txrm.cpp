// Scans of Zeiss in compound files, and such files alone.

#include <cmath>
#include <numbers>

#include "../../../io/scans/zeiss/compound_file.hpp"
#include "../../support/compound_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;

namespace {

constexpr double degree = std::numbers::pi / 180;

std::string one(std::int32_t value) { return stream_of(std::vector<std::int32_t>{value}); }
std::string floats(std::vector<float> values) { return stream_of(values); }
std::string image(std::size_t k) {
  const std::vector<double> pixels = frames(k, 1);
  return stream_of(std::vector<std::uint16_t>(pixels.begin(), pixels.end()));
}

/// The sample scan: a cone beam of 4 views, with a flat.
Streams scan() {
  Streams all{{"ImageInfo/ImageWidth", one(bins)},
              {"ImageInfo/ImageHeight", one(rows)},
              {"ImageInfo/NoOfImages", one(views)},
              {"ImageInfo/ImagesTaken", one(views)},
              {"ImageInfo/DataType", one(5)},
              {"ImageInfo/XrayGeometry", one(1)},
              {"ImageInfo/AcquisitionMode", one(0)},
              {"ImageInfo/Angles", floats({0, 0.5f, 1, 1.5f})},
              {"ImageInfo/PixelSize", floats({20})},
              {"ImageInfo/StoRADistance", floats({-50, -50, -50, -50})},
              {"ImageInfo/DtoRADistance", floats({150, 150, 150, 150})},
              {"ImageInfo/ExpTimes", floats({2, 2, 2, 2})},
              {"ReferenceData/Image", image(8)},
              {"ReferenceData/DataType", one(5)},
              {"ReferenceData/ExpTime", floats({2})}};
  for (std::size_t k = 0; k < views; ++k) all["ImageData1/Image" + std::to_string(k + 1)] = image(k);
  return all;
}

Streams with(const std::string& name, const std::string& bytes) {
  Streams all = scan();
  all[name] = bytes;
  return all;
}

class Txrm : public ::testing::Test {
 protected:
  std::unique_ptr<io::ScanReader> open(const Streams& streams, int shift = 9, bool scattered = false,
                                       const io::OpenOptions& options = {}) {
    write_compound_file(path(), streams, shift, scattered);
    return io::open_scan(path(), options);
  }
  std::string notes(const Streams& streams) {
    std::string all;
    const auto reader = open(streams);
    for (const std::string& note : reader->info().notes) all += note + "\n";
    return all;
  }
  std::string refused(const Streams& streams) {
    write_compound_file(path(), streams);
    return refusal_of(path());
  }
  std::string path() const { return (folder_ / "scan.txrm").string(); }
  TemporaryFolder folder_;
};

}  // namespace

TEST_F(Txrm, GivesGeometryAnglesAndTheFlat) {
  for (const int shift : {9, 12})
    for (const bool scattered : {false, true}) {
      const auto reader = open(scan(), shift, scattered);
      const io::ScanInfo& info = reader->info();
      EXPECT_EQ(info.format, "Zeiss TXRM");
      const ConeBeam& cone = point_source_of(info.scan);
      EXPECT_DOUBLE_EQ(cone.sod, 50);
      EXPECT_DOUBLE_EQ(cone.sdd, 200);
      EXPECT_DOUBLE_EQ(cone.detector.bin_pitch, 0.08);  // 20 microns at the sample, four times as large
      ASSERT_EQ(angles_of(info.scan).size(), 4u);
      for (std::size_t k = 0; k < 4; ++k)  // the sample turns by the angles, so the source goes back
        EXPECT_DOUBLE_EQ(angles_of(info.scan)[k], -0.5 * static_cast<double>(k));
      EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 4));
      EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(8, 1));
      EXPECT_EQ(values(reader->read(FrameKind::projection, {1, 3}, {1, 2}, {2, 4})),
                (std::vector<double>{pixel(1, 1, 2), pixel(1, 1, 3), pixel(2, 1, 2), pixel(2, 1, 3)}));
    }
}

TEST_F(Txrm, MayHaveFloatsForPixels) {
  Streams all = with("ImageInfo/DataType", one(10));
  std::vector<double> expected;
  for (std::size_t k = 0; k < views; ++k) {
    std::vector<float> pixels;
    for (const double value : frames(k, 1)) pixels.push_back(static_cast<float>(value) + 0.25f);
    all["ImageData1/Image" + std::to_string(k + 1)] = stream_of(pixels);
    expected.insert(expected.end(), pixels.begin(), pixels.end());
  }
  const auto reader = open(all);
  EXPECT_EQ(reader->info().type, io::PixelType::float32);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), expected);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(8, 1));
}

TEST_F(Txrm, HaveAHundredImagesInAStorage) {
  Streams all = scan();
  constexpr std::size_t many = 203;
  std::vector<float> angles;
  for (std::size_t k = 0; k < many; ++k) {
    all["ImageData" + std::to_string(k / 100 + 1) + "/Image" + std::to_string(k + 1)] = image(k);
    angles.push_back(static_cast<float>(k));
  }
  all["ImageInfo/NoOfImages"] = all["ImageInfo/ImagesTaken"] = one(many);
  all["ImageInfo/Angles"] = stream_of(angles);
  EXPECT_EQ(all_of(*open(all), FrameKind::projection), frames(0, many));
}

TEST_F(Txrm, AnglesThatSpanMoreThanATurnAreDegrees) {
  const auto reader = open(with("ImageInfo/Angles", floats({-90, -30, 30, 90})));
  EXPECT_NEAR(angles_of(reader->info().scan)[3], -90 * degree, 1e-12);
  EXPECT_TRUE(says(notes(scan()), {"ImageInfo/Angles are taken as rad: they span less than 6.5"}));
}

TEST_F(Txrm, WithoutAPointSourceIsAParallelBeam) {
  Streams all = with("ImageInfo/XrayGeometry", one(0));
  all["Alignment/X-Shifts"] = floats({0, 1, -2, 0.5f});
  all["Alignment/Y-Shifts"] = floats({0, 0, 1, 0});
  const auto reader = open(all);
  const io::ScanInfo& info = reader->info();
  EXPECT_EQ(kind_of(info.scan), ParallelBeam::kind);
  EXPECT_DOUBLE_EQ(info.pixel_size_mm.value(), 0.02);
  EXPECT_DOUBLE_EQ(info.propagation_mm.value(), 150);
  EXPECT_EQ(std::get<ParallelBeam>(info.scan).view_shift_bins, (std::vector<double>{0, -1, 2, -0.5}));
  EXPECT_EQ(info.row_shifts, (std::vector<double>{0, 0, -1, 0}));
}

TEST_F(Txrm, ViewsOfAConeBeamAreMovedInWholePixels) {
  Streams all = with("Alignment/X-Shifts", floats({0, 1, -1.6f, 0}));
  all["Alignment/Y-Shifts"] = floats({0, 0, 1, 0});
  const auto reader = open(all);
  EXPECT_EQ(all_of(*reader, FrameKind::flat), std::vector<double>(rows * bins, 1));
  const std::vector<double> made = all_of(*reader, FrameKind::projection);
  for (std::size_t view = 0; view < views; ++view)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t bin = 0; bin < bins; ++bin) {
        const int x = view == 1 ? 1 : view == 2 ? -2 : 0, y = view == 2 ? 1 : 0;
        const auto from_row = static_cast<std::size_t>(std::clamp(static_cast<int>(row) - y, 0, 2)),
                   from_bin = static_cast<std::size_t>(std::clamp(static_cast<int>(bin) - x, 0, 4));
        EXPECT_FLOAT_EQ(static_cast<float>(made[(view * rows + row) * bins + bin]),
                        static_cast<float>(pixel(view, from_row, from_bin) / pixel(8, from_row, from_bin)));
      }
  EXPECT_EQ(values(reader->read(FrameKind::projection, {2, 3}, {1, 2}, {3, 5})),
            (std::vector<double>{made[(2 * rows + 1) * bins + 3], made[(2 * rows + 1) * bins + 4]}));
}

TEST_F(Txrm, AFlatHasTheExposureOfTheViews) {
  const auto reader = open(with("ReferenceData/ExpTime", floats({1})));
  std::vector<double> twice = frames(8, 1);
  for (double& value : twice) value *= 2;
  EXPECT_EQ(all_of(*reader, FrameKind::flat), twice);
  EXPECT_TRUE(says(notes(with("ImageInfo/ExpTimes", floats({2, 2, 2, 3}))), {"ExpTimes change"}));
}

/// The sample scan with two flats in the place of one.
Streams with_two_flats() {
  Streams all = scan();
  all.erase("ReferenceData/Image"), all.erase("ReferenceData/DataType"), all.erase("ReferenceData/ExpTime");
  all["MultiReferenceData/Image1"] = image(8), all["MultiReferenceData/Image2"] = image(9);
  all["MultiReferenceData/DataType"] = one(5);
  return all;
}

TEST_F(Txrm, HasOneFlatOrSeveral) {
  EXPECT_EQ(all_of(*open(with_two_flats()), FrameKind::flat), frames(8, 2));
  Streams brighter = with_two_flats();
  brighter["MultiReferenceData/ExpTime"] = floats({4});
  std::vector<double> half = frames(8, 2);
  for (double& value : half) value /= 2;
  EXPECT_EQ(all_of(*open(brighter), FrameKind::flat), half);
}

TEST_F(Txrm, ViewsThatAreMovedAreDividedByTheMeanOfTheFlats) {
  Streams moved = with_two_flats();
  moved["Alignment/X-Shifts"] = floats({0, 1, 0, 0});
  const std::vector<double> made = all_of(*open(moved), FrameKind::projection), pixels = frames(0, views),
                            flats = frames(8, 2);
  const auto light = [&](std::size_t k) { return (flats[k] + flats[k + rows * bins]) / 2; };
  EXPECT_FLOAT_EQ(static_cast<float>(made[2]), static_cast<float>(pixels[2] / light(2)));
  EXPECT_FLOAT_EQ(static_cast<float>(made[rows * bins + 2]),
                  static_cast<float>(pixels[rows * bins + 1] / light(1)));
}

TEST_F(Txrm, SaysWhatItDoesNotObey) {
  EXPECT_TRUE(says(notes(with("ReconSettings/CenterShift", floats({1.5f}))),
                   {"scan.txrm: ReconSettings/CenterShift = 1.5 is left out: "}));
  EXPECT_TRUE(says(notes(with("AutoRecon/CenterShift", floats({-3}))), {"AutoRecon/CenterShift = -3"}));
  EXPECT_TRUE(says(notes(with("ImageInfo/XrayMagnification", floats({3}))),
                   {"XrayMagnification = 3, but the distances say 4"}));
  EXPECT_TRUE(says(notes(with("ImageInfo/YPosition", floats({0, 0, 30, 0}))),
                   {"ImageInfo/YPosition changes by 30 microns"}));
  EXPECT_TRUE(says(notes(with("ImageInfo/ImagesTaken", one(3))), {"3 of the 4 planned views were taken"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/MosiacMode", one(1))), {"ImageInfo/MosiacMode = 1"}));
  EXPECT_EQ(notes(with("ReconSettings/CenterShift", floats({0}))).find("left out"), std::string::npos);
}

TEST_F(Txrm, GivesFlatsToOtherScans) {
  write_compound_file((folder_ / "flat.xrm").string(), scan());
  Streams all = scan();
  all.erase("ReferenceData/Image");
  EXPECT_EQ(all_of(*open(all, 9, false, {.flats = {folder_ / "flat.xrm"}}), FrameKind::flat), frames(0, 4));
}

TEST_F(Txrm, ThatIsDamagedIsToldInOneLine) {
  Streams all = scan();
  all.erase("ImageData1/Image3");
  EXPECT_TRUE(says(refused(all), {"scan.txrm: ImageData1/Image3: is missing"}));
  EXPECT_TRUE(says(refused(with("ImageData1/Image2", "short")), {"Image2: has 5 bytes; 30 are needed"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/ImageWidth", one(-5))), {"ImageWidth = -5; 1 to"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/ImageWidth", one(900000))), {"claims 4 images of 3 x 900000"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/ImageWidth", "a")), {"ImageWidth: is missing, or has less"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/DataType", one(3))), {"DataType = 3; 5 (uint16) or 10"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/StoRADistance", floats({0}))), {"needed for a cone beam"}));
  EXPECT_TRUE(says(refused(with("ImageInfo/Angles", floats({1, 2}))), {"ImageInfo/Angles: missing"}));
  Streams volume = with("ImageInfo/AcquisitionMode", one(3));
  volume["ImageInfo/Angles"] = floats({0, 0, 0, 0});
  EXPECT_TRUE(says(refused(volume), {"is a volume of Zeiss"}));
  EXPECT_TRUE(says(refused({{"Workbook", "a"}}), {"is a compound file (OLE2), but no scan of Zeiss"}));
}

TEST_F(Txrm, ThatGoesRoundOrIsCutIsRefused) {
  const std::string big(3 * 4096, 'x'), whole = CompoundWriter({{"a", big}, {"b", "short"}}).bytes();
  const auto said = [&](const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
    return refusal([&] {
      const io::CompoundFile file(path());
      file.bytes("a", 1 << 20), file.bytes("b", 10);
    });
  };
  const auto with_number = [&](std::size_t at, std::uint32_t number) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + at, &number, sizeof number);
    return bytes;
  };
  const std::size_t table = whole.size() - 512;
  EXPECT_TRUE(says(said(with_number(table + 4, 0)), {"scan.txrm: "}));    // sector 1 leads back to 0
  EXPECT_TRUE(says(said(with_number(table + 4, 900)), {"scan.txrm: "}));  // and beyond the file
  EXPECT_TRUE(says(said(with_number(48, 1)), {"scan.txrm: "}));           // a directory that is none
  EXPECT_TRUE(says(said(with_number(68, 0)), {"scan.txrm: "}));           // a list of tables that is none
  EXPECT_TRUE(says(said(with_number(56, 0x7fffffff)), {"4096 is needed"}));
  EXPECT_TRUE(says(said(with_number(30, 0x0006000c)), {"scan.txrm: "}));
  EXPECT_TRUE(says(said(whole.substr(0, 700)), {"scan.txrm: "}));
  EXPECT_TRUE(says(said(whole.substr(0, 100)), {"scan.txrm"}));
}

TEST_F(Txrm, LargeFilesHaveAListOfTables) {
  std::string big(9'000'000, '\0');
  for (std::size_t k = 0; k < big.size(); ++k) big[k] = static_cast<char>(k * 7 / 512);
  for (const bool scattered : {false, true}) {
    write_compound_file(path(), {{"deep/er/a", big}, {"b", "short"}}, 9, scattered);
    const io::CompoundFile file(path());
    EXPECT_EQ(file.bytes("DEEP/ER/A", 10'000'000), big);
    EXPECT_EQ(file.bytes("b", 3), "sho");
    EXPECT_EQ(file.size("deep/b"), std::nullopt);
  }
}

}  // namespace tandem::test
