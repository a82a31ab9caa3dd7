// Folders of TIFF images as a user has them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

/// Two words of a shell, so that a test for the administrator sees what others see.
std::string as_anybody() {
  return ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
}

TEST(TiffFolderProgram, WorksInAFolderWithBracketsInItsName) {
  Program run;
  const std::filesystem::path folder = run / "[run1]";
  std::filesystem::create_directories(folder / "[a]");
  std::ofstream angles(folder / "angles.txt");
  for (int k = 0; k < 12; ++k) {
    angles << 15 * k << '\n';
    write_tiff_pages(folder / "[a]" / ("scan_" + std::to_string(k) + ".tif"), {std::vector<double>(15, 50)});
  }
  angles << "no angle\n";
  angles.close();
  write_tiff_pages(folder / "[a]/flat_0.tif", {std::vector<double>(15, 100)});
  const std::string scan = "'[run1]/[a]' --flats '[run1]/[a]/flat_0.tif' --angles '[run1]/angles.txt[0:12]'";
  const Ended info = run("info " + scan + " --json '[run1]/info[1].json'");
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(run.json("[run1]/info[1].json")["geometry"]["views"], 12);
  for (const std::string volume : {"'[run1]/v[1].h5'", "'[run1]/v[1].tif'"}) {
    const Ended recon = run("recon " + scan + " -o " + volume + " --preview '[run1]/p[1].png'");
    EXPECT_EQ(recon.code, 0) << recon.err;
    EXPECT_EQ(run("project " + volume + " -o '[run1]/again.h5' --views 9").code, 0);
  }
  EXPECT_EQ(run("info " + scan + "]").code, 2);  // angles[0:12]]
}

TEST(TiffFolderProgram, WithoutPermissionIsOneLine) {
  Program run;
  const std::filesystem::path folder = run / "shut";
  std::filesystem::create_directory(folder);
  write_tiff_pages(folder / "scan_0.tif", {std::vector<double>(15, 50)});
  using std::filesystem::perms;
  std::filesystem::permissions(run / ".", perms::owner_all | perms::others_all);
  if (run("--version", as_anybody()).code != 0) GTEST_SKIP() << "nobody else may run the program here";
  for (const perms some : {perms::none, perms::owner_read | perms::others_read}) {
    std::filesystem::permissions(folder, some);
    for (const std::string command :
         {"info shut --arc 180", "info shut/scan_0.tif --arc 180", "recon shut --arc 180 -o v.h5",
          "recon scan.h5 --flats shut --arc 180 -o v.h5", "project shut/v_00000.tif -o s.h5"}) {
      if (command.starts_with("recon scan")) run("simulate -o scan.h5 --size 16 --views 4");
      const Ended ended = run(command, as_anybody());
      EXPECT_EQ(ended.code, 3) << command << ended.err;
      EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << command << ended.err;
      EXPECT_NE(ended.err.find("ermission"), std::string::npos) << command << ended.err;
    }
  }
  std::filesystem::permissions(folder, perms::owner_all);
}

TEST(TiffFolderProgram, TellsInfoAndReconWhatItLeavesOut) {
  Program run;
  std::filesystem::create_directory(run / "scan");
  for (const std::string name : {"v_1", "v_2", "v_10", "v_11", "dark_1"})
    write_tiff_pages(run / ("scan/" + name + ".tif"), {std::vector<double>(15, name == "dark_1" ? 5 : 50)});
  const std::string said = "note      1 image taken as darks by the name: dark_1.tif";
  const Ended info = run("info scan --arc 180");
  EXPECT_NE(info.out.find(said), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("the numbers 3, 4, 5, 6 and 3 more are missing"), std::string::npos) << info.out;
  const Ended recon = run("recon scan --arc 180 -o v.h5 --air-columns 0:2");
  EXPECT_EQ(recon.code, 0) << recon.err;
  EXPECT_NE(recon.err.find("taken as darks by the name: dark_1.tif"), std::string::npos) << recon.err;
}

}  // namespace
}  // namespace tandem::test
