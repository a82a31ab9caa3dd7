// --checkpoint: what it goes with, and what is refused.

#include <gtest/gtest.h>

#include <fstream>

#include "program.hpp"

namespace tandem::test {
namespace {

const std::string cgls = " --reconstruction-algorithm cgls --iterations 400 --size 64";

class CheckpointOptions : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run("simulate -o scan.h5 --size 64 --views 61 --rows 6 --photons 1e4").code, 0);
  }
  void fails(const std::string& arguments, int code, std::initializer_list<const char*> words) {
    const Ended ended = run(arguments + " --quiet");
    EXPECT_EQ(ended.code, code) << arguments << '\n' << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const char* word : words)
      EXPECT_NE(ended.err.find(word), std::string::npos) << word << " is not in " << ended.err;
  }
  /// A run that is killed when it has written a check-point.
  void leave_checkpoint(const std::string& options) {
    const Ended ended = run("recon scan.h5 -o v.h5 --quiet --checkpoint state:every=3" + options +
                                " & p=$!; until [ -e state ]; do sleep 0.01; done; kill -KILL $p; wait $p",
                            "true;");
    ASSERT_EQ(ended.code, 137) << ended.err;
    ASSERT_TRUE(run.has("state"));
  }
  Program run;
};

TEST_F(CheckpointOptions, GoWithSolversAlone) {
  fails("recon scan.h5 -o v.h5 --checkpoint state", 2, {"--checkpoint goes with an iterative algorithm"});
  fails("recon scan.h5 -o v.h5 --checkpoint state:every=0" + cgls, 2, {"--checkpoint: every: ", "1 to"});
  fails("recon scan.h5 -o v.h5 --checkpoint -" + cgls, 2, {"--checkpoint -"});
  fails("recon scan.h5 -o v.h5 --checkpoint scan.h5" + cgls, 2, {"would overwrite the scan scan.h5"});
  fails("recon scan.h5 -o v.h5 --checkpoint v.h5" + cgls, 2, {"would overwrite"});
  fails("recon scan.h5 -o v.h5 --checkpoint nowhere/state" + cgls, 3, {"nowhere", "does not exist"});
}

TEST_F(CheckpointOptions, RefuseWhatAnotherRunLeft) {
  leave_checkpoint(cgls);
  const std::string resume = " --checkpoint state --resume";
  fails("recon scan.h5 -o v.h5 --checkpoint state" + cgls, 3, {"state: is there already; give --resume"});
  fails("recon scan.h5 -o w.h5 --reconstruction-algorithm sirt --iterations 400 --size 64" + resume, 3,
        {"state: --resume: ", "sirt", "and was", "cgls"});
  fails("recon scan.h5 -o w.h5 --nonnegative --reconstruction-algorithm cgls" + resume, 2, {"--nonnegative"});
  fails("recon scan.h5 -o w.h5 --reconstruction-algorithm cgls --iterations 401 --size 64" + resume, 3,
        {"--iterations is 401, and was 400"});
  ASSERT_EQ(run("simulate -o other.h5 --size 64 --views 61 --rows 6 --photons 1e3").code, 0);
  fails("recon other.h5 -o w.h5" + cgls + resume, 3, {"state: --resume: the scan"});
  EXPECT_TRUE(run.has("state")) << "a run that was refused has lost it";
  std::ofstream(run / "state", std::ios::app) << "more";
  fails("recon scan.h5 -o w.h5" + cgls + resume, 3, {"state: the check-point is damaged"});
  std::ofstream(run / "state") << "no check-point, but a text of its own";
  fails("recon scan.h5 -o w.h5" + cgls + resume, 3, {"state", "tandem did not write it"});
}

/// Whatever ends a run, the state of the step at work is kept, and the last line says how to go on.
TEST_F(CheckpointOptions, KeepTheStepAtWork) {
  const std::string endless = " --reconstruction-algorithm cgls --iterations 1000000 --size 64",
                    until_it_solves =
                        " 2> err & p=$!; until grep -qs 'solving: iteration' err; do sleep 0.05; done; ",
                    signals = "rm -f err; env --default-signal=INT,TERM,HUP,USR1";
  const auto iterations = [&] {  // by the last line of progress
    const std::string told = text_of(run / "err");
    return std::stoi(told.substr(told.rfind("solving: iteration ") + 19));
  };
  int before = 0;
  for (const auto& [signal, code] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 129}, {"USR1", 138}}) {
    const Ended ended = run("recon scan.h5 -o v.h5 --checkpoint state --resume" + endless + until_it_solves +
                                "kill -" + signal + " $p; wait $p",
                            signals);
    EXPECT_EQ(ended.code, code) << text_of(run / "err");
    EXPECT_NE(text_of(run / "err").find("--resume goes on from the check-point state"), std::string::npos)
        << text_of(run / "err");
    EXPECT_GE(iterations(), before) << "steps are lost after " << signal;
    before = iterations();
  }
  const Ended ended =
      run("recon scan.h5 -o w.h5" + endless + until_it_solves + "kill -INT $p; wait $p", signals);
  EXPECT_EQ(ended.code, 130);
  EXPECT_NE(text_of(run / "err").find("with --checkpoint FILE"), std::string::npos) << text_of(run / "err");
}

/// Another volume, which no run has begun, from the same check-point.
TEST_F(CheckpointOptions, GoOnWithTheSameBits) {
  leave_checkpoint(cgls);
  const Ended rest = run("recon scan.h5 -o rest.tif --checkpoint state --resume --json r.json" + cgls);
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_NE(rest.err.find("the solver goes on with 6 slices (0:6)"), std::string::npos) << rest.err;
  EXPECT_EQ(run.json("r.json")["checkpoint"]["resumed"].dump(), "[[0,6]]");
  EXPECT_EQ(run.json("r.json")["residuals"].size(), 401u);
  EXPECT_FALSE(run.has("state"));
  ASSERT_EQ(run("recon scan.h5 -o whole.tif" + cgls).code, 0);
  for (const char* slice : {"00000.tif", "00005.tif"}) {
    const std::string a = text_of(run / (std::string("rest_") + slice)),
                      b = text_of(run / (std::string("whole_") + slice));
    EXPECT_TRUE(a.substr(8, 4 * 64 * 64) == b.substr(8, 4 * 64 * 64)) << slice;
  }
}

}  // namespace
}  // namespace tandem::test
