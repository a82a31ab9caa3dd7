// Projections of DICOM-CT-PD: where cells and sources are, by the formulas of the manual, and what is
// refused.

#include "../../../geometry/vector3.hpp"
#include "../../../io/files/dicom.hpp"
#include "../../support/ct_pd.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

namespace {

Vector3 on_cylinder(double rho, double phi, double z) {
  return {-rho * std::sin(phi), rho * std::cos(phi), z};
}

/// A cell by the manual, rows and columns from 1.
Vector3 cell_of(const CtPd& p, int row, int column) {
  const Vector3 focal = on_cylinder(p.rho, p.phi, 0), ray = on_cylinder(-1, p.phi, 0),
                along{std::cos(p.phi), std::sin(p.phi), 0}, up{0, 0, 1};
  const double aside = (column - double{p.column}) * p.width, turn = aside / p.distance;
  const Vector3 level = p.shape == "FLAT" ? p.distance * ray + aside * along
                                          : p.distance * (std::cos(turn) * ray + std::sin(turn) * along);
  return focal + level + (p.z - (row - double{p.row}) * p.height) * up;
}

Vector3 source_of(const CtPd& p) {
  return on_cylinder(double{p.rho} + p.d_rho, double{p.phi} + p.d_phi, double{p.z} + p.d_z);
}

double angle_between(const Vector3& a, const Vector3& b) {
  return std::atan2(length(cross(a, b)), dot(a, b));
}

/// The greatest angle, in columns, by which a view misses the ray to a cell.
double missed(const FlexibleBeam& scan, const CtPd& p) {
  const FlexibleView& view = scan.views.front();
  double most = length(view.source - source_of(p));
  for (int row = 1; row <= 3; ++row)
    for (int column = 1; column <= 5; ++column)
      most = std::max(most, angle_between(point_on(scan, view, row - 2, column - 3) - view.source,
                                          cell_of(p, row, column) - source_of(p)) *
                                p.distance / p.width);
  return most;
}

std::unique_ptr<io::ScanReader> opened(const TemporaryFolder& folder, const CtPd& one) {
  fs::remove_all(folder / "s");
  write_projections(folder / "s", 2, one);
  return io::open_scan(folder / "s");
}

void write_elements(const fs::path& path, const DicomElements& elements) {
  save_bytes(path, dicom_bytes(elements, explicit_vr));
}

}  // namespace

TEST(CtPd, PlacesSourceAndCellsAsTheManualDoes) {
  const TemporaryFolder folder;
  for (const char* shape : {"CYLINDRICAL", "FLAT"}) {
    const CtPd p{.shape = shape};
    const auto reader = opened(folder, p);
    const auto& scan = std::get<FlexibleBeam>(reader->info().scan);
    EXPECT_EQ(scan.curved, p.shape == "CYLINDRICAL");
    EXPECT_EQ(scan.views.size(), 2u);
    EXPECT_LT(missed(scan, p), 1e-5) << shape;
  }
}

TEST(CtPd, TakesASourceThatFlies) {
  const TemporaryFolder folder;
  const CtPd p{.d_phi = 0.002f, .d_z = -0.3f, .d_rho = 1.5f};
  const auto reader = opened(folder, p);
  const auto& scan = std::get<FlexibleBeam>(reader->info().scan);
  EXPECT_LT(missed(scan, p), 0.02);
  const CtPd still{};
  EXPECT_GT(missed(scan, still), 0.1);
}

TEST(CtPd, LiesInTheFrameOfThePatient) {
  const TemporaryFolder folder;
  const Vector3 at = source_of({});
  const std::map<std::string, Vector3> signs{
      {"HFS", {1, -1, -1}}, {"FFS", {-1, -1, 1}}, {"HFP", {-1, 1, -1}}, {"FFP", {1, 1, 1}}, {"", {1, 1, 1}}};
  for (const auto& [position, sign] : signs) {
    const auto reader = opened(folder, {.position = position});
    const Vector3 source = std::get<FlexibleBeam>(reader->info().scan).views.front().source;
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(source[i], sign[i] * at[i], 1e-9) << position;
    EXPECT_EQ(notes_of(reader->info()).find("is not known") != std::string::npos, position.empty());
  }
}

TEST(CtPd, IsReadAsLineIntegrals) {
  const TemporaryFolder folder;
  for (const bool turned : {true, false}) {
    const auto reader = opened(folder, {.turned = turned});
    EXPECT_TRUE(reader->info().line_integrals);
    EXPECT_EQ(reader->info().format, "DICOM-CT-PD");
    EXPECT_TRUE(says(notes_of(reader->info()), {"line integrals", "--hu 0.0192"}));
    const io::Frames frames = reader->read(io::FrameKind::projection, {1, 2}, {1, 3}, {2, 5});
    EXPECT_EQ(values(frames), (std::vector{50., 50.5, 51., 100., 100.5, 101.})) << turned;
  }
}

TEST(CtPd, IsReadWithoutVRsAndBehindSequences) {
  const TemporaryFolder folder;
  DicomElements elements = CtPd{}.elements();
  const std::string item = little(0xfffe, 2) + little(0xe000, 2),
                    end = little(0xfffe, 2) + little(0xe00d, 2) + little(0, 4),
                    over = little(0xfffe, 2) + little(0xe0dd, 2) + little(0, 4), open = little(0xffffffff, 4);
  std::string bytes = dicom_bytes({}, implicit_vr);
  for (const auto& [tag, element] : elements) {
    if (tag == 0x00185100)  // a sequence within another, neither with a length
      bytes += little(0x0012, 2) + little(0x0064, 2) + open + item + open + little(0x0008, 2) +
               little(0x0100, 2) + open + item + little(4, 4) + "abcd" + over + end + over;
    bytes += element_bytes(tag, element.first, element.second, false);
  }
  fs::create_directory(folder / "s");
  for (const char* name : {"p_1.dcm", "p_2.dcm"}) save_bytes(folder / "s" / name, bytes);
  const auto reader = io::open_scan(folder / "s");
  EXPECT_LT(missed(std::get<FlexibleBeam>(reader->info().scan), {}), 1e-5);
}

TEST(CtPd, RefusesWhatItCannotPlace) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::function<void(DicomElements&)>& change, bool in_all = false) {
    write_projections(folder / "s", 2);
    DicomElements elements = CtPd{}.elements();
    change(elements);
    write_elements(folder / "s" / "p_1.dcm", elements);
    if (in_all) write_elements(folder / "s" / "p_2.dcm", elements);
    return refusal_of(folder / "s");
  };
  using E = DicomElements;
  EXPECT_TRUE(says(refused([](E& e) { e.erase(0x70311003); }),
                   {"p_1.dcm", "DetectorFocalCenterRadialDistance = missing"}));
  EXPECT_TRUE(says(refused([](E& e) { e[0x7029100b].second = "SPHERICAL"; }), {"DetectorShape = SPHERICAL"}));
  EXPECT_TRUE(says(refused([](E& e) {
                     e[0x7037100a] = {"CS", "PARALLEL"};
                   }),
                   {"TypeofProjectionGeometry = PARALLEL"}));
  EXPECT_TRUE(says(refused([](E& e) { e[0x70391009].second = "NO"; }), {"LogFlag = NO"}));
  EXPECT_TRUE(
      says(refused([](E& e) { e[0x0020000e].second = "2.25.2"; }), {"SeriesInstanceUID", "one scan"}));
  EXPECT_TRUE(says(refused([](E& e) {
                     e[0x70331063] = {"US", little(2, 2)};
                   }),
                   {"SpectrumIndex = ", "one spectrum"}));
  EXPECT_TRUE(says(refused([](E& e) { e[0x70311031].second = little(0x7fc00000, 4); }),
                   {"ConstantRadialDistance = nan"}));
  EXPECT_TRUE(says(refused(
                       [](E& e) {  // a detector of 300 columns, and a source far before its focal centre
                         e[0x70291011].second = e[0x00280010].second = little(300, 2);
                         e[0x70291002].second = packed_bytes<float>({0.5f});
                         e[0x70311033].second = packed_bytes<float>({150.5f, 2});
                         e[0x7033100d].second = packed_bytes<float>({-60});
                         e[0x7fe00010].second = std::string(1800, '\0');
                       },
                       true),
                   {"columns off a detector"}));
  EXPECT_TRUE(says(refused([](E& e) { e[0x7fe00010].second.resize(28); }),
                   {"has 28 bytes of pixels; 30 are needed"}));
  EXPECT_TRUE(
      says(refused([](E& e) { e[0x00280010].second = little(4, 2); }), {"has an image of 4 x 3 pixels"}));
  EXPECT_TRUE(says(refused([](E& e) { e.erase(0x7fe00010); }), {"holds no pixels"}));
  EXPECT_TRUE(says(refused([](E& e) { e[0x00280008] = {"IS", "2"}; }), {"several projections"}));
}

TEST(CtPd, SaysWhatOtherFilesAre) {
  const TemporaryFolder folder;
  DicomElements image = CtPd{}.elements();
  image.erase(0x70291010);
  write_elements(folder / "a.dcm", image);
  EXPECT_TRUE(says(refusal_of(folder / "a.dcm"), {"a.dcm: is a CT image of DICOM", "DICOM-CT-PD"}));
  image[0x00080016].second = "1.2.840.10008.5.1.4.1.1.7";
  write_elements(folder / "a.dcm", image);
  EXPECT_TRUE(says(refusal_of(folder / "a.dcm"), {"is a secondary capture"}));
  save_bytes(folder / "a.dcm", dicom_bytes(image, "1.2.840.10008.1.2.4.70"));
  EXPECT_TRUE(says(refusal_of(folder / "a.dcm"), {"is a secondary capture, packed by JPEG (", ".4.70"}));
  save_bytes(folder / "a.dcm", dicom_bytes(image, "1.2.840.10008.1.2.2"));
  EXPECT_TRUE(says(refusal_of(folder / "a.dcm"), {"big endian"}));
  save_bytes(folder / "one.dcm", CtPd{}.bytes());
  EXPECT_TRUE(says(refusal_of(folder / "one.dcm"), {"is one projection of a scan; give the folder"}));
}

TEST(Dicom, ThatIsDamagedIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = CtPd{}.bytes();
  for (const std::size_t length : {140u, 170u, 200u, 500u}) {
    save_bytes(folder / "a.dcm", whole.substr(0, std::min(length, whole.size() - 20)));
    EXPECT_TRUE(says(refusal([&] { io::DicomFile(folder / "a.dcm"); }), {"a.dcm", "cut short"})) << length;
  }
  std::string deep = dicom_bytes({}, implicit_vr);
  for (int k = 0; k < 40; ++k)
    deep += little(0x0012, 2) + little(0x0064, 2) + "\xff\xff\xff\xff" + little(0xfffe, 2) +
            little(0xe000, 2) + "\xff\xff\xff\xff";
  save_bytes(folder / "a.dcm", deep);
  EXPECT_TRUE(says(refusal([&] { io::DicomFile(folder / "a.dcm"); }), {"sequences within sequences"}));
  std::string many = dicom_bytes({}, implicit_vr);
  for (int k = 0; k < 100'001; ++k) many += little(0x0009, 2) + little(0x0010, 2) + little(0, 4);
  save_bytes(folder / "a.dcm", many);
  EXPECT_TRUE(says(refusal([&] { io::DicomFile(folder / "a.dcm"); }), {"more than 100000 elements"}));
}

TEST(Dicom, NumbersFitIntoSixteenLetters) {
  const TemporaryFolder folder;
  io::DicomText text;
  const std::vector<double> values{-0.1234567890123456789, 1e-300 / 3, -2e10 / 3, 0.025, -1e22};
  text.add(0x00200032, values);
  save_bytes(folder / "a.dcm", text.file("1.2", "1.3"));
  const io::DicomFile file(folder / "a.dcm");
  std::istringstream words(file.text(0x00200032));
  for (std::string word; std::getline(words, word, '\\');) EXPECT_LE(word.size(), 16u) << word;
  const std::vector<double> back = file.numbers(0x00200032, "DS");
  ASSERT_EQ(back.size(), values.size());
  for (std::size_t k = 0; k < back.size(); ++k) EXPECT_NEAR(back[k] / values[k], 1, 1e-9);
}

}  // namespace tandem::test
