// Integer types whose range is found in the volume, and formats by the names of outputs.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../io/volumes/volume_file.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

class Numbers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o scan.h5 --size 33 --views 37 --rows 40 --photons 1e4").code, 0);
    ASSERT_EQ((*program)("recon scan.h5 -o floats.h5 --quiet").code, 0);
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  static std::string fails(const std::string& arguments, int code, std::initializer_list<const char*> words) {
    const Ended run = (*program)(arguments + " --quiet");
    EXPECT_EQ(run.code, code) << arguments << '\n' << run.err;
    for (const char* word : words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in " << run.err;
    return run.err;
  }
  static Ended succeeds(const std::string& arguments) {
    Ended run = (*program)(arguments);
    EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
    return run;
  }
  static std::vector<float> voxels(const std::string& name) {
    io::VolumeReader volume(*program / name);
    const Shape n = volume.shape();
    std::vector<float> all(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    volume.read({0, n[0]}, all.data());
    return all;
  }

  static Program* program;
};
Program* Numbers::program = nullptr;

TEST_F(Numbers, OfIntegersFindTheirRangeAndSayIt) {
  const std::vector<float> floats = voxels("floats.h5");
  for (const std::string type : {"uint8", "uint16"}) {
    const Ended run = succeeds("recon scan.h5 -o found.h5 --json found.json --dtype " + type);
    const nlohmann::json numbers = program->json("found.json")["numbers"];
    const float min = numbers["min"], max = numbers["max"];
    EXPECT_EQ(numbers["type"], type);
    EXPECT_EQ(numbers["found"], true);
    EXPECT_NE(run.out.find("numbers   " + type + " from "), std::string::npos) << run.out;
    const auto [lowest, highest] = std::minmax_element(floats.begin(), floats.end());
    EXPECT_LT(max - min, 1.2f * (*highest - *lowest));
    EXPECT_EQ(numbers["clipped_below"],
              std::count_if(floats.begin(), floats.end(), [&](float v) { return v < min; }));
    EXPECT_EQ(numbers["clipped_above"],
              std::count_if(floats.begin(), floats.end(), [&](float v) { return v > max; }));
    // half a step, and the rounding of floats near the largest voxel
    const float step = (max - min) / (type == "uint8" ? 255.f : 65535.f),
                tolerance = 0.5f * step + 1e-6f * max;
    const std::vector<float> stored = voxels("found.h5");
    for (std::size_t i = 0; i < floats.size(); ++i)
      ASSERT_NEAR(stored[i], std::clamp(floats[i], min, max), tolerance) << type << ' ' << i;
  }
}

TEST_F(Numbers, HaveOneRangeWhateverTheChunksAndTheFormat) {
  succeeds("recon scan.h5 -o whole.h5 --dtype uint8 --json whole.json --quiet");
  const nlohmann::json whole = program->json("whole.json");
  ASSERT_GT(whole["chunk_slices"], 1);
  // as little memory as a few slices need: several chunks, and a look at some slices first
  const auto chunks_of = [&](double memory) {
    const Ended run =
        (*program)("recon scan.h5 -o parts.h5 --dtype uint8 --json parts.json --quiet --memory " +
                   std::to_string(memory));
    return run.code == 0 ? program->json("parts.json")["chunk_slices"].get<int>() : 0;
  };
  double memory = whole["memory_bytes"].get<double>() / (1 << 30);
  int rows = 40;
  while (rows >= 40) rows = chunks_of(memory *= 0.99);
  ASSERT_GT(rows, 0);
  const nlohmann::json parts = program->json("parts.json");
  EXPECT_GT(parts["numbers"]["seconds"], 0.0);
  for (const char* key : {"min", "max", "clipped_below", "clipped_above"})
    EXPECT_EQ(parts["numbers"][key], whole["numbers"][key]) << key;
  EXPECT_EQ(parts["floored"], whole["floored"]);
  EXPECT_EQ(voxels("parts.h5"), voxels("whole.h5"));
  for (const char* name : {"v.tif", "v.btf"}) {
    succeeds(std::string("recon scan.h5 --dtype uint8 --quiet -o ") + name);
    EXPECT_EQ(voxels(name), voxels("whole.h5")) << name;
  }
}

TEST_F(Numbers, AreReplayedWithTheRangeThatWasFound) {
  succeeds("recon scan.h5 -o first.h5 --dtype uint16 --save-config range.toml --json first.json --quiet");
  const std::string text = text_of(*program / "range.toml");
  EXPECT_NE(text.find("\nrange = \""), std::string::npos) << text;
  succeeds("recon scan.h5 -o second.h5 --config range.toml --json second.json --quiet");
  EXPECT_EQ(program->json("second.json")["numbers"]["found"], false);
  EXPECT_EQ(program->json("second.json")["numbers"]["max"], program->json("first.json")["numbers"]["max"]);
  EXPECT_EQ(voxels("second.h5"), voxels("first.h5"));
  succeeds("recon scan.h5 -o third.h5 --like first.h5 --quiet");
  EXPECT_EQ(voxels("third.h5"), voxels("first.h5"));
}

TEST_F(Numbers, AreCompletedByResumeWithTheSameRange) {
  succeeds(
      "recon scan.h5 -o one.h5 --reconstruction-algorithm sirt --iterations 200 --size 99 --dtype uint16 "
      "--quiet");
  const auto within = [](int mebibytes) {
    return "recon scan.h5 --reconstruction-algorithm sirt --iterations 200 --size 99 --dtype uint16 --quiet "
           "-o new_.h5 --memory " +
           std::to_string(mebibytes / 1024.0);
  };
  int least = 40;  // what a slice at a time takes depends on the machine
  while ((*program)(within(least) + " --dry-run").code == 5) ++least;
  const std::string recon = within(least + 1);  // what a process holds before the work differs by some pages
  const Ended killed =
      (*program)(recon +
                     " & p=$!; until grep -qs done: .new_.h5.tandem/*.journal || ! kill -0 $p; "
                     "do sleep 0.01; done; kill -KILL $p; wait $p",
                 "true;");
  ASSERT_NE(killed.code, 5) << killed.err;
  if (killed.code != 137) GTEST_SKIP() << "the run had ended before it was killed: " << killed.err;
  succeeds(recon + " --resume --json r.json");
  EXPECT_FALSE(program->json("r.json")["resumed"].empty());
  EXPECT_EQ(voxels("new_.h5"), voxels("one.h5"));
}

TEST_F(Numbers, OutsideOfAGivenRangeAreCountedAndWarnedOf) {
  const Ended run = succeeds("recon scan.h5 -o narrow.h5 --dtype uint8 --range 0:0.001 --json narrow.json");
  EXPECT_NE(run.err.find("% of all voxels are outside of --range 0:0.001"), std::string::npos) << run.err;
  EXPECT_GT(program->json("narrow.json")["numbers"]["clipped_above"], 40);
}

TEST_F(Numbers, WithoutARangeAreRefusedWhereItCannotBeFound) {
  fails("recon scan.h5 --part-of p.h5 --slices 0:2 --dtype uint8", 2, {"--part-of", "--range LOW:HIGH"});
  fails("recon scan.h5 -o v.h5 --dtype uint8 --follow", 2, {"--follow", "--range LOW:HIGH"});
  fails("recon scan.h5 -o v.h5 --dtype uint8 --range 1:1", 2, {"--range '1:1' is not LOW:HIGH"});
  fails("recon scan.h5 -o v.h5 --range 0:1", 2, {"--range goes with --dtype uint16 or uint8"});
}

TEST_F(Numbers, FormatsFollowFromNamesOrAreGiven) {
  for (const std::string name : {"f.btf", "f.nrrd", "f.mha", "f.zarr"}) {
    succeeds("recon scan.h5 --quiet -o " + name);
    EXPECT_TRUE(program->has(name)) << name;
    succeeds("recon scan.h5 --quiet -o " + name);  // replaces its own
  }
  succeeds("recon scan.h5 --quiet -o named --save-format bigtiff");
  EXPECT_TRUE(program->has("named.btf"));
  EXPECT_NE(succeeds("info named.btf").out.find("volume, BigTIFF"), std::string::npos);
  succeeds("recon scan.h5 --quiet -o again.h5 --truth named.btf --json again.json");
  EXPECT_EQ(program->json("again.json")["quality"]["rmse"], 0);
  succeeds("project named.btf -o projected.h5 --views 5 --quiet");
  fails("recon scan.h5 -o v.h5 --save-format zarr", 2, {"--save-format zarr does not go with the name v.h5"});
  fails("recon scan.h5 -o v.png", 2, {"-o v.png: the ending names no format", ".zarr or .dcm is needed"});
  fails("recon scan.h5 -o v.nrrd --dtype float16", 2, {"--dtype float16 does not go with NRRD"});
  fails("recon scan.h5 -o v.mha --compression zstd", 2, {"--compression"});
  fails("recon scan.h5 -o v.h5 --ome-zarr 0.5", 2, {"--ome-zarr goes with OME-Zarr"});
  succeeds("recon scan.h5 --quiet -o n.zarr --ome-zarr 0.5");
  succeeds("recon scan.h5 --quiet -o again.h5 --truth n.zarr --json again.json");
  EXPECT_EQ(program->json("again.json")["quality"]["rmse"], 0);
  EXPECT_TRUE(program->has("n.zarr/zarr.json"));
  for (const std::string name : {"p.btf", "p.nrrd", "p.zarr"})
    fails("recon scan.h5 --slices 0:2 --part-of " + name, 2, {"--part-of", "has no parts"});
}

TEST_F(Numbers, OfDicomAreSixteenBitsAndMayBeHounsfieldUnits) {
  succeeds("simulate -o mm.h5 --size 40 --views 30 --rows 4 --pixel-size 1 --max-attenuation 2 --quiet");
  succeeds("recon mm.h5 -o floats.h5 --quiet");
  succeeds("recon mm.h5 -o s.dcm --truth floats.h5 --json s.json --quiet");
  EXPECT_TRUE(program->has("s_00003.dcm") && program->has("s.dcm.manifest"));
  EXPECT_EQ(program->json("s.json")["numbers"]["type"], "uint16");
  EXPECT_NE(succeeds("info s.dcm").out.find("volume, DICOM"), std::string::npos);
  succeeds("recon mm.h5 -o u.dcm --hu 0.02 --quiet");
  succeeds("recon mm.h5 -o again.h5 --truth u.dcm --json u.json --quiet");
  EXPECT_LT(program->json("u.json")["quality"]["rmse"], 0.02 / 1000);  // a unit
  succeeds("recon mm.h5 -o same.dcm --like u.dcm --quiet");
  const auto pixels_of = [&](const char* name) {
    const std::string bytes = text_of(*program / name);
    return bytes.substr(bytes.size() - 2 * 40 * 40);
  };
  EXPECT_EQ(pixels_of("same_00002.dcm"), pixels_of("u_00002.dcm"));
  for (const char* part : {"0:2", "2:4"})
    succeeds(std::string("recon mm.h5 --part-of p.dcm --hu 0.02 --quiet --slices ") + part);
  EXPECT_NE(succeeds("info p.dcm").out.find("complete  yes"), std::string::npos);
  fails("recon mm.h5 -o v.h5 --hu 0.02", 2, {"--hu goes with DICOM", ".dcm"});
  fails("recon mm.h5 -o v.dcm --dtype float32", 2, {"--dtype float32 does not go with DICOM"});
  fails("recon mm.h5 -o v.dcm --hu -1", 2, {"--hu"});
  fails("recon scan.h5 -o v.dcm", 3, {"v.dcm", "lengths in mm", "--pixel-size"});
}

TEST_F(Numbers, AZarrOfOthersIsLeftAlone) {
  fs::create_directories(*program / "mine.zarr/0");
  std::ofstream(*program / "mine.zarr/.zgroup") << "{}";
  std::ofstream(*program / "mine.zarr/0/0.0") << "precious";
  fails("recon scan.h5 -o mine.zarr", 3, {"mine.zarr: is there already", "--overwrite"});
  EXPECT_EQ(text_of(*program / "mine.zarr/0/0.0"), "precious");
  succeeds("recon scan.h5 -o mine.zarr --overwrite --quiet");
  EXPECT_FALSE(program->has("mine.zarr/0/0.0"));
  EXPECT_TRUE(program->has("mine.zarr/0/39/0/0"));
  fs::create_directory(*program / "folder.zarr");
  std::ofstream(*program / "folder.zarr/letter.txt") << "precious";
  fails("recon scan.h5 -o folder.zarr --overwrite", 3, {"folder.zarr", "did not write it"});
  EXPECT_EQ(text_of(*program / "folder.zarr/letter.txt"), "precious");
  fails("recon scan.h5 -o new_.zarr --minus-log true:floored=0 --detector-rows :999", 4, {"999"});
  EXPECT_FALSE(program->has("new_.zarr"));
}

}  // namespace
}  // namespace tandem::test
