// `mpirun tandem recon`: the volume of one process, and what becomes of a rank that fails.

#include "ranks.hpp"

namespace tandem::test {
namespace {

class Ranks : public RanksOfPrograms {};

const std::string cgls = " --reconstruction-algorithm cgls --iterations 4",
                  tv = " --reconstruction-algorithm tv --iterations 5";

TEST_F(Ranks, MakeTheVolumeOfOneProcess) {
  for (const std::string& options :
       {std::string(), cgls, tv + " --nonnegative", std::string(" --dtype uint16 --rotation-axis auto")}) {
    ASSERT_EQ(run("recon scan.h5 -o one.h5 --quiet --overwrite" + options).code, 0);
    for (const int ranks : {2, options.empty() ? 4 : 3}) {
      const Ended ended = on(ranks, "recon scan.h5 -o all.h5 --overwrite" + options);
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(voxels(run / "all.h5"), voxels(run / "one.h5")) << ranks << options;
      EXPECT_EQ(run.left_of("tandem"), 0);
    }
  }
}

TEST_F(Ranks, MendTheSameMetal) {
  ASSERT_EQ(run("simulate -o pins.h5 --phantom pins --size 97 --rows 5 --views 90 --max-attenuation 12 "
                "--photons 2e4")
                .code,
            0);
  const std::string options = " --overwrite --quiet --physics auto --json r.json";
  ASSERT_EQ(run("recon pins.h5 -o one.h5" + options).code, 0);
  const nlohmann::json one = run.json("r.json");
  EXPECT_EQ(one["metal"]["verdict"], "mended");
  const Ended ended = on(3, "recon pins.h5 -o all.h5" + options);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(voxels(run / "all.h5"), voxels(run / "one.h5"));
  for (const char* same : {"metal", "hardening", "beam"})
    EXPECT_EQ(run.json("r.json")[same], one[same]) << same;
}

TEST_F(Ranks, MakeTheReportOfOneProcess) {
  const std::string options = " --overwrite --truth truth.h5 --preview v.png --json r.json" + cgls;
  ASSERT_EQ(
      run("simulate -o scan.h5 --overwrite --size 61 --rows 7 --views 47 --photons 1e4 --truth truth.h5")
          .code,
      0);
  ASSERT_EQ(run("recon scan.h5 -o v.h5 --quiet" + options).code, 0);
  const nlohmann::json one = run.json("r.json");
  const std::string picture = text_of(run / "v.png");
  const Ended ended = on(3, "recon scan.h5 -o v.h5" + options);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json all = run.json("r.json");
  EXPECT_EQ(all["ranks"].size(), 3u);
  for (const char* same : {"quality", "residuals", "updates", "stopped_by", "slice_iterations", "beam"})
    EXPECT_EQ(all[same], one[same]) << same;
  EXPECT_TRUE(one["beam"]["misfit_noise"].is_number()) << one["beam"];
  EXPECT_EQ(all["curves"]["slices"].size(), 7u) << "each of its own chunk";
  EXPECT_EQ(text_of(run / "v.png"), picture);
}

TEST_F(Ranks, ForecastWhatTheyWillDo) {
  const Ended ended = on(2, "recon scan.h5 --dry-run");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("forecast"), std::string::npos) << ended.out;
}

TEST_F(Ranks, WorkWithFewerSlicesThanRanks) {
  ASSERT_EQ(run("recon scan.h5 -o one.h5 --quiet --slices 2").code, 0);
  const Ended ended = run("recon scan.h5 -o all.h5 --slices 2", mpirun(4));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("2 of 4 ranks have nothing to do: there are 2 chunks"), std::string::npos)
      << ended.err;
  EXPECT_EQ(voxels(run / "all.h5"), voxels(run / "one.h5"));
}

TEST_F(Ranks, RefuseOnceWhatTheyCannotDo) {
  says(on(3, "recon no.h5 -o v.h5"), 3, {"tandem: error: no.h5: no such file"});
  says(on(3, "recon scan.h5 -o v.h5 --what"), 2, {"--what is not known"});
  says(on(2, "info scan.h5"), 2, {"tandem info is done by one process, and 2 were started"});
  says(on(2, "recon scan.h5 -o v.h5 --compression zstd"), 3, {"several ranks do not write one packed HDF5"});
  says(on(2, "recon scan.h5 --compare fbp,sirt --preview c.png"), 2, {"--compare is done by one process"});
  EXPECT_FALSE(run.has("v.h5"));
}

TEST_F(Ranks, RefuseOtherOptionsOnOneRank) {
  const std::string start =
      "timeout 60 " TANDEM_MPIRUN " -n 1 '" TANDEM_PROGRAM "' recon scan.h5 -o v.h5 : -n 1 ";
  says(run("recon scan.h5 -o v.h5 --fbp-filter hann", start), 2, {"rank 1", "--fbp-filter hann", "rank 0"});
  EXPECT_FALSE(run.has("v.h5"));
}

TEST_F(Ranks, RefuseAnotherVersionOnOneRank) {
  const std::string first = "[ $R = 1 ] && sed s/" TANDEM_TEST_VERSION
                            "/9.9.9/g $1 > other && chmod +x other && shift && set ./other \"$@\"";
  says(run("recon scan.h5 -o v.h5 --quiet; }", shells(2, first)), 2,
       {"rank 1", "is tandem 9.9.9, rank 0 is " TANDEM_TEST_VERSION});
}

TEST_F(Ranks, RefuseAFileSystemThatOneOfThemDoesNotSee) {
  const std::string first = "[ $R = 1 ] && mkdir far && cp -p scan.h5 far && cd far";
  says(run("recon scan.h5 -o v.h5 --quiet; }", shells(3, first)), 3,
       {"rank 1 of 3", "does not see the folder", "need one file system"});
  EXPECT_FALSE(run.has("v.h5"));
  EXPECT_FALSE(run.has(".v.h5.tandem"));
}

TEST_F(Ranks, EndTogetherIfOneFails) {
  const Ended ended = run("recon scan.h5 -o v.h5 --quiet --reconstruction-algorithm cgls --iterations 300; }",
                          shells(3, "trap '' XFSZ; [ $R = 2 ] && ulimit -f 1"));
  says(ended, 3, {"rank 2 of 3", "v.h5", "File too large"});
  EXPECT_FALSE(run.has("v.h5"));
  EXPECT_FALSE(run.has(".v.h5.tandem"));
}

TEST_F(Ranks, GoOnAfterAKilledRank) {
  const std::string options = " --reconstruction-algorithm cgls --iterations 2000",
                    long_run = "recon scan.h5 -o v.h5 --resume" + options;
  const Ended killed = run(
      long_run + then("ls .v.h5.tandem/*.journal >/dev/null 2>&1", "kill -KILL $(cat pid.1)"), shells(3, ""));
  EXPECT_EQ(killed.code, 137) << killed.err;
  EXPECT_LE(std::count(killed.err.begin(), killed.err.end(), '\n'), 1) << killed.err;
  ASSERT_FALSE(run.has("v.h5"));
  ASSERT_TRUE(run.has(".v.h5.tandem"));
  const Ended again = run(long_run, mpirun(2));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("are there already"), std::string::npos) << again.err;
  ASSERT_EQ(run("recon scan.h5 -o one.h5 --quiet" + options).code, 0);
  EXPECT_EQ(voxels(run / "v.h5"), voxels(run / "one.h5"));
}

TEST_F(Ranks, LeaveACheckpointWhenTheSchedulerEndsThem) {
  const std::string options = " --reconstruction-algorithm cgls --iterations 3000 --slices 2",
                    long_run = "recon scan.h5 -o v.h5 --resume --checkpoint state" + options;
  const Ended ended =
      run(long_run + then("[ -e .v.h5.tandem ]", "sleep 0.3; kill -TERM $(cat pid.0) $(cat pid.1)"),
          shells(2, ""));
  says(ended, 143, {"tandem: error: interrupted by SIGTERM"});
  ASSERT_TRUE(run.has("state"));
  ASSERT_TRUE(run.has("state.rank1"));
  says(on(3, long_run), 3, {"the number of ranks is 3, and was 2"});
  const Ended again = run(long_run, mpirun(2));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("the solver goes on with"), std::string::npos) << again.err;
  EXPECT_FALSE(run.has("state.rank1"));
  ASSERT_EQ(run("recon scan.h5 -o one.h5 --quiet" + options).code, 0);
  EXPECT_EQ(voxels(run / "v.h5"), voxels(run / "one.h5"));
}

TEST_F(Ranks, AreTheSameAsOneProcessForSlabsOfACone) {
  ASSERT_EQ(run("simulate -o cone.h5 --geometry cone --size 33 --rows 29 --views 40 --sod 60 --sdd 90 "
                "--pixel-size 0.5")
                .code,
            0);
  ASSERT_EQ(run("recon cone.h5 -o one.h5 --quiet").code, 0);
  for (const int ranks : {2, 3}) {
    ASSERT_EQ(on(ranks, "recon cone.h5 -o all.h5 --overwrite").code, 0);
    EXPECT_LE(error_of("all.h5", "one.h5"), 1e-6);
  }
}

const std::string sirt = " --reconstruction-algorithm sirt --iterations 8",
                  tv_of_cone = " --reconstruction-algorithm tv --iterations 8 --tv-weight 0.2";

TEST_F(Ranks, SolveAConeAsOneProcessDoes) {
  ASSERT_EQ(run(cone("--size 33 --bins 37 --rows 29 --views 41 --axis-bin 17.2")).code, 0);
  for (const std::string& options :
       {cgls, tv_of_cone + " --initial zero", sirt + " --stop discrepancy", tv_of_cone,
        cgls + " --remove-stripe-method fw --dezinger 3:window=projection --binning 2",
        cgls + " --slices 7 --dtype uint16 --range 0:0.1"}) {
    ASSERT_EQ(run("recon cone.h5 -o one.h5 --quiet --overwrite --json one.json" + options).code, 0)
        << options;
    for (const int ranks : {2, 3, 4}) {
      const Ended ended = on(ranks, "recon cone.h5 -o all.h5 --overwrite --json all.json" + options);
      ASSERT_EQ(ended.code, 0) << ended.err;
      const bool integers = options.find("uint16") != std::string::npos;  // in steps of 1.5e-5 of the range
      EXPECT_LE(error_of("all.h5", "one.h5"), integers ? 2e-5 : 1e-6) << ranks << options;
      const nlohmann::json one = run.json("one.json"), all = run.json("all.json");
      for (const char* same : {"iterations", "stopped_by", "slice_iterations"})
        EXPECT_EQ(all[same], one[same]) << same;
    }
  }
}

TEST_F(Ranks, SolveAConeWithLessThanOneViewOrLineOrSliceEach) {
  for (const auto& [size, more] : {std::pair<std::string, std::string>(" --size 17", " --rows 5 --views 3"),
                                   {" --size 3", " --bins 19 --rows 15 --views 20"}}) {
    ASSERT_EQ(run(cone(size + more)).code, 0);
    for (const std::string& options : {cgls + size, tv_of_cone + " --slices 1" + size}) {
      ASSERT_EQ(run("recon cone.h5 -o one.h5 --quiet --overwrite" + options).code, 0);
      const Ended ended = on(4, "recon cone.h5 -o all.h5 --overwrite" + options);
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_LE(error_of("all.h5", "one.h5"), 1e-6) << more << options;
    }
  }
}

TEST_F(Ranks, RefuseOnceAConesInitialVolumeThatIsNone) {
  ASSERT_EQ(run(cone("--size 17 --rows 9 --views 20")).code, 0);
  says(on(2, "recon cone.h5 -o v.h5 --initial scan.h5" + cgls), 3, {"scan.h5"});
  EXPECT_FALSE(run.has("v.h5"));
}

}  // namespace
}  // namespace tandem::test
