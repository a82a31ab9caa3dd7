// No command writes into what it reads, whatever the name, the option or the link.

#include <gtest/gtest.h>

#include <map>

#include "../io/sample_files.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

/// A scan, a volume of 3 slices of it, and files that lead to them.
class NoSource : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    const Program& run = *program;
    write_data_exchange(run / "part.h5");
    for (const char* name : {"scan.h5", "flat.h5", "dark.h5"}) fs::copy_file(run / "part.h5", run / name);
    for (const char* name : {"volume.h5", "volume.tif"})
      ASSERT_EQ(run("simulate -o unused.h5 --size 16 --views 4 --rows 3 --truth " + std::string(name)).code,
                0);
    write_lines(run / "angles.txt", {"0", "45", "90", "135"});
    fs::create_directory(run / "images");
    for (int k = 0; k < 4; ++k)
      write_tiff_pages(run / "images" / ("view_" + std::to_string(k) + ".tif"), {frames(k, 1)});
    Hdf5Maker(run / "external.h5").external_link("/exchange", "part.h5", "/exchange");
    Hdf5Maker(run / "virtual.h5")
        .stitched("/exchange/data", "u16", {views, rows, bins}, views, {{"part.h5", "/exchange/data"}})
        .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
    std::ofstream(run / "pixels.raw") << std::string(views * rows * bins, 'x');
    Hdf5Maker(run / "raw.h5")
        .raw("/exchange/data", "u8", {views, rows, bins}, run / "pixels.raw")
        .numbers("/exchange/theta", "f64", {views}, {0, 45, 90, 135});
    Hdf5Maker(run / "external_volume.h5").external_link("/exchange", "volume.h5", "/exchange");
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  static std::map<std::string, std::string> all_files() {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(*program / "."))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("."))
        files[fs::relative(entry.path(), *program / ".").string()] = text_of(entry.path());
    return files;
  }

  /// `output` is an option without its value: the name of `source`, and in turn a hard or a symbolic link.
  static void refuses(const std::string& command, const std::string& output, const std::string& source) {
    static bool hard = false;
    hard = !hard;
    const std::string link =
        "link" + (output == "--preview" ? ".png" : fs::path(source).extension().string());
    hard ? fs::create_hard_link(*program / source, *program / link)
         : fs::create_symlink(source, *program / link);
    const auto before = all_files();
    for (const std::string& name : {"./" + source, link}) {
      const std::string line = command + ' ' + output + " '" + name + "' --overwrite --quiet";
      const Ended run = (*program)(line);
      EXPECT_EQ(run.code, 2) << line << '\n' << run.out << run.err;
      EXPECT_NE(run.err.find("would overwrite"), std::string::npos) << line << '\n' << run.err;
      EXPECT_TRUE(all_files() == before) << line;
      EXPECT_EQ(program->left_of(".tandem"), 0) << line;
    }
    fs::remove(*program / link);
  }

  static Program* program;
};
Program* NoSource::program = nullptr;

/// A command that reads `input` with these options, and a file that it reads so.
struct Reading {
  std::string options, source;
};

const std::vector<Reading> readings{
    {"scan.h5", "scan.h5"},
    {"images --arc 180", "images/view_1.tif"},
    {"images/view_2.tif --arc 180", "images/view_2.tif"},
    {"external.h5", "part.h5"},
    {"virtual.h5", "part.h5"},
    {"raw.h5", "pixels.raw"},
    {"scan.h5 --flats flat.h5", "flat.h5"},
    {"scan.h5 --flats flat.h5 --flats external.h5", "part.h5"},
    {"scan.h5 --flats images", "images/view_0.tif"},
    {"scan.h5 --darks dark.h5", "dark.h5"},
    {"scan.h5 --darks virtual.h5", "part.h5"},
    {"scan.h5 --angles angles.txt", "angles.txt"},
    {"scan.h5 --angles 'angles.txt[0:4]'", "angles.txt"},
};

TEST_F(NoSource, OfAScanIsAReport) {
  for (const Reading& reading : readings)
    for (const char* command : {"info ", "center ", "recon -o out.h5 "})
      refuses(command + reading.options, "--json", reading.source);
}

TEST_F(NoSource, OfAScanIsAVolumeOrAPreview) {
  for (const Reading& reading : readings) {
    refuses("recon -o out.h5 " + reading.options, "--preview", reading.source);
    if (reading.source.ends_with(".h5")) refuses("recon " + reading.options, "-o", reading.source);
  }
}

TEST_F(NoSource, OfAnotherVolumeIsAnything) {
  for (const Reading& reading : {Reading{"volume.h5", "volume.h5"},
                                 {"external_volume.h5", "volume.h5"},
                                 {"volume.tif", "volume_00002.tif"},
                                 {"volume.tif", "volume.tif.manifest"},
                                 {"volume_00001.tif", "volume_00000.tif"}}) {
    for (const char* option : {"--truth ", "--reconstruction-algorithm sirt --initial "}) {
      const std::string recon = "recon scan.h5 " + (option + reading.options);
      refuses(recon + " -o out.h5", "--json", reading.source);
      refuses(recon + " -o out.h5", "--preview", reading.source);
      if (reading.source.ends_with(".h5")) refuses(recon, "-o", reading.source);
    }
    refuses("project " + reading.options + " -o out.h5", "--json", reading.source);
    if (reading.source.ends_with(".h5")) refuses("project " + reading.options, "-o", reading.source);
    refuses("info " + reading.options, "--json", reading.source);
  }
}

TEST_F(NoSource, OfAGeometryIsAnything) {
  for (const Reading& reading : {Reading{"--like virtual.h5", "part.h5"}, {"--like scan.h5", "scan.h5"}}) {
    refuses("project volume.h5 " + reading.options, "-o", reading.source);
    refuses("project volume.h5 -o out.h5 " + reading.options, "--json", reading.source);
  }
  refuses("project volume.h5 -o out.h5 --angles angles.txt", "--json", "angles.txt");
  refuses("simulate -o out.h5 --angles angles.txt", "--json", "angles.txt");
}

/// A TIFF volume whose slices would lie over, or among, what is read.
TEST_F(NoSource, IsReplacedBySlices) {
  const auto before = all_files();
  for (const char* line :
       {"recon images --arc 180 -o images/view.tif", "recon images --arc 180 -o images/new.tif",
        "recon scan.h5 --truth volume.tif -o volume.tif",
        "recon scan.h5 --truth volume_00001.tif -o volume.tif",
        "recon scan.h5 --reconstruction-algorithm sirt --initial volume.tif -o ./volume.tif",
        "simulate -o out.h5 --size 16 --angles volume_00001.tif --truth volume.tif"}) {
    const Ended run = (*program)(line + std::string(" --overwrite --quiet"));
    EXPECT_EQ(run.code, 2) << line << '\n' << run.err;
    EXPECT_NE(run.err.find("would overwrite"), std::string::npos) << line << '\n' << run.err;
    EXPECT_TRUE(all_files() == before) << line;
  }
}

}  // namespace
}  // namespace tandem::test
