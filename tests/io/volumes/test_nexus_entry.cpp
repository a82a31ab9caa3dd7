// HDF5 volumes as programs see them that read NeXus.

#include "../../../io/files/plain_file.hpp"
#include "../../../io/hdf5/hdf5.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::VolumeFormat;
using io::VoxelType;

namespace {

const io::VolumePlace aside{{{5, 4, 3}, {0.25, 0.5, 0.125}, {1, -2, 3}}, true, {9, 8, 7}, {2, 1, 4}};
constexpr Shape shape{3, 4, 5};

std::vector<float> ramp() {
  std::vector<float> data(3 * 4 * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 0.05f * static_cast<float>(i) - 1;
  return data;
}

void write_ramp(const fs::path& path, const VolumeFormat& format) {
  const auto writer = io::create_volume(path, shape, format, "{}");
  writer->write({0, 3}, ramp().data());
  writer->finish("{}");
}

}  // namespace

TEST(Nexus, EntryHasTheDataOfTheVolume) {
  const TemporaryFolder folder;
  VolumeFormat format{.type = VoxelType::uint8, .min = -1, .max = 1.55f, .place = aside};
  format.origin = {.file = "scan.h5", .title = "A tooth", .sample = "tooth 7", .energy_kev = 22.5};
  write_ramp(folder / "v.h5", format);
  const io::hdf5::File file = io::hdf5::File::open(folder / "v.h5");
  EXPECT_EQ(file.text("/entry/definition"), "NXtomoproc");
  EXPECT_EQ(file.text("/entry/title"), "A tooth");
  EXPECT_EQ(file.text("/entry/sample/name"), "tooth 7");
  EXPECT_EQ(file.text("/entry/reconstruction/program"), "tandem");
  EXPECT_EQ(file.text("/entry/reconstruction/parameters/raw_file"), "scan.h5");
  EXPECT_EQ(file.number("/entry/instrument/beam/incident_energy"), 22.5);
  EXPECT_FALSE(file.has("/entry/instrument/source"));  // nothing is known of it
  EXPECT_EQ(file.identity("/entry/data/data"), file.identity("/exchange/data"));
  const io::hdf5::DataSet data = file.data_set("/entry/data/data");
  EXPECT_EQ(data.number("offset"), -1);
  EXPECT_NEAR(*data.number("scaling"), 0.01, 1e-9);
  EXPECT_EQ(file.data_set("/entry/data/z").numbers(), (std::vector<double>{2.875, 3, 3.125}));
  EXPECT_EQ(file.data_set("/entry/data/y").numbers(), (std::vector<double>{-2.75, -2.25, -1.75, -1.25}));
  EXPECT_EQ(file.data_set("/entry/data/x").text("units"), "mm");
}

TEST(Nexus, OriginIsReadWhereScansHaveIt) {
  const TemporaryFolder folder;
  const auto scan = [&](const char* name, const std::vector<std::pair<std::string, std::string>>& texts,
                        const std::string& energy, double value, const std::string& unit) {
    io::Output output(folder / name, io::Content::volume);
    const io::PlainFile made = output.create(name);
    io::hdf5::File file = io::hdf5::File::create(made);
    for (const auto& [path, text] : texts) file.write_text(path, text);
    file.write_number(energy, value, unit);
    file.close();
    output.publish();
    return io::origin_of(folder / name);
  };
  const io::ScanOrigin dx =
      scan("dx.h5", {{"/measurement/sample/name", "stone"}, {"/measurement/instrument/source/name", "APS"}},
           "/measurement/instrument/monochromator/energy", 27, "keV");
  EXPECT_EQ(dx.file, "dx.h5");
  EXPECT_EQ(dx.sample, "stone");
  EXPECT_EQ(dx.source, "APS");
  EXPECT_EQ(dx.energy_kev, 27);
  EXPECT_EQ(dx.title, "");
  const io::ScanOrigin nx =
      scan("nx.h5", {{"/entry1/tomo_entry/title", "bone\nand more"}, {"/entry1/tomo_entry/sample/name", "b"}},
           "/entry1/tomo_entry/instrument/beam/incident_energy", 12500, "eV");
  EXPECT_EQ(nx.title, "bone and more");
  EXPECT_EQ(nx.sample, "b");
  EXPECT_EQ(nx.energy_kev, 12.5);
  EXPECT_FALSE(scan("no.h5", {}, "/measurement/instrument/monochromator/energy", 27, "").energy_kev);
  EXPECT_EQ(io::origin_of(folder / "none.h5").file, "none.h5");
}

}  // namespace tandem::test
