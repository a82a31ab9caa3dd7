// What a run leaves behind, however it ends, and the files that it leaves alone.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../core/instruction_set.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "program.hpp"
#include "voxels.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

class Outputs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    program = new Program;
    ASSERT_EQ((*program)("simulate -o scan.h5 --truth truth.h5 --size 32 --views 20 --rows 6").code, 0);
  }
  static void TearDownTestSuite() {
    delete program;
    program = nullptr;
  }

  static void fails(const std::string& arguments, int code, std::initializer_list<const char*> words,
                    const std::string& before = "") {
    const Ended run = (*program)(arguments + " --quiet", before);
    EXPECT_EQ(run.code, code) << arguments << '\n' << run.err;
    for (const char* word : words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in " << run.err;
  }
  static int parts() { return program->left_of(".tandem"); }

  /// Sends a signal to a run after a second; @returns its exit code.
  static int ended_by(const std::string& signal, const std::string& arguments) {
    // a shell without a terminal makes programs in the background ignore interrupts
    const Ended run = (*program)(arguments + " --quiet & p=$!; sleep 1; kill -" + signal + " $p; wait $p",
                                 "true; env --default-signal=INT");
    EXPECT_EQ(parts(), 0) << arguments;
    EXPECT_EQ(program->left_of("new_"), 0) << arguments;
    return run.code;
  }

  /// Expects that a run with --json r.json, which went on with new_.h5, has the bits of one.h5.
  static void is_completed(const Ended& resumed) {
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(parts(), 0);
    EXPECT_FALSE(program->json("r.json")["resumed"].empty());
    EXPECT_EQ(voxels(*program / "new_.h5"), voxels(*program / "one.h5"));
    fs::remove(*program / "new_.h5");
  }

  static Program* program;
};
Program* Outputs::program = nullptr;

const std::string for_ever = " --size 128 --reconstruction-algorithm sirt --iterations 1000000";

TEST_F(Outputs, AreOneRunsAlone) {
  const Ended runs = (*program)("recon scan.h5 -o new_.h5 --quiet" + for_ever +
                                    " & p=$!; until [ -e .new_.h5.tandem/new_.h5 ]; do sleep 0.05; done; '" +
                                    TANDEM_PROGRAM +
                                    "' recon scan.h5 -o ./new_.h5; echo second $? > codes; "
                                    "kill -TERM $p; wait $p",
                                "true;");
  EXPECT_EQ(runs.code, 143);
  EXPECT_EQ(text_of(*program / "codes"), "second 3\n");
  EXPECT_EQ(parts(), 0);
}

TEST_F(Outputs, AreCompletedByResume) {
  ASSERT_EQ((*program)("simulate -o tall.h5 --size 48 --views 30 --rows 300").code, 0);
  const std::string recon = "recon tall.h5 --reconstruction-algorithm sirt --iterations 400 --quiet -o ";
  ASSERT_EQ((*program)(recon + "one.h5").code, 0);
  const Ended killed =
      (*program)(recon +
                     "new_.h5 & p=$!; until grep -qs done: .new_.h5.tandem/*.journal || ! kill -0 $p; do "
                     "sleep 0.01; done; kill -KILL $p; wait $p",
                 "true;");
  EXPECT_EQ(killed.code, 137);
  fails("recon tall.h5 --resume --reconstruction-algorithm sirt --iterations 401 -o new_.h5", 3,
        {"new_.h5: --resume: --iterations is 401, and was 400"});
  fails("recon scan.h5 --resume --reconstruction-algorithm sirt --iterations 400 -o new_.h5", 3,
        {"new_.h5: --resume: the scan is 1 files"});
  const Ended rounded = (*program)(recon + "new_.h5 --resume", "TANDEM_SIMD=scalar");
  EXPECT_EQ(rounded.code, instructions_fuse() ? 3 : 0) << rounded.err;
  if (instructions_fuse()) {
    EXPECT_NE(rounded.err.find("the rounding of the CPU's instructions is products, then sums"),
              std::string::npos)
        << rounded.err;
  }
  is_completed((*program)(recon + "new_.h5 --resume --threads 1 --json r.json"));
}

/// A kill may also come when all voxels are there, and HDF5 has completed the file or a part of it.
TEST_F(Outputs, AreCompletedByResumeIfTheyWereKilledAtTheEnd) {
  ASSERT_EQ((*program)("simulate -o tall.h5 --size 48 --views 30 --rows 300").code, 0);
  const std::string recon = "recon tall.h5 --reconstruction-algorithm sirt --iterations 400 --quiet -o ";
  ASSERT_EQ((*program)(recon + "one.h5").code, 0);
  for (const std::string left : {"cp one.h5 $file", "head -c 4096 /dev/zero | dd of=$file conv=notrunc"}) {
    const Ended killed = (*program)(
        recon + "new_.h5 & p=$!; file=.new_.h5.tandem/new_.h5; until grep -qs done: $file.journal || " +
            "! kill -0 $p; do sleep 0.01; done; kill -KILL $p; wait $p; code=$?; " + left +
            " 2> /dev/null; (exit $code)",
        "true;");
    ASSERT_EQ(killed.code, 137) << killed.err;
    SCOPED_TRACE(left);
    is_completed((*program)(recon + "new_.h5 --resume --json r.json"));
  }
}

TEST_F(Outputs, AreJoinedFromPartsOfSeveralRuns) {
  ASSERT_EQ((*program)("recon scan.h5 -o whole.h5 --quiet").code, 0);
  const Ended first = (*program)("recon scan.h5 --slices 0:2 --part-of v.h5");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.err.find("v.h5 is incomplete: it lacks slices 2:6 of 6"), std::string::npos) << first.err;
  EXPECT_NE((*program)("info v.h5").out.find("complete  no"), std::string::npos);
  fails("recon scan.h5 -o new_.h5 --truth v.h5", 3, {"v.h5", "marked incomplete"});
  fails("recon scan.h5 --slices 1:4 --part-of v.h5", 3,
        {"slices 1:4 overlap slices 0:2", "v_00000-00002.h5"});
  fails("recon scan.h5 --slices 3 --part-of v.h5", 2, {"--part-of v.h5 goes with --slices A:B"});
  fails("recon scan.h5 --slices 2:4 --part-of v.h5 -o new_.h5", 2, {"-o and --part-of"});
  fails("recon scan.h5 --slices 4:7 --part-of v.h5", 4, {"4:7", "0:6"});
  const std::string others = "recon scan.h5 --quiet --part-of v.h5 --slices ";
  const Ended both =
      (*program)(others + "2:3 & p=$!; '" TANDEM_PROGRAM "' " + others + "3:6 && wait $p", "true;");
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(parts(), 0);
  std::vector<float> whole(6 * 32 * 32), joined(whole.size());
  io::VolumeReader(*program / "whole.h5").read({0, 6}, whole.data());
  io::VolumeReader reader(*program / "v.h5");
  EXPECT_TRUE(reader.complete());
  reader.read({0, 6}, joined.data());
  EXPECT_EQ(joined, whole);
  EXPECT_EQ(difference(*reader.place(), *io::VolumeReader(*program / "whole.h5").place()), "");
}

TEST_F(Outputs, OfTiffAreJoinedFromPartsToo) {
  ASSERT_EQ((*program)("recon scan.h5 -o whole.tif --quiet").code, 0);
  for (const char* slices : {"4:6", "0:4"})
    ASSERT_EQ((*program)(std::string("recon scan.h5 --quiet --part-of t.tif --slices ") + slices).code, 0);
  std::vector<float> whole(6 * 32 * 32), joined(whole.size());
  io::VolumeReader(*program / "whole.tif").read({0, 6}, whole.data());
  io::VolumeReader reader(*program / "t.tif");
  EXPECT_TRUE(reader.complete());
  reader.read({0, 6}, joined.data());
  EXPECT_EQ(joined, whole);
}

TEST_F(Outputs, LeaveNothingWhenASignalEndsTheRun) {
  const std::string recon = "recon scan.h5 --json new_.json --preview new_.png -o new_";
  EXPECT_EQ(ended_by("INT", recon + ".h5" + for_ever), 130);
  EXPECT_EQ(ended_by("TERM", recon + ".h5" + for_ever), 143);
  EXPECT_EQ(ended_by("HUP", recon + ".tif" + for_ever), 129);
  EXPECT_EQ(ended_by("TERM", "bench solvers --size 512 --slices 64 --repeat 1000 --json new_.json"), 143);
  EXPECT_EQ(ended_by("INT", "check --size 1024 --json new_.json"), 130);
}

TEST_F(Outputs, LeaveNothingWhenAFileMayGrowNoMore) {
  fails("recon scan.h5 -o new_.h5 --size 512", 153, {"new_.h5", "File too large"}, "ulimit -f 64;");
  fails("recon scan.h5 -o new_.h5 --size 512", 3, {"new_.h5", "File too large"},
        "ulimit -f 64; trap '' XFSZ;");
  EXPECT_EQ(program->left_of("new_"), 0);
}

TEST_F(Outputs, AreFinishedWhereTheSignalIsIgnored) {  // as under nohup
  const Ended run = (*program)(
      "recon scan.h5 -o hup.h5 --size 256 --reconstruction-algorithm sirt --iterations 40 "
      "--quiet & p=$!; sleep 0.3; kill -HUP $p; wait $p",
      "trap '' HUP;");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(program->has("hup.h5"));
}

TEST_F(Outputs, AreNotTheStandardStreams) {
  for (const char* closed : {"2>&-", "<&-", ">&-", "<&- >&- 2>&-"}) {
    fs::remove(*program / "closed.h5");
    const Ended run = (*program)(std::string("recon scan.h5 -o closed.h5 --rotation-axis 15.5 ") + closed +
                                 "; echo $? > code; true");
    EXPECT_EQ(text_of(*program / "code"), "0\n") << closed;
    EXPECT_EQ((*program)("project closed.h5 -o again.h5 --views 4").code, 0) << closed;
  }
}

TEST_F(Outputs, ToAStandardOutputThatFailsAreAnError) {
  const auto code = [](const std::string& arguments) {
    (*program)("info scan.h5 " + arguments + "; echo $? > code; true");
    return text_of(*program / "code");
  };
  EXPECT_EQ(code("> /dev/full"), "3\n");
  EXPECT_EQ(code("--json - > /dev/full"), "3\n");
  EXPECT_EQ(code("--help > /dev/full"), "3\n");
  std::ofstream(*program / "pipe.sh") << "{ sleep 0.2; '" TANDEM_PROGRAM
                                         "' info scan.h5; echo $? > code; } | true\n"
                                         "sleep 1\n";
  EXPECT_EQ(code("> unused; sh pipe.sh; true"), "0\n");
}

TEST_F(Outputs, AReportThatCannotBeWrittenLeavesNothingAndSaysWhatBecameOfTheVolume) {
  fails("recon missing.h5 -o v.h5 --json no/folder/r.json", 3, {"no/folder"});
  fails("recon scan.h5 -o whole.h5 --json /dev/full", 3,
        {"/dev/full: the report cannot be written", "written and whole: whole.h5"});
  EXPECT_TRUE(program->has("whole.h5"));
  fails("recon scan.h5 -o whole.tif --json /dev/full", 3,
        {"written and whole: whole_00000.tif to whole_00005.tif (6 slices)"});
  std::ofstream(*program / "mine.json") << "{}";
  fails("recon scan.h5 -o not.h5 --json mine.json", 3, {"mine.json", "--overwrite"});
  EXPECT_FALSE(program->has("not.h5"));
  EXPECT_EQ(text_of(*program / "mine.json"), "{}");
}

TEST_F(Outputs, WithNamesThatAreTooLongAreRefusedBeforeTheWork) {
  const std::string name = "new_" + std::string(2000, 'a');
  for (const std::string& output :  // before the inputs are opened, of which there are none
       {"recon none.h5 -o new_.tif --json " + name, "recon none.h5 -o new_.h5 --preview " + name + ".png",
        "recon none.h5 -o " + name + ".tif", "recon none.h5 -o " + name + ".h5",
        "center none.h5 --json " + name, "simulate -o new_.h5 --angles none.txt --truth " + name + ".tif",
        "project none.h5 -o new_.h5 --json " + name, "info none.h5 --json " + name,
        "bench fbp --device cuda:99 --json " + name, "check --device cuda:99 --json " + name}) {
    fails(output, 3, {"too long for the file system; give a shorter one"});
    EXPECT_EQ(program->left_of("new_"), 0) << output;
  }
  for (const std::string& input :
       {"info " + name, "recon scan.h5 -o new_.h5 --truth " + name + ".h5",
        "recon scan.h5 -o new_.h5 --flats " + name, "project " + name + " -o new_.h5",
        "project truth.h5 -o new_.h5 --like " + name}) {
    fails(input, 3, {"error: new_aaa", "File name too long"});
    EXPECT_EQ(program->left_of("new_"), 0) << input;
  }
}

TEST_F(Outputs, ReplaceWhatTandemWroteAlone) {
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ((*program)("recon scan.h5 -o own.h5 --preview own.png --json own.json").code, 0);
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ((*program)("recon scan.h5 -o own.h5 --dry-run --json own.json").code, 0);
  for (const char* name : {"mine.h5", "mine.png", "mine.json"}) std::ofstream(*program / name) << "precious";
  fails("recon scan.h5 -o mine.h5", 3, {"mine.h5", "did not write it", "--overwrite"});
  fails("simulate -o mine.h5 --size 16", 3, {"mine.h5", "--overwrite"});
  fails("project truth.h5 -o mine.h5", 3, {"mine.h5", "--overwrite"});
  fails("recon scan.h5 -o own.h5 --preview mine.png", 3, {"mine.png", "--overwrite"});
  fails("info scan.h5 --json mine.json", 3, {"mine.json", "--overwrite"});
  for (const char* name : {"mine.h5", "mine.png", "mine.json"})
    EXPECT_EQ(text_of(*program / name), "precious");
  EXPECT_EQ((*program)("recon scan.h5 -o mine.h5 --preview mine.png --json mine.json --overwrite").code, 0);
}

TEST_F(Outputs, AreNoSources) {
  fs::create_hard_link(*program / "scan.h5", *program / "hard.h5");
  const std::string before = text_of(*program / "scan.h5");
  fails("recon scan.h5 -o hard.h5 --overwrite", 2, {"-o hard.h5", "would overwrite"});
  fails("recon scan.h5 -o new_.h5 --json hard.h5 --overwrite", 2, {"--json hard.h5", "would overwrite"});
  fs::create_directory(*program / "images");
  ASSERT_EQ((*program)("recon scan.h5 -o images/s.tif").code, 0);
  fs::create_hard_link(*program / "images/s_00000.tif", *program / "v_00000.tif");
  fails("recon images -o v.tif --arc 180 --overwrite", 2,
        {"-o v.tif", "s_00000.tif", "the scan images is read"});
  fails("recon scan.h5 -o v.tif --flats images --overwrite", 2, {"-o v.tif", "--flats images is read"});
  EXPECT_EQ(text_of(*program / "scan.h5"), before);
}

TEST_F(Outputs, TellTheIdentityOfTheInput) {
  ASSERT_EQ((*program)("recon scan.h5 -o told.h5 --json told.json").code, 0);
  const auto source = program->json("told.json").at("source");
  EXPECT_EQ(source.at("files"), 1);
  EXPECT_EQ(source.at("bytes"), fs::file_size(*program / "scan.h5"));
  EXPECT_EQ(source.at("digest").get<std::string>().size(), 8u);
  EXPECT_EQ(source.at("modified").get<std::string>().back(), 'Z');
}

TEST_F(Outputs, OfTiffCountInTheFullVolume) {
  ASSERT_EQ((*program)("recon scan.h5 -o part.tif --region 0:32,0:32,0:4").code, 0);
  const Ended upper = (*program)("recon scan.h5 -o part.tif --region 0:32,0:32,4:6");
  ASSERT_EQ(upper.code, 0);
  EXPECT_NE(upper.out.find("written   part_00004.tif to part_00005.tif (2 slices)\n"), std::string::npos);
  for (int k = 0; k < 6; ++k) EXPECT_TRUE(program->has("part_0000" + std::to_string(k) + ".tif")) << k;
  const Ended info = (*program)("info part.tif");
  EXPECT_NE(info.out.find("complete  yes"), std::string::npos) << info.out;
  EXPECT_NE(info.out.find("6 x 32 x 32"), std::string::npos) << info.out;
  ASSERT_EQ((*program)("recon scan.h5 -o whole.h5 --truth part.tif --json whole.json --overwrite").code, 0);
  EXPECT_EQ(program->json("whole.json").at("quality").at("rmse"), 0);
  fails("recon scan.h5 -o part.tif --region 0:32,0:32,2:5", 3, {"slices 0:6 of another run", "--overwrite"});
}

}  // namespace
}  // namespace tandem::test
