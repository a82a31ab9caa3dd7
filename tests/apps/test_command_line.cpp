// What a user types, and what the program makes of it: numbers, words, help, and lines that say what is
// wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../core/device.hpp"
#include "program.hpp"

namespace tandem::test {
namespace {

class CommandLine : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o scan.h5 --size 24 --views 20 --rows 2").code, 0);
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  /// One short line with the code 2 that holds all of `words`; returned.
  static std::string refuses(const std::string& arguments, std::initializer_list<const char*> words) {
    const Ended run = (*program)(arguments);
    EXPECT_EQ(run.code, 2) << arguments << '\n' << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.err.rfind("tandem: error: ", 0), 0u) << run.err;
    EXPECT_LE(run.err.size(), 501u);
    for (const char* word : words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in " << run.err;
    return run.err;
  }

  static nlohmann::json planned(const std::string& options) {
    const Ended run = (*program)("recon scan.h5 --dry-run --json - " + options);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(run.out);
  }

  static Program* program;
};
Program* CommandLine::program = nullptr;

TEST_F(CommandLine, NumbersAreDecimal) {
  EXPECT_EQ(planned("--size 010")["volume"]["shape"], nlohmann::json({2, 10, 10}));
  EXPECT_EQ(planned("--size +9")["volume"]["shape"], nlohmann::json({2, 9, 9}));
  EXPECT_EQ(planned("--region 0:010,01:08,0:2")["volume"]["shape"], nlohmann::json({2, 7, 10}));
  EXPECT_EQ(planned("--rotation-axis 010.50")["geometry"]["axis_bin_taken"], 10.5);
  for (const std::string text :
       {"0x10", "1e3", "1.5", "1,5", "+-9", "--", "' 9'", "'9 '", "nine", "9223372036854775808"})
    refuses("recon scan.h5 -o v.h5 --size " + text, {"--size"});
  for (const std::string text : {"0x10", "1,5", "+-9", "nan", "inf", "-inf", "1e309", "' 9'", "'9 '", "1e"})
    refuses("recon scan.h5 -o v.h5 --rotation-axis " + text, {"--rotation-axis"});
  refuses("recon scan.h5 -o v.h5 --region 0x0:10,0:9,0:2", {"0x0:10"});
  refuses("simulate -o s.h5 --seed -1", {"--seed", "-1"});
  EXPECT_FALSE(program->has("v.h5"));
}

TEST_F(CommandLine, TakesOptionsFromAFile) {
  std::ofstream(*program / "run.toml") << "size = 10\nrotation-axis = 9.5\nquiet = true\noverwrite = false\n"
                                       << "reconstruction-algorithm = \"sirt\"\n";
  const nlohmann::json plan = planned("--config run.toml");
  EXPECT_EQ(plan["volume"]["shape"], nlohmann::json({2, 10, 10}));
  EXPECT_EQ(plan["geometry"]["axis_bin_taken"], 9.5);
  EXPECT_EQ(plan["algorithm"], "sirt");
  EXPECT_EQ(planned("--size=9 --config=run.toml")["volume"]["shape"], nlohmann::json({2, 9, 9}));
  std::ofstream(*program / "wrong.toml") << "sise = 10\n";
  refuses("recon scan.h5 --dry-run --config wrong.toml",
          {"wrong.toml: line 1: option sise is not known; did you mean size?"});
  std::ofstream(*program / "section.toml") << "[recon]\nsize = 10\n";
  refuses("recon scan.h5 --dry-run --config section.toml",
          {"section.toml: line 1: options must not be in a section"});
  refuses("recon scan.h5 --dry-run --config", {"--config", "value is missing"});
  EXPECT_EQ((*program)("recon scan.h5 --dry-run --config none.toml").code, 3);
}

TEST_F(CommandLine, NoValueIsEmpty) {
  for (const std::string option :
       {"--rotation-axis", "--size", "--region", "--fbp-filter", "--truth", "--json", "-o", "--stop", "--arc",
        "--flats", "--detector-rows", "--device", "--preview"})
    refuses("recon scan.h5 " + option + " ''", {option == "-o" ? "--output" : option.c_str(), "empty"});
  refuses("recon '' -o v.h5", {"scan", "empty"});
  refuses("bench fbp --slices ''", {"--slices", "empty"});
}

TEST_F(CommandLine, ShortLinesSayWhatIsAllowed) {
  EXPECT_LT(refuses("recon scan.h5 -o v.h5 --detector-rows 5:-1", {"--detector-rows", "'5:-1'", "0 <= A < B"})
                .size(),
            130u);
  refuses("recon scan.h5 -o v.h5 --detector-rows", {"--detector-rows", "value is missing"});
  for (const std::string range : {"5", "5:3", "3:3", "1:2:3", "-1:", ":0", "a:b", "1::", "1:2:"})
    refuses("recon scan.h5 -o v.h5 --detector-rows " + range, {"--detector-rows", "give A:B with"});
  for (const std::string range : {"::0", "1:2:-1", "1:2:3:4", "::x"})
    refuses("recon scan.h5 -o v.h5 --views " + range, {"--views", "A:B:STEP"});
  refuses("center scan.h5 scan2.h5", {"'scan2.h5'", "too many"});
  refuses("recon scan.h5 scan2.h5 -o v.h5", {"-o v.h5", "scan.h5", "scan2.h5", "{name}"});
  refuses("recon scan.h5 -o v.h5 --quiet=no", {"--quiet"});
}

/// As a script types it whose variable is not set: the next word is no value.
TEST_F(CommandLine, AnEmptyValueIsNone) {
  for (const std::string option : {"--log", "--truth", "--fbp-filter", "--size", "--flats", "--json"})
    refuses("recon scan.h5 -o v.h5 " + option + "= --overwrite", {option.c_str(), "the value is empty"});
  refuses("recon scan.h5 -o v.h5 --geometry parallel3d", {"parallel3d", "parallel here"});
  refuses("help recon everything", {"'everything' is one argument too many"});
  refuses("completion bash zsh", {"'zsh' is one argument too many"});
  refuses("completion tcsh", {"'tcsh'", "bash, zsh, fish"});
}

/// A pager that is quit, and head, end it without a word.
TEST_F(CommandLine, HelpMayBeReadInPart) {
  for (const std::string words : {"--version", "help", "recon --help-all", "help man", "completion bash"}) {
    std::ofstream(*program / "part.sh") << "{ sleep 0.1; '" TANDEM_PROGRAM "' " + words +
                                               " 2> part.txt; echo $? > code.txt; } | true\nsleep 0.5\n";
    (*program)("--version > unused; sh part.sh; true");
    EXPECT_EQ(text_of(*program / "code.txt"), "0\n") << words;
    EXPECT_EQ(text_of(*program / "part.txt"), "") << words;
  }
}

TEST_F(CommandLine, SaysWhatWasMeant) {
  refuses("recon scan.h5 --reconstruction-algoritm cgls",
          {"did you mean --reconstruction-algorithm?", "recon --help"});
  refuses("recon scan.h5 --algorithm=cgls", {"--algorithm ", "--reconstruction-algorithm here"});
  refuses("recon scan.h5 --ouptut v.h5", {"did you mean --output?"});
  refuses("recon scan.h5 -o v.h5 --reconstruction-algorithm cglss",
          {"'cglss'", "did you mean cgls?", "sirt"});
  refuses("recno scan.h5", {"'recno'", "did you mean recon?"});
  EXPECT_EQ(refuses("recon scan.h5 -o v.h5 --xyzzy", {"--xyzzy"}).find("did you mean"), std::string::npos);
}

/// What newcomers type in their first hour, and the word that they need.
TEST_F(CommandLine, AnswersFirstMistakes) {
  refuses("reconstruct scan.h5", {"did you mean recon?"});
  refuses("recon scan.h5 v.h5", {"-o VOLUME is missing; give -o v.h5"});
  refuses("recon scan.h5 scan.h5", {"-o VOLUME is missing; give a name"});
  refuses("simulate s.h5", {"'s.h5' is one argument too many; an output is given by -o NAME"});
  refuses("recon scan.h5 -o v.h5 -overwrite", {"option -overwrite is not known; did you mean --overwrite?"});
  refuses("recon scan.h5 -o v.png", {"--preview makes a picture"});
  refuses("recon scan.h5 -o v.h5 --pixel-size 10um", {"'10um'", "leave out the unit, which is mm"});
  refuses("recon scan.h5 -o v.h5 --iterations 20", {"such as --reconstruction-algorithm sirt, not with fbp"});
  refuses("recon scan.h5 -o v.h5 --phase paganin", {"did you mean --retrieve-phase-method?"});
  refuses("recon scan.h5 -o v.h5 --remove-rings", {"--remove-stripe-method here"});
  refuses("recon scan.h5 -o v.h5 --source-distance 500", {"--sod here"});
  const auto warns = [](const std::string& options) {
    return (*program)("recon scan.h5 --dry-run " + options).err.find("give the axis in bins") !=
           std::string::npos;
  };
  EXPECT_TRUE(warns("--rotation-axis 0.3"));  // mm
  EXPECT_FALSE(warns("--rotation-axis 8"));
  EXPECT_FALSE(warns("--rotation-axis 0.3 --arc 360"));
}

TEST_F(CommandLine, TakesWordsInAnyCase) {
  EXPECT_EQ(
      planned(
          "--reconstruction-algorithm CGLS --stop Relative=0.1 --initial FBP --fbp-filter Hann")["algorithm"],
      "cgls");
  EXPECT_EQ(planned("--device CPU --minus-log TRUE --arc 180,Inclusive")["device"], nlohmann::json({"cpu"}));
}

TEST_F(CommandLine, AllDevicesAreTheCpuWhereNoGpuIs) {
  if (devices().size() > 1) GTEST_SKIP() << "a GPU is here";
  EXPECT_EQ(planned("--device all")["device"], nlohmann::json({"cpu"}));
}

TEST_F(CommandLine, OneDeviceIsNotAll) {
  for (const std::string command : {"check", "bench fbp"})
    for (const std::string device : {"all", "auto", "gpu", "cuda:", "cuda:0,1"})
      refuses(command + " --device " + device, {"--device", device.c_str(), "cpu, cuda or cuda:N"});
}

TEST_F(CommandLine, TooLittleMemoryIsNoMemoryAtAll) {
  for (const char* gib : {"1e-10", "1e-40"}) {
    const Ended run = (*program)(std::string("recon scan.h5 -o v.h5 --memory ") + gib);
    EXPECT_EQ(run.code, 5) << run.err;
    EXPECT_NE(run.err.find("--memory"), std::string::npos) << run.err;
  }
}

TEST_F(CommandLine, CountsAreBoundedWhereTheyEnter) {
  const std::string huge = "9223372036854775807";
  for (const std::string option : {"--slices", "--size", "--views", "--repeat"})
    refuses("bench fbp " + option + " " + huge, {option.c_str()});
  refuses("bench fbp --slices 1," + huge, {"--slices", huge.c_str()});
  for (const std::string option : {"--size", "--bins", "--rows", "--views", "--flats", "--darks"})
    refuses("simulate -o s.h5 " + option + " " + huge, {option.c_str()});
  for (const std::string option : {"--size", "--slices", "--detector-rows", "--views", "--columns"})
    refuses("recon scan.h5 -o v.h5 " + option + " " + huge, {option.c_str()});
  refuses("recon scan.h5 -o v.h5 --slices 2147483648", {"--slices"});
  refuses("center scan.h5 --nsino " + huge, {"--nsino"});
  refuses("check --size " + huge, {"--size"});
}

TEST_F(CommandLine, WhatNoMachineHoldsIsRefusedBeforeTheWork) {
  const Ended wide = (*program)("simulate -o wide.h5 --size 10000000"),
              fan = (*program)("simulate -o w.h5 --bins 10000000 --views 10000000");
  EXPECT_EQ(wide.code, 5) << wide.err;
  EXPECT_EQ(fan.code, 5) << fan.err;
  const Ended bench = (*program)("bench fbp --size 10000000 --views 10 --slices 10000000");
  EXPECT_EQ(bench.code, 4) << bench.err;
  EXPECT_NE(bench.err.find("2^60"), std::string::npos) << bench.err;
}

TEST_F(CommandLine, BracketsInNamesOfFoldersAreNoLines) {
  std::filesystem::create_directory(*program / "[run1]");
  std::ofstream angles(*program / "[run1]/angles.txt");
  for (int view = 0; view < 40; ++view) angles << 9 * view << '\n';
  angles.close();
  EXPECT_EQ(planned("--angles '[run1]/angles.txt[0:20]'")["geometry"]["views"], 20);
  EXPECT_NE(refuses("recon scan.h5 -o v.h5 --angles '[run1]/angles.txt[3:1]'", {"3:1"}), "");
  refuses("info scan.h5 --angles 'angles.txt[run1]'", {"run1"});
}

TEST_F(CommandLine, AVolumeIsNoScan) {
  ASSERT_EQ((*program)("recon scan.h5 -o volume.h5").code, 0);
  for (const std::string command :
       {"recon volume.h5 -o w.h5", "center volume.h5", "project volume.h5 -o w.h5 --like volume.h5"}) {
    const Ended run = (*program)(command);
    EXPECT_EQ(run.code, 3);
    EXPECT_NE(run.err.find(": is a volume"), std::string::npos) << run.err;
  }
  ASSERT_EQ((*program)("recon scan.h5 -o volume.tif").code, 0);
  for (const std::string name : {"volume.tif", "volume_00001.tif"}) {  // a slice is no sinogram either
    const Ended run = (*program)("recon " + name + " -o w.h5 --arc 180 --minus-log false");
    EXPECT_EQ(run.code, 3);
    EXPECT_NE(run.err.find(name + ": is a volume"), std::string::npos) << run.err;
  }
}

TEST_F(CommandLine, APreviewIsAFile) {
  refuses("recon scan.h5 -o v.h5 --preview -", {"--preview -", "PNG"});
  EXPECT_FALSE(program->has("-"));
}

/// A limit of memory or of files may strike anywhere: there is a code of the contract and one line.
TEST_F(CommandLine, WantIsToldInOneLine) {
  int refused = 0;
  const auto run = [&](const std::string& limit) {
    const Ended ended = (*program)("recon scan.h5 -o want_.h5 --threads 4 --size 1024", limit);
    EXPECT_TRUE(ended.code == 0 || ended.code == 3 || ended.code == 5)
        << limit << ": " << ended.code << ended.err;
    if (ended.code == 0) return;
    ++refused;
    EXPECT_EQ(ended.err.rfind("tandem: error: ", 0), 0u) << limit << ": " << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << limit << ": " << ended.err;
  };
  for (int mebibytes = 40; mebibytes < 120; mebibytes += 4) {
    const auto limit = [](int mib) { return "ulimit -v " + std::to_string(1024 * mib) + ";"; };
    constexpr int to_spare =
        8;  // if libraries can begin at all: below, they end the program (docs/fuzzing.md)
    if ((*program)("info scan.h5", limit(mebibytes - to_spare)).code == 0) run(limit(mebibytes));
  }
  for (int files = 4; files < 12; ++files) {
    const std::string limit = "prlimit --nofile=" + std::to_string(files);
    if ((*program)("--version", limit).code == 0) run(limit);  // if the libraries can be loaded
  }
  EXPECT_GT(refused, 0);
}

/// This runs as somebody who is not root: nothing is forbidden to root.
TEST_F(CommandLine, WhatIsForbiddenIsToldInOneLine) {
  namespace fs = std::filesystem;
  const std::string nobody = "setpriv --reuid=65534 --clear-groups ";
  fs::permissions(*program / "", fs::perms::all);
  if ((*program)("--version", nobody).code != 0) GTEST_SKIP() << "needs root, setpriv and a program for all";
  fs::create_directory(*program / "locked");
  fs::copy_file(*program / "scan.h5", *program / "locked/scan.h5");
  fs::permissions(*program / "locked", fs::perms::owner_all);
  const auto fails = [&](const std::string& arguments, int code, const std::string& before) {
    const Ended run = (*program)(arguments + " --quiet", before);
    EXPECT_EQ(run.code, code) << arguments << run.err;
    EXPECT_EQ(run.err.rfind("tandem: error: ", 0), 0u) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  };
  fails("recon locked/scan.h5 -o v.h5", 3, nobody);
  fails("info locked", 3, nobody);
  fails("recon scan.h5 -o locked/v.h5", 3, nobody);
  fails("info scan.h5 --json locked/r.json", 3, nobody);
  fails("recon scan.h5 -o v.h5 --threads 4", 5, nobody + "prlimit --nproc=1 ");
}

TEST_F(CommandLine, AFolderThatGoesDuringTheRunIsAFault) {
  const std::string iterate = " --reconstruction-algorithm sirt --iterations 1000000 --stop time=2 --quiet";
  for (const std::string name : {"v.h5", "v.tif"}) {
    std::filesystem::create_directory(*program / "gone");
    const Ended run =
        (*program)("recon scan.h5 -o gone/" + name + iterate + " 2> told & p=$!; sleep 1; rm -r '" +
                   (*program / "gone").string() + "'; wait $p");
    const std::string told = text_of(*program / "told");
    EXPECT_EQ(run.code, 3) << told;
    EXPECT_NE(told.find("gone"), std::string::npos) << told;
  }
}

TEST_F(CommandLine, HelpFitsAScreen) {
  const Ended help = (*program)("help recon"), same = (*program)("recon -h");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(help.out, same.out);
  for (const char* command :
       {"simulate", "info", "center", "calibrate", "recon", "look", "project", "report", "check", "bench"}) {
    const std::string text = (*program)(std::string(command) + " --help").out;
    EXPECT_LE(std::ranges::count(text, '\n'), 34) << text;
    EXPECT_EQ(text.find("Usage: tandem "), 0u) << text;
    EXPECT_NE(text.find("Examples:\n  tandem "), std::string::npos) << text;
  }
  for (const char* text : {"--rotation-axis", "--reconstruction-algorithm", "-o,--output", "--help-all"})
    EXPECT_NE(help.out.find(text), std::string::npos) << text;
  EXPECT_EQ(help.out.find("--tv-weight"), std::string::npos);
  refuses("help recno", {"did you mean recon?"});
}

TEST_F(CommandLine, AllHelpIsGroupedWithExamples) {
  const Ended help = (*program)("help recon all"), same = (*program)("recon --help-all");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.out, same.out);
  for (const char* text : {"\nScan:\n", "\nFrom counts to line integrals:\n", "\nMethod:\n", "\nOutput:\n",
                           "\nEvery command:\n", "Examples:\n  tandem recon "})
    EXPECT_NE(help.out.find(text), std::string::npos) << text;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ((*program)("help").out, (*program)("--help").out);
  EXPECT_EQ(help.out.find("Scan to volume\n\nExamples:\n  tandem recon scan.h5 -o volume.h5"), 0u);
  for (const char* command : {"simulate", "info", "center", "recon", "project", "report", "check", "bench"}) {
    const std::string text = (*program)("help " + std::string(command) + " all").out;
    EXPECT_NE(text.find("\n\nExamples:\n  tandem "), std::string::npos) << text;
    EXPECT_NE(text.find("\n\nUsage: tandem "), std::string::npos) << text;
    EXPECT_LT(text.find("Examples:"), text.find("Usage:")) << text;
    EXPECT_EQ(text.find("Examples:"), text.rfind("Examples:")) << text;
  }
}

/// git and cmake do it so: help, and a code that no script takes for success.
TEST_F(CommandLine, NoCommandPrintsHelpAndFails) {
  const Ended bare = (*program)("");
  EXPECT_EQ(bare.out, (*program)("help").out);
  refuses("", {"no command"});
}

TEST_F(CommandLine, NoCommandOnATerminalSaysWhatToType) {
  const Ended bare = (*program)("--version > none; script -qec '" TANDEM_PROGRAM "' /dev/null");
  EXPECT_EQ(bare.code, 2);
  for (const char* text :
       {"Type, for a first picture", "  tandem simulate -o scan.h5", "  tandem info SCAN", "no command"})
    EXPECT_NE(bare.out.find(text), std::string::npos) << text << " is not in " << bare.out;
  EXPECT_EQ(bare.out.find("--help"), std::string::npos) << bare.out;
}

/// A solver has made no slice before its last iteration, so a line says its iterations.
TEST_F(CommandLine, ProgressOfASolverCountsIterations) {
  const Ended run = (*program)(
      "recon scan.h5 -o p.h5 --size 96 --reconstruction-algorithm sirt --iterations 100000 --stop time=2.5");
  EXPECT_EQ(run.code, 0) << run.err;
  const std::size_t at = run.err.find("solving: iteration ");
  ASSERT_NE(at, std::string::npos) << run.err;
  const std::string line = run.err.substr(at, run.err.find('\n', at) - at);
  EXPECT_NE(line.find(" of 100000, residual "), std::string::npos) << line;
  EXPECT_NE(line.find(" s left"), std::string::npos) << line;
  EXPECT_EQ(line.find("slices"), std::string::npos) << line;
}

TEST_F(CommandLine, NothingReachesATerminalThatItObeys) {
  const Ended missing = (*program)("info \"$(printf 'a\\033[31m\\177b\\302\\233c\\377d\\303\\251')\"");
  EXPECT_EQ(missing.code, 3);
  EXPECT_NE(missing.err.find("a\\u001b[31m\\u007fb\\u009bc\\xffd\xc3\xa9: "), std::string::npos)
      << missing.err;
  std::filesystem::copy_file(*program / "scan.h5", *program / "\x1b[2Jscan.h5");
  const Ended info = (*program)("info \"$(printf '\\033[2Jscan.h5')\"");
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_NE(info.out.find("\\u001b[2Jscan.h5"), std::string::npos) << info.out;
  EXPECT_EQ((info.out + info.err).find('\x1b'), std::string::npos);
}

TEST_F(CommandLine, LongLinesKeepTheirEnds) {
  const std::string line =
      refuses("recon scan.h5 -o v.h5 --size " + std::string(5000, '7'), {"--size", " ... ", "recon --help"});
  EXPECT_EQ(line.size(), 501u);
  std::string wide;  // a cut falls between characters
  for (int i = 0; i < 400; ++i) wide += "\xe2\x82\xac";
  for (const char* before : {"", "a", "aa"}) {
    const std::string said = refuses("recon scan.h5 -o v.h5 --size " + (before + wide), {" ... "});
    EXPECT_EQ(said.find("\\x"), std::string::npos) << said;
    EXPECT_NO_THROW(nlohmann::json(said).dump()) << said;  // throws for what is no UTF-8
  }
}

}  // namespace
}  // namespace tandem::test
