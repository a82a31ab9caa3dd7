// Recipes that replay a run, logs, and several scans at once.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "../../io/volumes/volume_file.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

class Recipes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o scan.h5 --size 33 --bins 41 --axis-bin 22.25 --views 37 --rows 3 "
                         "--photons 1e4")
                  .code,
              0);
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
  static void succeeds(const std::string& arguments) {
    const Ended run = (*program)(arguments + " --quiet");
    EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
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
Program* Recipes::program = nullptr;

TEST_F(Recipes, ReplayAVolumeBitForBit) {
  succeeds(
      "recon scan.h5 -o first.h5 --reconstruction-algorithm sirt --iterations 3 --initial fbp --fbp-filter "
      "hann "
      "--rotation-axis auto --binning 2 --size 15 --views 2: --nonnegative");
  succeeds("recon scan.h5 -o again.h5 --like first.h5 --threads 1");
  EXPECT_EQ(voxels("again.h5"), voxels("first.h5"));
  succeeds("recon scan.h5 -o slices.tif --like again.h5");
  EXPECT_EQ(voxels("slices.tif"), voxels("first.h5"));
  succeeds("recon scan.h5 -o more.h5 --like slices.tif");
  EXPECT_EQ(voxels("more.h5"), voxels("first.h5"));
  succeeds("recon scan.h5 -o other.h5 --like first.h5 --iterations 4");
  EXPECT_NE(voxels("other.h5"), voxels("first.h5"));
}

TEST_F(Recipes, AreSavedWithWhatWasFoundAndTheDefaultsThatWereTaken) {
  succeeds(
      "recon scan.h5 -o found.h5 --rotation-axis auto --fbp-cutoff 0.5 --save-config found.toml --json "
      "found.json");
  const std::string text = text_of(*program / "found.toml");
  EXPECT_EQ(text.rfind("# tandem ", 0), 0u) << text;
  std::ostringstream axis;
  axis.precision(17);
  axis << program->json("found.json")["geometry"]["axis_bin_taken"].get<double>();
  for (const std::string line :
       {"reconstruction-algorithm = \"fbp\"", "fbp-cutoff = 0.5", "fbp-filter = \"ramp\"",
        "dtype = \"float32\"", "binning = 1", "model = \"automatic\""})
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << " is not in\n" << text;
  const std::size_t at = text.find("\nrotation-axis = ");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(std::stod(text.substr(at + 17)), std::stod(axis.str()));
  for (const char* name : {"iterations", "scan", "output", "threads", "device", "json"})
    EXPECT_EQ(text.find(std::string("\n") + name + " = "), std::string::npos) << name;
  succeeds("recon scan.h5 -o replayed.h5 --config found.toml");
  EXPECT_EQ(voxels("replayed.h5"), voxels("found.h5"));
  // an option of the command line takes the place of those that it excludes
  succeeds("recon scan.h5 --dry-run --config found.toml --rotation-axis auto");
  succeeds("recon scan.h5 -o found.h5 --dry-run --config found.toml --save-config found.toml");
  EXPECT_EQ(text_of(*program / "found.toml"), text);
  std::ofstream(*program / "mine.toml") << "binning = 2\n";
  fails("recon scan.h5 --dry-run --save-config mine.toml", 3, {"mine.toml", "--overwrite"});
}

TEST_F(Recipes, KeepNamesAndTextsThatNeedQuotes) {
  const std::string name = "flat #1, \"old\" \\ it's.h5";
  fs::copy_file(*program / "scan.h5", *program / name);
  std::ofstream(*program / "angles #2.txt") << [] {
    std::string lines;
    for (int view = 0; view < 37; ++view) lines += std::to_string(5 * view) + "\n";
    return lines;
  }();
  succeeds(
      "recon scan.h5 --dry-run --angles 'angles #2.txt[0:37]' --region 0:33,0:30,1:3 --save-config q.toml");
  const std::string text = text_of(*program / "q.toml");
  EXPECT_NE(text.find("angles = \"angles #2.txt[0:37]\""), std::string::npos) << text;
  succeeds("recon scan.h5 --dry-run --config q.toml --json q.json");
  EXPECT_EQ(program->json("q.json")["volume"]["shape"], nlohmann::json({2, 30, 33}));
  std::ofstream(*program / "by_hand.toml")
      << "# mine\n\nfbp-filter = \"hann\"   # a word\narc = \"180,inclusive\"\n"
      << "flats = [ \"flat #1, \\\"old\\\" \\\\ it's.h5\",\n  'scan.h5' ]\n";
  succeeds("recon scan.h5 -o v.h5 --config by_hand.toml --save-config again.toml");
  const std::string again = text_of(*program / "again.toml");
  EXPECT_NE(again.find("\nflats = [\"flat #1, \\\"old\\\" \\\\ it's.h5\", \"scan.h5\"]\n"), std::string::npos)
      << again;
  EXPECT_NE(again.find("\narc = \"180,inclusive\"\n"), std::string::npos) << again;
  succeeds("recon scan.h5 -o w.h5 --config again.toml --save-config again.toml");
  EXPECT_EQ(text_of(*program / "again.toml"), again);
  EXPECT_EQ(voxels("w.h5"), voxels("v.h5"));
}

/// Each command takes what has a meaning there, and says in one note what it leaves out.
TEST_F(Recipes, ServeEveryCommand) {
  succeeds(
      "recon scan.h5 -o by_cgls.h5 --reconstruction-algorithm cgls --iterations 3 --dtype uint16 --range 0:1 "
      "--fbp-filter hann --initial fbp --detector-rows 0:2 --save-config cgls.toml --overwrite");
  succeeds(
      "recon scan.h5 -o by_fbp.h5 --fbp-filter hann --size 21 --detector-rows 0:2 --save-config fbp.toml");
  const auto left_out = [&](const std::string& command) {
    const Ended run = (*program)(command);
    EXPECT_EQ(run.code, 0) << command << run.err;
    const std::size_t note = run.err.find("left out, as");
    EXPECT_EQ(note, run.err.rfind("left out, as")) << run.err;
    return note == std::string::npos ? "" : run.err.substr(note, run.err.find('\n', note) - note);
  };
  for (const char* command :
       {"center scan.h5", "info scan.h5", "calibrate scan.h5 -o g.npy --pixel-size 0.1"}) {
    const std::string all = left_out(std::string(command) + " --config cgls.toml");
    EXPECT_NE(all.find("--iterations"), std::string::npos) << command << all;
    EXPECT_EQ(all.find("--detector-rows"), std::string::npos) << command << all;
  }
  EXPECT_EQ(left_out("recon scan.h5 -o a.h5 --config fbp.toml"), "");
  EXPECT_EQ(voxels("a.h5"), voxels("by_fbp.h5"));
  const std::string of_sirt = left_out(
      "recon scan.h5 -o a.h5 --overwrite --config fbp.toml --reconstruction-algorithm sirt --iterations 2");
  EXPECT_NE(of_sirt.find("--fbp-filter"), std::string::npos) << of_sirt;
  const std::string of_fbp = left_out(
      "recon scan.h5 -o a.h5 --overwrite --config cgls.toml --dtype float32 --reconstruction-algorithm fbp");
  for (const char* name : {"--iterations", "--initial", "--range"})
    EXPECT_NE(of_fbp.find(name), std::string::npos) << of_fbp;
  EXPECT_EQ(of_fbp.find("--fbp-filter"), std::string::npos) << of_fbp;
  left_out("recon scan.h5 --config cgls.toml --sweep rotation-axis=15:17:1");
  left_out("recon scan.h5 --config cgls.toml --compare fbp,sirt --preview p.png");
  EXPECT_EQ((*program)("info by_fbp.h5 --config cgls.toml").err,
            "tandem: note: by_fbp.h5 is a volume; options of files, which go with a scan, are left out\n");
}

TEST_F(Recipes, DoNotHideWhatIsTypedInVain) {
  succeeds("recon scan.h5 -o typed.h5 --fbp-filter hann --save-config typed.toml");
  fails("recon scan.h5 -o v.h5 --config typed.toml --iterations 3", 2, {"--iterations goes with"});
  fails("recon scan.h5 -o v.h5 --config typed.toml --dtype float32 --range 0:1", 2, {"--range goes with"});
  fails("center scan.h5 --fbp-filter hann", 2, {"option --fbp-filter is not known"});
}

/// What a recipe recorded for its method says nothing of another one.
TEST_F(Recipes, OfAnotherMethodGiveItNoStepsAndNoStart) {
  succeeds("recon scan.h5 -o by_tv.h5 --reconstruction-algorithm tv --iterations 4 --save-config tv.toml");
  for (const std::string method : {"sirt", "cgls", "mlem", "fbp"}) {
    const std::string asked = " --overwrite --reconstruction-algorithm " + method;
    succeeds("recon scan.h5 -o alone.h5" + asked);
    for (const std::string from : {" --config tv.toml", " --like by_tv.h5"}) {
      succeeds("recon scan.h5 -o again.h5" + asked + from);
      EXPECT_EQ(voxels("again.h5"), voxels("alone.h5")) << method << from;
    }
  }
}

TEST_F(Recipes, GiveWayToWhatIsTyped) {
  std::ofstream(*program / "way.toml") << "slices = \"0:2\"\nmodel = \"fourier:accuracy=1e-3\"\nfbp-filter = "
                                          "\"none\"\ndtype = \"float16\"\ncompression = \"blosc\"\n";
  const std::string typed =
      " --overwrite --region 0:10,0:9,1:2 --variant standard --padding edge --save-format nrrd";
  succeeds("recon scan.h5 -o typed.nrrd" + typed);
  succeeds("recon scan.h5 -o way.nrrd --config way.toml" + typed);
  EXPECT_EQ(voxels("typed.nrrd"), voxels("way.nrrd"));
}

TEST_F(Recipes, WithOptionsThatDoNotGoTogetherAreRefused) {
  for (const auto& [text, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"rotation-axis = 10\nrow-axes = \"a.txt\"\n", "line 2: --row-axes and --rotation-axis"},
           {"arc = \"90\"\nangles = \"a.txt\"\n", "line 1: --arc and --angles"},
           {"scan = \"other.h5\"\n", "line 1: scan is not taken from a file"},
           {"config = \"other.toml\"\n", "line 1: --config is not taken from a file"},
           {"fbp-filter = \"\\u0000\"\n", "line 1"}}) {
    std::ofstream(*program / "pair.toml") << text;
    fails("recon scan.h5 -o v.h5 --config pair.toml", 2, {"--config pair.toml: ", words});
  }
}

TEST_F(Recipes, WithMistakesAreRefusedInOneLine) {
  const auto refuses = [&](const std::string& text, std::initializer_list<const char*> words) {
    std::ofstream(*program / "bad.toml") << text;
    fails("recon scan.h5 -o v.h5 --config bad.toml", 2, words);
  };
  refuses("fbp-fliter = \"hann\"\n",
          {"--config bad.toml", "option fbp-fliter is not known", "did you mean fbp-filter?"});
  for (const char* text :
       {"binning = 'a' 3\n", "= 3\n", "fbp-filter = hann\n", "binning\n", "binning = 1\nbinning = 2"})
    refuses(text, {"bad.toml: line ", "is not TOML"});
  refuses("binning = 1\nfbp-filter = \"hann\n", {"bad.toml: line 2", "is not TOML"});
  refuses("flats = [\"a\",\n", {"bad.toml: line ", "is not TOML"});
  refuses("size = 1979-05-27\n", {"line 1", "is no text, number, true, false or list of these"});
  refuses("size = -3\n", {"line 1", "--size", "'-3' is no whole number"});
  refuses("region = \"3\"\n", {"line 1", "--region '3' is not"});
  refuses("reconstruction-algorithm = \"cgls\"\nstop = \"soon\"\n", {"line 2", "--stop 'soon' is not known"});
  refuses("start-row = 3\n", {"line 1", "option start-row is not known", "--detector-rows"});
  succeeds("simulate -o disc.h5 --size 16 --views 8 --truth truth.h5");
  fails("recon scan.h5 -o v.h5 --like truth.h5", 3, {"truth.h5: holds no recipe"});
  fails("recon scan.h5 -o v.h5 --like none.h5", 3, {"none.h5"});
  succeeds("recon scan.h5 -o like.h5");
  fails("recon scan.h5 -o like.h5 --like like.h5", 2, {"-o like.h5", "would overwrite --like"});
}

TEST_F(Recipes, OfPartsAreThoseOfTheWholeVolume) {
  for (const char* slices : {"0:1", "1:3"})
    succeeds(std::string("recon scan.h5 --fbp-filter hann --part-of parts.h5 --slices ") + slices);
  succeeds("recon scan.h5 -o whole.h5 --like parts.h5");
  EXPECT_EQ(voxels("whole.h5"), voxels("parts.h5"));
  EXPECT_EQ(voxels("whole.h5").size(), 3u * 41 * 41);
}

TEST_F(Recipes, LogsHaveWhatIsShownWithTimes) {
  const Ended run = (*program)("recon scan.h5 -o logged.h5 --log run.log --binning 2");
  ASSERT_EQ(run.code, 0) << run.err;
  std::istringstream log(text_of(*program / "run.log"));
  std::string line, all;
  std::getline(log, line);
  EXPECT_EQ(line.rfind("tandem ", 0), 0u) << line;
  EXPECT_NE(line.find("log of tandem recon scan.h5 -o logged.h5"), std::string::npos) << line;
  const std::regex timed(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z .*)");
  while (std::getline(log, line)) {
    EXPECT_TRUE(std::regex_match(line, timed)) << line;
    all += line.substr(std::min<std::size_t>(line.size(), 25)) + '\n';
  }
  std::istringstream shown(run.err + run.out);
  while (std::getline(shown, line)) EXPECT_NE(all.find(line + '\n'), std::string::npos) << line;
  EXPECT_NE(all.find("written   logged.h5"), std::string::npos) << all;
  fails("recon scan.h5 -o logged.h5 --log run.log --size 100000000", 2, {"--size"});
  fails("recon none.h5 -o logged.h5 --log run.log", 3, {"none.h5"});
  const std::string failed = text_of(*program / "run.log");
  EXPECT_NE(failed.find("Z tandem: error: none.h5"), std::string::npos) << failed;
  std::ofstream(*program / "mine.log") << "precious";
  fails("recon scan.h5 -o logged.h5 --log mine.log", 3, {"mine.log", "--overwrite"});
  fails("recon scan.h5 -o logged.h5 --log scan.h5", 2, {"--log scan.h5", "would overwrite"});
  fails("recon scan.h5 -o logged.h5 --log -", 2, {"--log -"});
  EXPECT_EQ(text_of(*program / "mine.log"), "precious");
}

class SeveralScans : public Recipes {};

TEST_F(SeveralScans, GoOnAfterOneThatFailsAndEndWithATable) {
  fs::create_directory(*program / "out");
  fs::copy_file(*program / "scan.h5", *program / "b.h5", fs::copy_options::overwrite_existing);
  std::ofstream(*program / "a.h5") << "no scan";
  const Ended run = (*program)(
      "recon a.h5 scan.h5 none.h5 b.h5 --binning 2 -o 'out/{name}_{folder}.h5' "
      "--json 'out/{name}.json' --preview 'out/{name}.png' --log 'out/all.log' "
      "--save-config 'out/{name}.toml'");
  EXPECT_EQ(run.code, 3) << run.err;
  const std::string folder = (*program / "").parent_path().filename().string();
  for (const std::string name : {"scan", "b"})
    for (const std::string& ending :
         {"_" + folder + ".h5", std::string(".json"), std::string(".png"), std::string(".toml")})
      EXPECT_TRUE(program->has("out/" + name + ending)) << name + ending;
  EXPECT_FALSE(program->has("out/a_" + folder + ".h5") || program->has("out/a.json"));
  for (const char* words : {"tandem: error: a.h5: ", "tandem: error: none.h5: ",
                            "tandem: error: 2 of 4 scans failed, the first is a.h5"})
    EXPECT_NE(run.err.find(words), std::string::npos) << words << " is not in " << run.err;
  const std::regex error("tandem: error: ");
  EXPECT_EQ(std::distance(std::sregex_iterator(run.err.begin(), run.err.end(), error), {}), 3) << run.err;
  EXPECT_EQ(run.err.find("written and whole: out/scan"), std::string::npos) << run.err;
  const std::size_t table = run.out.find("scan     result    seconds  volume, or error\n");
  ASSERT_NE(table, std::string::npos) << run.out;
  const std::regex rows(
      "a\\.h5 +failed 3 +[0-9.]+  a\\.h5: .*\nscan\\.h5 +done +[0-9.]+  out/scan_.*\n"
      "none\\.h5 +failed 3 .*\nb\\.h5 +done .*\n");
  EXPECT_TRUE(std::regex_search(run.out.substr(table), rows)) << run.out;
  EXPECT_NE(text_of(*program / "out/all.log").find("tandem: error: none.h5"), std::string::npos);
  const std::string b = "out/b_" + folder + ".h5", scan = "out/scan_" + folder + ".h5";
  EXPECT_EQ(voxels(b), voxels(scan));
}

TEST_F(SeveralScans, HaveTheCodeOfTheFirstFailure) {
  fs::create_directory(*program / "codes");
  EXPECT_EQ((*program)("recon scan.h5 none.h5 -o 'codes/{name}.h5' --quiet").code, 3);
  EXPECT_EQ((*program)("recon scan.h5 none.h5 -o 'codes/{name}.h5' --detector-rows 7: --quiet").code, 4);
  EXPECT_EQ((*program)("recon none.h5 scan.h5 -o 'codes/{name}.h5' --detector-rows 7: --quiet").code, 3);
}

TEST_F(SeveralScans, ThatWouldWriteToOneFileAreRefusedBeforeTheWork) {
  fs::create_directories(*program / "d1");
  fs::create_directories(*program / "d2");
  for (const char* name : {"d1/s.h5", "d2/s.h5"})
    fs::copy_file(*program / "scan.h5", *program / name, fs::copy_options::overwrite_existing);
  fails("recon d1/s.h5 d2/s.h5 -o 'new_{name}.h5'", 2, {"-o new_s.h5", "d1/s.h5", "d2/s.h5", "{folder}"});
  fails("recon d1/s.h5 d2/s.h5 -o 'new_{folder}.h5' --json new_.json", 2, {"--json new_.json", "{name}"});
  fails("recon d1/s.h5 d2/s.h5 -o '{folder}/../d2/s.h5' --overwrite", 2, {"d2/s.h5"});
  fails("recon d1/s.h5 scan.h5 -o './{name}.h5' --overwrite", 2, {"-o ./scan.h5", "would overwrite"});
  EXPECT_EQ(program->left_of("new_"), 0);
  succeeds("recon d1/s.h5 d2/s.h5 -o '{folder}.h5' --binning 2");
  EXPECT_TRUE(program->has("d1.h5") && program->has("d2.h5"));
}

TEST_F(SeveralScans, EndAllWhenASignalComes) {
  const Ended run = (*program)(
      "recon scan.h5 d1/s.h5 d2/s.h5 -o 'new_{folder}{name}.h5' --size 128 "
      "--reconstruction-algorithm sirt --iterations 1000000 --quiet & p=$!; sleep 1; "
      "kill -TERM $p; wait $p",
      "true;");
  EXPECT_EQ(run.code, 143);
  EXPECT_EQ(program->left_of("new_"), 0);
}

}  // namespace
}  // namespace tandem::test
