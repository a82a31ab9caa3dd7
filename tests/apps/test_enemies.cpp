// Files may be anybody's: they decide voxels, and nothing else.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "../../io/volumes/volume_file.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

class Enemies : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o scan.h5 --size 24 --bins 24 --views 20 --rows 4 --quiet").code, 0);
    write("angles.txt", [] {
      std::string lines;
      for (int view = 0; view < 20; ++view) lines += std::to_string(9 * view) + "\n";
      return lines;
    }());
    write("secret.txt", secret + ":x:0:0\n");
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  static void write(const std::string& name, const std::string& text) {
    std::ofstream(*program / name, std::ios::binary) << text;
  }
  /// A volume of a stranger, with this recipe.
  static void forge(const std::string& name, const nlohmann::json& recipe) {
    fs::remove(*program / name);
    const std::vector<float> voxels(8);
    const auto writer = io::create_volume(*program / name, {2, 2, 2}, {}, recipe.dump());
    writer->write({0, 2}, voxels.data());
    writer->finish("{}");
  }
  static nlohmann::json recipe_of(const std::string& config) {
    return {{"version", "0.2.0"}, {"config", config}};
  }
  /// Expects one line, and nothing of a file that was never meant.
  static std::string fails(const std::string& arguments, int code, std::initializer_list<const char*> words,
                           const std::string& before = "") {
    const Ended run = (*program)(arguments + " --quiet", before);
    EXPECT_EQ(run.code, code) << arguments << '\n' << run.err;
    for (const char* word : words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in " << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.err.find(secret), std::string::npos) << run.err;
    EXPECT_EQ(program->left_of("new_"), 0) << arguments;
    return run.err;
  }
  static void succeeds(const std::string& arguments) {
    const Ended run = (*program)(arguments + " --quiet");
    EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
  }

  static inline const std::string secret = "hunter2";
  static Program* program;
};
Program* Enemies::program = nullptr;

TEST_F(Enemies, InAVolumeDecideNothingButVoxels) {
  write(".bashrc", "precious");
  for (const std::string line :
       {"log = \"new_log\"", "json = \"new_json\"", "preview = \"new_p.png\"", "save-config = \"new_c\"",
        "checkpoint = \"new_k\"", "serve = 0", "part-of = \"new_.h5\"", "overwrite = true",
        "allow-external-files = true", "resume = true", "threads = 4", "config = \"angles.txt\"",
        "log = \".bashrc\"\noverwrite = true\nflats = \"$(touch new_)\""}) {
    forge("stranger.h5", recipe_of("fbp-filter = \"hann\"\n" + line + "\n"));
    fails("recon scan.h5 -o new_v.h5 --like stranger.h5", 3, {"stranger.h5", "decides nothing of a volume"});
  }
  EXPECT_EQ(text_of(*program / ".bashrc"), "precious");
  for (const std::string line :
       {"angles = \"angles.txt\"", "view-shifts = \"angles.txt\"", "view-row-shifts = \"angles.txt\"",
        "row-axes = \"angles.txt\"", "flats = [\"scan.h5\"]", "darks = \"scan.h5\"", "initial = \"scan.h5\"",
        "beam-hardening = \"wedge:file=angles.txt\"", "beam-hardening = \"spectrum:file=angles.txt\"",
        "beam-hardening = \"WEDGE:FILE=angles.txt\"", "beam-hardening = \"Spectrum:file=angles.txt\"",
        "geometry = \"ANGLES.TXT\""}) {
    forge("stranger.h5", recipe_of(line + "\n"));
    fails("recon scan.h5 -o new_v.h5 --like stranger.h5", 3,
          {"stranger.h5: was made with --", "no file is read because a volume names it"});
  }
}

TEST_F(Enemies, AreNotNeededForWhatAUserMeans) {
  succeeds("recon scan.h5 -o made.h5 --angles angles.txt --fbp-filter hann");
  fails("recon scan.h5 -o new_v.h5 --like made.h5", 3, {"made.h5: was made with --angles FILE"});
  succeeds("recon scan.h5 -o again.h5 --like made.h5 --angles angles.txt");
  EXPECT_EQ(voxels(*program / "again.h5"), voxels(*program / "made.h5"));
  forge("flag.h5", recipe_of("overwrite = false\nfbp-filter = \"hann\"\n"));  // says nothing
  succeeds("recon scan.h5 --dry-run --like flag.h5");
}

TEST_F(Enemies, InAFileOfOptionsNeitherWriteNorServe) {
  for (const std::string line :
       {"log = \"new_log\"", "json = \"new_json\"", "preview = \"new_p.png\"", "save-config = \"new_c\"",
        "checkpoint = \"new_k\"", "serve = 0", "part-of = \"new_.h5\"", "overwrite = true",
        "allow-external-files = true", "resume = true"}) {
    write("stranger.toml", "fbp-filter = \"hann\"\n" + line + "\n");
    fails("recon scan.h5 --dry-run --config stranger.toml", 2,
          {"stranger.toml: line 2: --", "is not taken from a file"});
  }
  write("stranger.toml", "truth = \"new_t.h5\"\n");
  fails("simulate -o new_s.h5 --config stranger.toml", 2, {"--truth is not taken from a file"});
  write("mine.toml", "threads = 1\nmemory = 1\nangles = \"angles.txt\"\n");
  succeeds("recon scan.h5 --dry-run --config mine.toml");
}

TEST_F(Enemies, SeeNothingOfAFileThatIsNoData) {
  for (const std::string option : {"--angles ", "--view-shifts ", "--view-row-shifts ", "--row-axes ",
                                   "--beam-hardening wedge:file=", "--beam-hardening spectrum:file="})
    fails("recon scan.h5 -o new_v.h5 " + option + "secret.txt", 3, {"secret.txt: line 1"});
  fails("recon scan.h5 -o new_v.h5 --config secret.txt", 2, {"secret.txt: line 1: is not TOML"});
  for (const std::string& text : {"[" + secret + "]\n", "= " + secret + "\n", secret + " = \"open\n",
                                  "size = [" + secret + "\n", "size = 'a' " + secret + "\n"}) {
    write("other.txt", text);
    fails("recon scan.h5 -o new_v.h5 --config other.txt", 2, {"other.txt: line"});
  }
  for (const std::string name : {"none", "secret.txt", ".", "/dev/zero", "/dev/null"})
    fails("recon scan.h5 -o new_v.h5 --config " + name,
          name == "secret.txt"  ? 2
          : name == "/dev/null" ? 3
                                : 3,
          {});
}

TEST_F(Enemies, WhoseJsonIsNestedOrMistypedAreRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const auto refused = [&](const std::string& recipe, int code) {
    fs::remove(*program / "stranger.h5");
    const std::vector<float> voxels(8);
    const auto writer = io::create_volume(*program / "stranger.h5", {2, 2, 2}, {}, recipe);
    writer->write({0, 2}, voxels.data());
    writer->finish("{}");
    const Ended run = (*program)("recon scan.h5 --dry-run --quiet --like stranger.h5");
    EXPECT_EQ(run.code, code) << recipe.substr(0, 100) << '\n' << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), code == 0 ? 0 : 1) << run.err;
  };
  refused(deep, 3);
  refused("{\"config\":\"\",\"version\":\"0\",\"device\":" + deep + "}", 3);
  refused("{\"config\":[],\"version\":\"0\"}", 3);
  refused("{\"config\":\"\",\"version\":7}", 3);
  refused("[\"config\"]", 3);
  refused("{\"config\":\"size = [[[[\",\"version\":\"0\"}", 3);
  refused("{\"config\":\"no-such-option = 1\",\"version\":\"0\"}", 3);
  for (const char* volume : {"7", "[]", "{\"shape\":7}", "{\"shape\":[1e99,2,2]}", "{\"shape\":[\"a\",2,2]}"})
    refused(std::string("{\"config\":\"\",\"version\":\"0\",\"volume\":") + volume + "}", 0);
  refused("{\"config\":\"\",\"version\":\"\xff\",\"device\":\"\xff\"}", 3);
}

TEST_F(Enemies, OfAFlagSayTrueOrFalse) {
  const auto planned = [&](const std::string& value) {
    write("flag.toml", "allow-unmatched = " + value + "\n");
    const Ended run = (*program)("recon scan.h5 --dry-run --quiet --config flag.toml --json flag.json");
    return std::pair(run.code, run.err);
  };
  for (const char* yes : {"true", "1", "\"True\"", "\"yes\"", "\"on\""}) {
    EXPECT_EQ(planned(yes).first, 0) << yes;
    write("both.toml", std::string("nonnegative = ") + yes + "\n");
    const Ended run = (*program)("recon scan.h5 --dry-run --config both.toml");  // not of fbp
    EXPECT_EQ(run.code, 0) << yes;
    EXPECT_NE(run.err.find("note: --config both.toml: left out, as"), std::string::npos) << run.err;
  }
  for (const char* no : {"false", "0", "\"False\"", "\"no\"", "\"off\""}) {
    write("both.toml", std::string("nonnegative = ") + no + "\n");
    EXPECT_EQ((*program)("recon scan.h5 --dry-run --config both.toml --quiet").code, 0) << no;
  }
  for (const char* other : {"2", "\"maybe\"", "\"\"", "[true, true]", "[]"}) {
    const auto [code, err] = planned(other);
    EXPECT_EQ(code, 2) << other;
    EXPECT_NE(err.find("line 1: allow-unmatched is a flag"), std::string::npos) << err;
  }
}

TEST_F(Enemies, ReplaceOnlyTheirOwnKind) {
  succeeds("recon scan.h5 -o own.h5 --preview own.png --json own.json --log own.log --save-config own.toml");
  succeeds("report own.json -o own.html");
  const std::vector<std::pair<std::string, std::string>> kinds{
      {"own.h5", "a volume"}, {"own.png", "a picture"}, {"own.json", "a report"},
      {"own.log", "a log"},   {"own.toml", "a recipe"}, {"own.html", "a page"}};
  for (const auto& [name, what] : kinds) {
    const std::string before = text_of(*program / name);
    for (const std::string option : {"--log ", "--json ", "--preview ", "--save-config ", "--checkpoint "}) {
      const bool same =
          (option == "--log " && name == "own.log") || (option == "--json " && name == "own.json") ||
          (option == "--preview " && name == "own.png") || (option == "--save-config " && name == "own.toml");
      if (same) continue;
      const std::string solver =
          option == "--checkpoint " ? " --reconstruction-algorithm sirt --iterations 1" : "";
      fails("recon scan.h5 -o new_v.h5 " + option + name + solver, 3,
            {(name + ": is there already, and is " + what + " of tandem").c_str(), "--overwrite"});
      EXPECT_EQ(text_of(*program / name), before) << option << name;
    }
  }
  succeeds("info scan.h5 --pixel-size 0.5 --write-geometry own.geom");
  fails("info scan.h5 --pixel-size 0.5 --write-geometry own.png", 3,
        {"own.png: is there already, and is a picture", "--overwrite"});
  fails("recon scan.h5 -o new_v.h5 --log own.geom", 3,
        {"own.geom: is there already, and is a geometry of tandem"});
  succeeds("info scan.h5 --pixel-size 0.5 --write-geometry own.geom");
  succeeds("simulate -o other.h5 --size 16 --views 8");
  fails("recon scan.h5 -o other.h5", 3, {"other.h5: is there already, and is a scan", "--overwrite"});
  fails("simulate -o own.h5 --size 16", 3, {"own.h5: is there already, and is a volume", "--overwrite"});
  write("lock.h5", "");  // a file of another program
  fails("recon scan.h5 -o lock.h5", 3, {"lock.h5", "--overwrite"});
  EXPECT_EQ(fs::file_size(*program / "lock.h5"), 0u);
  succeeds("recon scan.h5 -o lock.h5 --overwrite");
}

TEST_F(Enemies, CannotLeadALogElsewhere) {
  succeeds("recon scan.h5 --dry-run --log real.log");
  const std::string before = text_of(*program / "real.log");
  fs::create_symlink("real.log", *program / "link.log");
  fs::create_symlink("new_nothing", *program / "dangling.log");
  fails("recon scan.h5 --dry-run --log link.log", 3, {"link.log: is a link"});
  fails("recon scan.h5 --dry-run --log dangling.log", 3, {"dangling.log: is a link"});
  EXPECT_EQ(text_of(*program / "real.log"), before);
}

TEST_F(Enemies, CannotNameAFileThatLeadsElsewhere) {
  fs::create_directories(*program / "in/deep");
  for (const char* name : {"in/deep/...h5", "in/deep/{folder}.h5", "in/deep/{time}.h5"})
    fs::copy_file(*program / "scan.h5", *program / name);
  succeeds("recon in/deep/...h5 scan.h5 -o 'in/{name}_v.h5'");
  EXPECT_TRUE(program->has("in/...h5_v.h5")) << "a scan called ...h5";
  fs::create_directories(*program / "in/...h5");
  succeeds("recon in/deep/...h5 -o 'in/{name}/v.h5'");
  EXPECT_TRUE(program->has("in/...h5/v.h5") && !program->has("v.h5"));
  succeeds("recon 'in/deep/{folder}.h5' 'in/deep/{time}.h5' -o 'in/{name}-{folder}.h5'");
  EXPECT_TRUE(program->has("in/{folder}-deep.h5") && program->has("in/{time}-deep.h5"));
  fs::create_directories(*program / "in/deep/work");
  const Ended inside = (*program)("recon ../scan.h5 -o '{folder}_v.h5' --quiet", "cd in; mkdir -p .; true;");
  EXPECT_EQ(inside.code, 0) << inside.err;
  EXPECT_FALSE(program->has("in/.._v.h5"));
}

TEST_F(Enemies, GiveOneDocumentForSeveralScans) {
  fs::copy_file(*program / "scan.h5", *program / "second.h5", fs::copy_options::overwrite_existing);
  const Ended run = (*program)("recon scan.h5 none.h5 second.h5 -o '{name}_v.h5' --json - --quiet");
  EXPECT_EQ(run.code, 3) << run.err;
  const nlohmann::json all = nlohmann::json::parse(run.out, nullptr, false);
  ASSERT_TRUE(all.is_array()) << run.out.substr(0, 200);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["output"], "scan_v.h5");
  EXPECT_EQ(all[1]["output"], "second_v.h5");
}

TEST_F(Enemies, AsPipesAndDevicesHaveAnEnd) {
  ASSERT_EQ(::mkfifo((*program / "pipe").c_str(), 0600), 0);
  for (const std::string option : {"--angles ", "--view-shifts ", "--row-axes ", "--config "}) {
    fails("recon scan.h5 --dry-run " + option + "pipe", 3, {"pipe"});
    fails("recon scan.h5 --dry-run " + option + "/dev/zero", 3, {"/dev/zero"});
  }
  fails("recon scan.h5 -o new_v.h5 --json pipe", 3, {"pipe: the report cannot be written: nobody reads"});
  const Ended piped =
      (*program)("recon scan.h5 -o piped.h5 --json pipe --quiet & sleep 1; cat pipe > got; wait $!");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(program->json("got")["output"], "piped.h5");
  ASSERT_EQ(::mkfifo((*program / "t.tif.manifest").c_str(), 0600), 0);
  fails("recon scan.h5 -o t.tif", 3, {"t.tif.manifest"});
}

TEST_F(Enemies, AsPartsOfAnotherScanOrRecipeAreNotJoined) {
  succeeds("simulate -o rival.h5 --size 24 --bins 24 --views 20 --rows 4 --seed 3 --photons 1e3");
  succeeds("recon scan.h5 --part-of p.h5 --slices 0:2");
  for (const std::string other :
       {"recon rival.h5", "recon scan.h5 --fbp-filter hann", "recon scan.h5 --rotation-axis 9"})
    fails(other + " --part-of p.h5 --slices 2:4", 3,
          {"p_00000-00002.h5: is a part of p.h5", "of another scan, or was made with other options"});
  EXPECT_FALSE(program->has("p_00002-00004.h5"));
  succeeds("recon scan.h5 --part-of p.h5 --slices 2:4 --threads 1");
  EXPECT_NE((*program)("info p.h5").out.find("complete  yes"), std::string::npos);
  succeeds("recon scan.h5 -o s.tif --slices 0:2");
  fails("recon rival.h5 -o s.tif --slices 2:4", 3,
        {"slices 0:2 of another grid, scan or recipe", "--overwrite"});
  fails("recon scan.h5 -o s.tif --slices 2:4 --fbp-filter hann", 3, {"of another grid, scan or recipe"});
  succeeds("recon scan.h5 -o s.tif --slices 2:4");
  EXPECT_NE((*program)("info s.tif").out.find("complete  yes"), std::string::npos);
}

/// Two parts that were written at the same time, or by hand, are not joined either.
TEST_F(Enemies, AsPartsAreComparedWhenTheyAreJoined) {
  fs::create_directories(*program / "a");
  fs::create_directories(*program / "b");
  succeeds("recon scan.h5 --part-of a/j.h5 --slices 0:2");
  succeeds("recon scan.h5 --part-of b/j.h5 --slices 2:4 --fbp-filter hann");
  fs::copy_file(*program / "b/j_00002-00004.h5", *program / "a/j_00002-00004.h5");
  const Ended run = (*program)("recon scan.h5 --part-of a/j.h5 --slices 0:2 --quiet");
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("other options"), std::string::npos) << run.err;
  EXPECT_NE((*program)("info a/j.h5").out.find("complete  no"), std::string::npos);
}

TEST_F(Enemies, AsClocksOfACpuEndInOrder) {
  const Ended run = (*program)(
      "recon scan.h5 -o new_v.h5 --size 128 --reconstruction-algorithm sirt --iterations 1000000 --quiet",
      "ulimit -S -t 2;");
  EXPECT_EQ(run.code, 128 + SIGXCPU) << run.err;
  EXPECT_NE(run.err.find("interrupted by SIGXCPU"), std::string::npos) << run.err;
  EXPECT_EQ(program->left_of("new_"), 0);
}

TEST_F(Enemies, WithFewAnglesForAGrowingScanAreRefused) {
  fs::create_directory(*program / "views");
  succeeds("recon scan.h5 -o views/s.tif --slices 4");  // four images
  write("two.txt", "0\n90\n");
  fails("recon views --follow --angles two.txt -o new_v.h5 --minus-log false", 4,
        {"two.txt: 2 angles for a scan that has"});
}

}  // namespace
}  // namespace tandem::test
