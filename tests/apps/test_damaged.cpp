// Files that lie, or bring libhdf5 down: one line, exit code 3, nothing under the final name.

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "../../io/hdf5/hdf5.hpp"
#include "../io/sample_files.hpp"
#include "../support/test_data.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

/// One line with exit code 3 that names the file.
void fails(const Program& program, const std::string& arguments, const std::string& word) {
  const Ended run = program(arguments + " --quiet");
  EXPECT_EQ(run.code, 3) << arguments << '\n' << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_EQ(run.err.rfind("tandem: error: ", 0), 0u) << run.err;
  EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
  EXPECT_EQ(program.left_of("bad_"), 0) << arguments;
}

void fails_everywhere(const Program& program, const std::string& file, const std::string& word) {
  fails(program, "info " + file, word);
  fails(program, "recon " + file + " -o bad_.h5", word);
  fails(program, "center " + file, word);
  fails(program, "project " + file + " -o bad_.h5", word);
}

}  // namespace

TEST(Damaged, EveryFileIsOneLine) {
  const fs::path folder = test_data() / "damaged";
  if (!fs::exists(folder)) GTEST_SKIP() << "no damaged files";
  const Program program;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".md") continue;
    if (name == "crash_1_4210_nx.nxs") continue;  // a string far beyond its table: read by luck or not
    fails(program, "info '" + entry.path().string() + "'", name);
    fails(program, "recon '" + entry.path().string() + "' -o bad_.h5", name);
  }
}

/// No fault of the file: code 5.
TEST(Damaged, MemoryThatDoesNotSufficeIsNotOne) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more addresses than the limit leaves";
#endif
  const Program program;
  {
    const io::hdf5::Handle file(
        H5Fcreate((program / "many.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const io::hdf5::Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
        plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.id(), 1);
    H5Pset_alloc_time(plan.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(plan.id(), H5D_FILL_TIME_NEVER);  // a file with holes: 2 GB as doubles
    const std::array<hsize_t, 3> frames{views, rows, bins}, angles{250'000'000};
    for (const auto& [name, rank, extents] :
         {std::tuple{"/exchange/data", 3, frames}, {"/exchange/theta", 1, angles}}) {
      const io::hdf5::Handle space(H5Screate_simple(rank, extents.data(), nullptr), H5Sclose);
      const io::hdf5::Handle set(
          H5Dcreate2(file.id(), name, H5T_STD_U8LE, space.id(), links.id(), plan.id(), H5P_DEFAULT),
          H5Dclose);
      ASSERT_TRUE(set.valid());
    }
  }
  for (const char* command : {"info many.h5", "recon many.h5 -o bad_.h5 --device cpu", "center many.h5"}) {
    const Ended run = program(std::string(command) + " --quiet", "ulimit -v 1500000;");
    EXPECT_EQ(run.code, 5) << run.err;
    EXPECT_NE(run.err.find("many.h5: the host has no memory for its metadata"), std::string::npos) << run.err;
    EXPECT_EQ(program.left_of("bad_"), 0);
  }
}

TEST(Damaged, PipesAndDevicesAreRefused) {
  const Program program;
  ASSERT_EQ(::mkfifo((program / "pipe.h5").c_str(), 0600), 0);
  fails_everywhere(program, "pipe.h5", "pipe.h5: is a pipe or a device");
  fails_everywhere(program, "/dev/zero", "/dev/zero: is a pipe or a device");
  Hdf5Maker(program / "link.h5").external_link("/exchange/data", "pipe.h5", "/d");
  fails_everywhere(program, "link.h5", "links to pipe.h5, which cannot be opened");
}

/// No damage: its own file may be named like any other.
TEST(Damaged, VirtualDataOfTheirOwnFileAreRead) {
  const Program program;
  std::vector<double> transmissions;
  for (std::size_t i = 0; i < views * rows * bins; ++i)
    transmissions.push_back(1 / (1.0 + static_cast<double>(i % 7)));
  const auto write_scan = [&](const std::string& name, const std::string& set) {
    Hdf5Maker file(program / name);
    file.numbers(set, "f32", {views, rows, bins}, transmissions)
        .numbers("/exchange/data_white", "f32", {1, rows, bins}, std::vector<double>(rows * bins, 1))
        .numbers("/exchange/data_dark", "f32", {1, rows, bins}, std::vector<double>(rows * bins, 0))
        .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
    if (set != "/exchange/data")
      file.stitched("/exchange/data", "f32", {views, rows, bins}, views, {{program / name, set}});
  };
  write_scan("plain.h5", "/exchange/data");
  write_scan("self.h5", "/raw");
  ASSERT_EQ(program("recon plain.h5 -o plain_volume.h5 --size 8").code, 0);
  const Ended run = program("recon self.h5 -o volume.h5 --size 8 --truth plain_volume.h5 --json r.json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(program.json("r.json").at("quality").at("rmse"), 0);
}

TEST(Damaged, AbsentSourcesAndForeignFilesAreRefused) {
  const Program program;
  Hdf5Maker(program / "virtual.h5")
      .stitched("/exchange/data", "u16", {views, rows, bins}, views, {{"lost.h5", "/d"}})
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  fails_everywhere(program, "virtual.h5", "its source lost.h5 is missing");

  const TemporaryFolder elsewhere;
  std::ofstream(elsewhere / "secret") << std::string(views * rows * bins, 'x');
  Hdf5Maker(program / "raw.h5")
      .raw("/exchange/data", "u8", {views, rows, bins}, elsewhere / "secret")
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  fails_everywhere(program, "raw.h5", "secret, outside the file's folder");
  EXPECT_EQ(program("info raw.h5 --allow-external-files").code, 0);
}

/// Each command whose message names the option has it.
TEST(Damaged, ForeignFilesAreReadWhereAllowed) {
  const Program program;
  const TemporaryFolder elsewhere;
  ASSERT_EQ(program("simulate -o scan.h5 --truth truth.h5 --size 16 --bins 16 --rows 3 --views 8").code, 0);
  std::vector<float> voxels(3 * 16 * 16);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(i % 7);
  std::ofstream(elsewhere / "voxels", std::ios::binary)
      .write(reinterpret_cast<const char*>(voxels.data()), static_cast<std::streamsize>(4 * voxels.size()));
  Hdf5Maker(program / "volume.h5").raw("/exchange/data", "f32", {3, 16, 16}, elsewhere / "voxels");
  Hdf5Maker(program / "marked.h5")
      .raw("/exchange/data", "f32", {3, 16, 16}, elsewhere / "voxels")
      .attribute("/exchange/data", "description", "ReconData");
  std::ofstream(elsewhere / "pixels") << std::string(views * rows * bins, 'x');
  Hdf5Maker(program / "raw.h5")
      .raw("/exchange/data", "u8", {views, rows, bins}, elsewhere / "pixels")
      .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
  const std::string recon =
      "recon scan.h5 -o bad_.h5 --reconstruction-algorithm sirt --iterations 1 --rotation-axis 7.5";
  const std::vector<std::string> commands{"project volume.h5 -o bad_.h5 --views 4",
                                          "project truth.h5 -o bad_.h5 --like raw.h5",
                                          recon + " --truth volume.h5",
                                          recon + " --initial volume.h5",
                                          "info marked.h5",
                                          "center raw.h5"};
  for (const std::string& command : commands) {
    fails(program, command, "--allow-external-files");
    const Ended run = program(command + " --allow-external-files");
    EXPECT_EQ(run.err.find("outside the file's folder"), std::string::npos) << run.err;
    const bool fits = command.find("raw.h5") == std::string::npos;  // the pixels of raw.h5 are no scan's
    EXPECT_TRUE(run.code == 0 || !fits) << command << run.err;
    fs::remove(program / "bad_.h5");
  }
}

}  // namespace tandem::test
