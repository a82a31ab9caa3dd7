// A volume as a series of DICOM: what its elements say, and that it is one thing as TIFF slices are.

#include <cmath>
#include <fstream>

#include "../../../io/files/dicom.hpp"
#include "../../../io/files/output.hpp"
#include "../../../io/volumes/volume_format.hpp"
#include "../../../io/volumes/volume_kind.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::DicomFile;
using io::VolumeFormat;
using io::VolumeReader;
using io::VoxelType;

namespace {

constexpr Shape shape{3, 4, 5};
// pitches of x, y, z; centre; a region of a larger grid
const io::VolumePlace aside{{{5, 4, 3}, {0.25, 0.5, 0.125}, {1, -2, 3}}, true, {9, 8, 7}, {2, 1, 4}};
constexpr double water = 0.02;

VolumeFormat format_with(float min, float max) {
  return {.type = VoxelType::uint16, .min = min, .max = max, .place = aside, .made_by = "scan 1, options 2"};
}

VolumeFormat in_hounsfield() {
  const auto [min, max] = io::hounsfield_range(water);
  VolumeFormat format = format_with(min, max);
  format.water = water;
  return format;
}

/// Attenuations from -1000 to 1950 HU, in steps of 50.
std::vector<float> ramp() {
  std::vector<float> data(60);
  for (std::size_t k = 0; k < data.size(); ++k)
    data[k] = static_cast<float>(water * 0.05 * static_cast<double>(k));
  return data;
}

void write(const fs::path& path, const VolumeFormat& format, io::Replace replace = io::Replace::own) {
  const auto writer = io::create_volume(path, shape, format, R"({"config":"size = 5"})", replace);
  const std::vector<float> data = ramp();
  writer->write({2, 3}, data.data() + 40);
  writer->write({0, 2}, data.data());
  writer->finish("{}");
}

std::vector<std::int16_t> stored_in(const fs::path& path) {
  const io::Extent where = DicomFile(path).pixels().value();
  std::vector<std::int16_t> pixels(static_cast<std::size_t>(where.bytes) / 2);
  std::ifstream file(path, std::ios::binary);
  file.seekg(where.offset);
  file.read(reinterpret_cast<char*>(pixels.data()), where.bytes);
  return pixels;
}

}  // namespace

TEST(DicomVolume, SaysWhereItsSlicesLie) {
  const TemporaryFolder folder;
  write(folder / "v.dcm", format_with(-1, 2));
  for (const int k : {0, 1, 2}) {
    const DicomFile file(folder / ("v_0000" + std::to_string(4 + k) + ".dcm"));
    EXPECT_EQ(file.kind(), "a CT image");
    EXPECT_EQ(file.numbers(0x00200032, "DS"), (std::vector{0.5, -2.75, 2.875 + 0.125 * k}));
    EXPECT_EQ(file.numbers(0x00200037, "DS"), (std::vector<double>{1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(file.numbers(0x00280030, "DS"), (std::vector{0.5, 0.25}));  // rows, then columns
    EXPECT_EQ(file.number(0x00180050, "DS"), 0.125);
    EXPECT_EQ(file.number(0x00200013, "IS"), 5 + k);
    EXPECT_EQ(file.number(io::dicom_rows, "US"), 4);
    EXPECT_EQ(file.number(io::dicom_columns, "US"), 5);
  }
}

TEST(DicomVolume, HoldsWholeHounsfieldUnits) {
  const TemporaryFolder folder;
  write(folder / "v.dcm", in_hounsfield());
  const DicomFile file(folder / "v_00005.dcm");
  EXPECT_EQ(file.number(0x00281053, "DS"), 1);
  EXPECT_EQ(file.number(0x00281052, "DS"), 0);
  EXPECT_EQ(file.text(0x00281054), "HU");
  const std::vector<std::int16_t> stored = stored_in(folder / "v_00005.dcm");
  ASSERT_EQ(stored.size(), 20u);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(stored[static_cast<std::size_t>(k)], -1000 + 50 * (20 + k));
}

TEST(DicomVolume, OfARangeHasSlopeAndIntercept) {
  const TemporaryFolder folder;
  VolumeFormat format = format_with(-0.005f, 0.08f);
  for (const bool units : {false, true}) {
    if (units) format.water = water;
    write(folder / "v.dcm", format);
    const DicomFile file(folder / "v_00004.dcm");
    const double slope = file.number(0x00281053, "DS").value(),
                 intercept = file.number(0x00281052, "DS").value();
    EXPECT_EQ(file.text(0x00281054), units ? "HU" : "US");
    const std::vector<std::int16_t> stored = stored_in(folder / "v_00004.dcm");
    for (std::size_t k = 0; k < 20; ++k)
      EXPECT_NEAR(intercept + slope * stored[k], units ? 1000 * (ramp()[k] / water - 1) : ramp()[k], slope);
  }
}

TEST(DicomVolume, ComesBackAsAttenuation) {
  const TemporaryFolder folder;
  write(folder / "v.dcm", in_hounsfield());
  VolumeReader reader(folder / "v.dcm");
  EXPECT_EQ(reader.kind().name, "dicom");
  EXPECT_EQ(reader.shape(), shape);
  EXPECT_EQ(difference(*reader.place(), aside), "");
  EXPECT_EQ(reader.unit(), "1/mm");
  EXPECT_EQ(reader.recipe(), R"({"config":"size = 5"})");
  EXPECT_TRUE(reader.complete());
  std::vector<float> data(60);
  reader.read({0, 3}, data.data());
  for (std::size_t k = 0; k < data.size(); ++k) EXPECT_NEAR(data[k], ramp()[k], water / 2000) << k;
  std::vector<float> box(2);
  reader.read_box({.part = {Range{1, 2}, Range{3, 4}, Range{2, 4}}}, box.data());
  EXPECT_EQ(box, (std::vector(data.begin() + 37, data.begin() + 39)));
}

TEST(DicomVolume, HasTheSameNamesInEveryRunAndOthersForOtherSlicesAndVolumes) {
  const TemporaryFolder folder;
  write(folder / "a.dcm", format_with(-1, 2)), write(folder / "b.dcm", format_with(-1, 2));
  VolumeFormat other = format_with(-1, 2);
  other.made_by = "scan 1, options 3";
  write(folder / "c.dcm", other);
  const auto name = [&](const char* file, io::DicomTag tag) { return DicomFile(folder / file).text(tag); };
  constexpr io::DicomTag instance = 0x00080018, study = 0x0020000d, series = 0x0020000e, frame = 0x00200052;
  for (const io::DicomTag tag : {instance, study, series, frame}) {
    EXPECT_TRUE(name("a_00004.dcm", tag).starts_with("2.25."));
    EXPECT_LE(name("a_00004.dcm", tag).size(), 64u);
    EXPECT_EQ(name("a_00004.dcm", tag), name("b_00004.dcm", tag));
  }
  EXPECT_EQ(name("a_00004.dcm", series), name("a_00005.dcm", series));
  EXPECT_NE(name("a_00004.dcm", instance), name("a_00005.dcm", instance));
  EXPECT_NE(name("a_00004.dcm", series), name("c_00004.dcm", series));
  EXPECT_NE(name("a_00004.dcm", instance), name("c_00004.dcm", instance));
  EXPECT_EQ(name("a_00004.dcm", study), name("c_00004.dcm", study));  // one scan
  EXPECT_EQ(name("a_00004.dcm", 0x00020003), name("a_00004.dcm", instance));
}

TEST(DicomVolume, IsReplacedIfTandemWroteIt) {
  const TemporaryFolder folder;
  write(folder / "v.dcm", in_hounsfield());
  EXPECT_EQ(io::content_of(folder / "v_00004.dcm"), io::Content::volume);
  write(folder / "v.dcm", format_with(-1, 2));
  io::DicomText other;
  other.add(io::dicom_class, "UI", "1.2.840.10008.5.1.4.1.1.2");
  std::ofstream(folder / "v_00005.dcm", std::ios::binary) << other.file("1.2", "1.3");
  EXPECT_TRUE(
      says(refusal([&] { write(folder / "v.dcm", in_hounsfield()); }), {"v_00005.dcm", "--overwrite"}));
  write(folder / "v.dcm", in_hounsfield(), io::Replace::any);
  EXPECT_TRUE(VolumeReader(folder / "v.dcm").complete());
}

TEST(DicomVolume, ThatIsDamagedIsRefused) {
  const TemporaryFolder folder;
  write(folder / "v.dcm", in_hounsfield());
  const fs::path slice = folder / "v_00005.dcm";
  std::fstream(slice, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(DicomFile(slice).pixels()->offset)
      .put('!');
  VolumeReader reader(folder / "v.dcm");
  std::vector<float> data(60);
  EXPECT_TRUE(says(refusal([&] { reader.read({0, 3}, data.data()); }), {"v_00005.dcm", "checksum"}));
  fs::resize_file(slice, fs::file_size(slice) - 1);
  EXPECT_TRUE(says(refusal([&] { reader.read({0, 3}, data.data()); }), {"v_00005.dcm", "cut short"}));
}

TEST(DicomVolume, NeedsMillimetresAndIntegers) {
  const TemporaryFolder folder;
  EXPECT_TRUE(says(refusal([&] { write(folder / "v.dcm", {.type = VoxelType::uint16}); }),
                   {"v.dcm", "lengths in mm", "--pixel-size"}));
  EXPECT_TRUE(
      says(refusal([&] { write(folder / "v.dcm", {.place = aside}); }), {"no numbers of type float32"}));
  VolumeFormat units = in_hounsfield();
  EXPECT_TRUE(
      says(refusal([&] { write(folder / "v.tif", units); }), {"v.tif", "not Hounsfield units", ".dcm"}));
}

}  // namespace tandem::test
