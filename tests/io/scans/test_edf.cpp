// EDF files, as scans, as flats and darks, and damaged.

#include <fstream>

#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::PixelType;

namespace {

const io::OpenOptions half_turn{.arc_deg = 180};

std::vector<std::vector<double>> images(std::size_t count) {
  std::vector<std::vector<double>> all;
  for (std::size_t k = 0; k < count; ++k) all.push_back(frames(k, 1));
  return all;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void save(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// The sample with a piece of its text replaced by another of the same length or any.
std::string refused_with(const TemporaryFolder& folder, const std::string& from, const std::string& to) {
  write_edf(folder / "s.edf", images(2));
  std::string bytes = content(folder / "s.edf");
  bytes.replace(bytes.find(from), from.size(), to);
  save(folder / "s.edf", bytes);
  return refusal_of(folder / "s.edf", half_turn);
}

}  // namespace

struct EdfType {
  const char* name;
  PixelType type;
};

class EdfNumbers : public ::testing::TestWithParam<std::tuple<EdfType, bool, std::size_t>> {};

TEST_P(EdfNumbers, AreReadExactly) {
  const auto& [number, high, header] = GetParam();
  const TemporaryFolder folder;
  write_edf(folder / "s.edf", images(3),
            {.type = number.name, .high_byte_first = high, .header_bytes = header});
  const auto reader = io::open_scan(folder / "s.edf", half_turn);
  EXPECT_EQ(reader->info().format, "EDF stack");
  EXPECT_EQ(reader->info().type, number.type);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 3));
  const io::Frames part = reader->read(FrameKind::projection, {1, 3}, {1, 2}, {2, 5});
  EXPECT_EQ(values(part), (std::vector<double>{pixel(1, 1, 2), pixel(1, 1, 3), pixel(1, 1, 4), pixel(2, 1, 2),
                                               pixel(2, 1, 3), pixel(2, 1, 4)}));
}

INSTANTIATE_TEST_SUITE_P(All, EdfNumbers,
                         ::testing::Combine(::testing::Values(EdfType{"UnsignedByte", PixelType::uint8},
                                                              EdfType{"SignedByte", PixelType::float32},
                                                              EdfType{"UnsignedShort", PixelType::uint16},
                                                              EdfType{"SignedShort", PixelType::float32},
                                                              EdfType{"UnsignedInteger", PixelType::uint32},
                                                              EdfType{"UnsignedLong", PixelType::uint32},
                                                              EdfType{"SignedInteger", PixelType::float32},
                                                              EdfType{"SignedLong", PixelType::float32},
                                                              EdfType{"Unsigned64", PixelType::float32},
                                                              EdfType{"Signed64", PixelType::float32},
                                                              EdfType{"FloatValue", PixelType::float32},
                                                              EdfType{"DoubleValue", PixelType::float32}),
                                            ::testing::Bool(), ::testing::Values(512u, 1024u, 4096u)));

TEST(Edf, KeepsTheSignOfNumbers) {
  const TemporaryFolder folder;
  for (const char* type :
       {"SignedByte", "SignedShort", "SignedInteger", "Signed64", "FloatValue", "DoubleValue"}) {
    std::vector<double> some = frames(0, 1);
    for (double& value : some) value -= 9;
    write_edf(folder / "s.edf", {some, some}, {.type = type, .high_byte_first = true});
    EXPECT_EQ(
        values(
            io::open_scan(folder / "s.edf", half_turn)->read(FrameKind::projection, {1, 2}, {0, 3}, {0, 5})),
        some)
        << type;
  }
}

TEST(Edf, OfOneImageIsASinogram) {
  const TemporaryFolder folder;
  write_edf(folder / "s.edf", images(1));
  const auto reader = io::open_scan(folder / "s.edf", half_turn);
  EXPECT_EQ(reader->info().format, "EDF sinogram");
  EXPECT_EQ(angles_of(reader->info().scan).size(), 3u);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 1));
}

TEST(Edf, HeadersNeedNotBeInBlocks) {
  const TemporaryFolder folder;
  const std::string odd =
      "{\r\nDim_1 = 2;\r\nByteOrder=HighByteFirst ;\r\nDATATYPE = UnsignedByte ; \r\n} \r\n";
  save(folder / "s.edf", "\n{\nDim_1 = 2 ;\ndim_2=2;\nDataType = UnsignedByte ;\nTitle = {a } b} ;\n}\nabcd");
  EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection),
            (std::vector<double>{97, 98, 99, 100}));
  save(folder / "t.edf",
       odd.substr(0, odd.size() - 3) + "\r\nAB" + odd.substr(0, odd.size() - 3) + "\nCD\n \n");
  EXPECT_EQ(all_of(*io::open_scan(folder / "t.edf", half_turn), FrameKind::projection),
            (std::vector<double>{65, 66, 67, 68}));
}

TEST(Edf, SkipsAGeneralBlockAndReadsAnAxisOfImages) {
  const TemporaryFolder folder;
  std::string pixels;
  for (int k = 0; k < 12; ++k) pixels += static_cast<char>(k);
  save(folder / "s.edf",
       "{\nEDF_DataFormatVersion = 2.40 ;\n}\n{\nDim_1 = 3 ;\nDim_2 = 2 ;\nDim_3 = 2 ;\n"
       "DataType = UnsignedByte ;\n}\n" +
           pixels);
  const auto reader = io::open_scan(folder / "s.edf", half_turn);
  EXPECT_EQ(angles_of(reader->info().scan).size(), 2u);
  EXPECT_EQ(all_of(*reader, FrameKind::projection),
            (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

namespace {

/// A header of 512 bytes for images of the sample, and the pixels of images behind it.
std::string block_of(const std::string& more, std::size_t first, std::size_t count) {
  std::string bytes =
      "{\nByteOrder = HighByteFirst ;\nDataType = UnsignedShort ;\nDim_1 = 5 ;\nDim_2 = 3 ;\n" + more;
  bytes.resize(510, ' ');
  bytes += "}\n";
  for (const double value : frames(first, count))
    for (const int shift : {8, 0}) bytes += static_cast<char>(static_cast<int>(value) >> shift & 0xff);
  return bytes;
}

}  // namespace

TEST(Edf, OfOneHeaderHasAsManyImagesAsFillItsSize) {
  const TemporaryFolder folder;
  for (const char* key : {"Size", "EDF_BinarySize"}) {
    save(folder / "s.edf", block_of(std::string(key) + " = 150 ;\n", 1, 5));
    EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection), frames(1, 5))
        << key;
    save(folder / "s.edf", block_of(std::string(key) + " = 150 ;\n", 1, 4));
    EXPECT_TRUE(says(refusal_of(folder / "s.edf", half_turn), {"s.edf: Size = 150 bytes for pixels of 150"}));
  }
  save(folder / "s.edf", block_of("Size = 60 ;\n", 1, 2) + block_of("Size = 90 ;\n", 3, 3));
  EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection), frames(1, 5));
}

TEST(Edf, BlocksMayBePaddedAlsoTheLastOne) {
  const TemporaryFolder folder;
  for (const std::size_t size : {60u, 512u}) {  // 60: as long as two images, but nothing is in it
    const std::string fill(size - 30, '\0'), header = "Size = " + std::to_string(size) + " ;\n";
    const std::string two = block_of(header, 0, 1) + fill + block_of(header, 1, 1);
    for (const std::string& end : {fill, fill.substr(0, 9), std::string()}) {
      save(folder / "s.edf", two + end);
      EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection), frames(0, 2))
          << size << ' ' << end.size();
    }
    save(folder / "s.edf", two.substr(0, two.size() - 1));
    EXPECT_TRUE(says(refusal_of(folder / "s.edf", half_turn), {"cut short"}));
  }
}

TEST(Edf, HeaderEndsWhereItsSizeSays) {
  const TemporaryFolder folder;
  const std::string pixels = block_of("", 1, 2).substr(512);
  for (const std::string& fill : {std::string(512, ' '), std::string(512, '\0')}) {
    save(folder / "s.edf", block_of("EDF_HeaderSize = 1024 ;\nSize = 60 ;\n", 1, 0) + fill + pixels);
    EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection), frames(1, 2));
  }
  save(folder / "s.edf", block_of("EDF_HeaderSize = 1024 ;\nSize = 60 ;\n", 1, 2));  // as fabio reads it
  EXPECT_EQ(all_of(*io::open_scan(folder / "s.edf", half_turn), FrameKind::projection), frames(1, 2));
}

TEST(Edf, FolderIsAStackWithItsFlatsAndDarks) {
  const TemporaryFolder folder;
  for (int k = 0; k < 12; ++k)
    write_edf(folder / ("s_" + std::to_string(k) + ".edf"), {frames(static_cast<std::size_t>(k), 1)});
  write_edf(folder / "refHST0000.edf", {frames(30, 1)}, {.type = "FloatValue"});
  write_edf(folder / "dark.edf", {frames(40, 1)});
  const auto reader = io::open_scan(folder.path(), half_turn);
  EXPECT_EQ(reader->info().format, "EDF stack");
  EXPECT_EQ(reader->info().type, PixelType::uint16);
  EXPECT_EQ(all_of(*reader, FrameKind::projection), frames(0, 12));
  EXPECT_EQ(all_of(*reader, FrameKind::flat), frames(30, 1));
  EXPECT_EQ(all_of(*reader, FrameKind::dark), frames(40, 1));
}

TEST(Edf, FolderMayHaveSeveralImagesAFile) {
  const TemporaryFolder folder;
  write_edf(folder / "s_0.edf", {frames(0, 1), frames(1, 1)});
  write_edf(folder / "s_1.edf", {frames(2, 1), frames(3, 1)});
  write_edf(folder / "s_2.edf", {frames(4, 1)});
  EXPECT_EQ(all_of(*io::open_scan(folder.path(), half_turn), FrameKind::projection), frames(0, 5));
  write_edf(folder / "s_1.edf", {frames(2, 1)});
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn), {"s_1.edf: holds 1 images; 2 are needed"}));
}

TEST(Edf, FolderOfTwoFormatsIsTwoSeries) {
  const TemporaryFolder folder;
  for (const std::string k : {"0", "1", "2"}) {
    write_edf(folder / ("s_" + k + ".edf"), {frames(0, 1)});
    write_tiff_pages(folder / ("s_" + k + ".tif"), {frames(0, 1)});
  }
  EXPECT_TRUE(says(refusal_of(folder.path(), half_turn), {"several series"}));
}

TEST(Edf, MayBeTheFlatsOfAnyScan) {
  const TemporaryFolder folder;
  write_data_exchange(folder / "scan.h5");
  write_edf(folder / "more.edf", images(2));
  io::OpenOptions options;
  options.flats = {folder / "more.edf"};
  EXPECT_EQ(io::open_scan(folder / "scan.h5", options)->info().flats, 4);
}

TEST(BadEdf, SaysInOneLineWhatIsWrong) {
  const TemporaryFolder folder;
  const auto with = [&](const char* from, const char* to) { return refused_with(folder, from, to); };
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_1 = 0"), {"s.edf: dim_1 = 0; a whole number from 1"}));
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_1 = -5"), {"s.edf: dim_1 = -5"}));
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_1 = 5.5"), {"s.edf: dim_1 = 5.5"}));
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_1 = 99999999999999999999"), {"s.edf: dim_1 = 9999"}));
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_1 = 1000000000000"), {"s.edf: claims 3 x 1000000000000 pixels"}));
  EXPECT_TRUE(says(with("Dim_2 = 3", "Dim_3 = 1099511627776"), {"s.edf: claims 1099511627776 x 1 x 5"}));
  EXPECT_TRUE(says(with("Dim_1 = 5", "Dim_9 = 5"), {"s.edf: no header begins at byte 512"}));
  EXPECT_TRUE(says(with("Size = 30", "Size = 28"), {"s.edf: Size = 28 bytes for pixels of 30"}));
  EXPECT_TRUE(says(with("Size = 30", "Size = 9999"), {"s.edf: Size = 9999 bytes"}));
  EXPECT_TRUE(says(with("Size = 30", "Size = 32"), {"s.edf: image 1: no header begins"}));
  EXPECT_TRUE(says(with("UnsignedShort", "Complex"), {"s.edf: DataType = complex; integers"}));
  EXPECT_TRUE(says(with("LowByteFirst", "Middle"), {"s.edf: ByteOrder = middle; LowByteFirst"}));
  EXPECT_TRUE(says(with("Image = 1 ;", "Compression = GzipCompression ;"), {"s.edf: is packed"}));
  EXPECT_TRUE(
      says(with("Image = 1 ;", "EDF_BinaryFileName = a.raw ;"), {"s.edf: its pixels are in another file"}));
}

TEST(BadEdf, CutAnywhereIsRefused) {
  const TemporaryFolder folder;
  write_edf(folder / "whole.edf", images(2));
  const std::string bytes = content(folder / "whole.edf");
  ASSERT_EQ(bytes.size(), 2u * (512 + 30));
  for (std::size_t length : {513u, 541u, 543u, 600u, 1053u, 1055u, 1083u}) {
    save(folder / "s.edf", bytes.substr(0, length));
    EXPECT_TRUE(says(refusal_of(folder / "s.edf", half_turn), {"s.edf:", "cut short"})) << length;
  }
  save(folder / "s.edf", "{ HeaderID = " + std::string(3 << 20, 'x'));
  EXPECT_TRUE(
      says(refusal_of(folder / "s.edf", half_turn), {"the header at byte 0 does not end within 1048576"}));
}

TEST(BadEdf, FirstImageOfAFolderThatIsNoneIsRefused) {  // found by the fuzzer
  const TemporaryFolder folder;
  for (const char* name : {"s_0.edf", "s_1.edf", "s_2.edf"}) write_edf(folder / name, images(1));
  for (const std::string bytes : {"", "no header", "{ }\n"}) {
    save(folder / "s_0.edf", bytes);
    EXPECT_TRUE(says(refusal_of(folder.path(), half_turn),
                     {"s_0.edf: is no image; TIFF, EDF, NumPy, MRC or DICOM-CT-PD is needed"}));
  }
}

TEST(BadEdf, OneThatChangesIsRefused) {
  const TemporaryFolder folder;
  write_edf(folder / "s.edf", images(2));
  const auto reader = io::open_scan(folder / "s.edf", half_turn);
  fs::resize_file(folder / "s.edf", 900);
  EXPECT_TRUE(says(refusal([&] { all_of(*reader, FrameKind::projection); }), {"s.edf", "had 1084 bytes"}));
}

}  // namespace tandem::test
