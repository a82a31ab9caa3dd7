// Ranks that have one solver together: check-points, signals, and the other ranks when one fails.

#include <cstring>

#include "../../../solvers/run.hpp"
#include "ranks.hpp"

namespace tandem::test {
namespace {

struct Method {
  const char* name;
  std::string options;
};
const Method cgls{"cgls", " --reconstruction-algorithm cgls"},
    tv{"tv", " --reconstruction-algorithm tv --tv-weight 0.2"},
    lsmr{"lsmr", " --reconstruction-algorithm lsmr"};

class RankFailures : public RanksOfPrograms {
 protected:
  void SetUp() override {
    RanksOfPrograms::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(run(cone("--size 17 --bins 23 --rows 15 --views 20 --axis-bin 10.7")).code, 0);
  }

  static std::string iterate(const Method& method, int iterations) {
    return "recon cone.h5 -o v.h5" + method.options + " --iterations " + std::to_string(iterations);
  }
  static std::string recon(const Method& method, int iterations, const std::string& every) {
    return iterate(method, iterations) + " --checkpoint state:every=" + every;
  }
  /// The volume of a run that nothing disturbs.
  std::vector<float> whole(int ranks, const Method& method, int iterations) {
    const Ended ended = on(ranks, iterate(method, iterations));
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::vector<float> volume = voxels(run / "v.h5");
    std::filesystem::remove(run / "v.h5");
    return volume;
  }
  /// Runs ranks until a condition of the shell holds; then does something, and expects that they end soon.
  Ended disturb(int ranks, const std::string& recon, const std::string& condition, const std::string& event) {
    for (int rank = 0; rank < ranks; ++rank) std::filesystem::remove(run / ("pid." + std::to_string(rank)));
    const std::string to_end = then(condition, "date +%s%N > begin; " + event, "date +%s%N > end");
    Ended ended = run(recon + to_end, shells(ranks, ""));
    ended.err = without_words_of_mpi(ended.err);
    EXPECT_LT(std::stod(text_of(run / "end")) - std::stod(text_of(run / "begin")), 10e9) << "10 s";
    return ended;
  }
  /// It may say that a message of a killed rank was cut off: "[host:1234] Read -1, expected 9, errno = 3".
  static std::string without_words_of_mpi(const std::string& text) {
    std::istringstream lines(text);
    std::string rest;
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with('[') || line.find("] Read -1, expected ") == std::string::npos)
        rest += line + '\n';
    return rest;
  }
  /// The iteration that the file names.
  int iteration_of(const std::string& file) const {
    const std::string text = text_of(run / file), part = "iteration 4\n";
    const std::size_t at = text.find(part);
    int iteration = -1;
    if (at != std::string::npos) std::memcpy(&iteration, text.data() + at + part.size(), sizeof iteration);
    return iteration;
  }
  /// The iteration of another rank; such a rank has two names for its file.
  int iteration_of_rank(int rank) const {
    const std::string file = "state.rank" + std::to_string(rank);
    EXPECT_NE(run.has(file), run.has(file + ".1")) << "the older one is gone";
    return iteration_of(run.has(file) ? file : file + ".1");
  }
  void expect_nothing_left() const {
    EXPECT_EQ(run.left_of("state"), 0);
    EXPECT_EQ(run.left_of(".tandem"), 0);
  }
};

TEST_F(RankFailures, GoOnWithTheSameBitsWhenTheSchedulerEndedThem) {
  constexpr int half = 500;
  for (const auto& [ranks, method] : {std::pair(2, cgls), std::pair(3, tv), std::pair(3, lsmr)}) {
    const std::vector<float> volume = whole(ranks, method, 2 * half);
    const std::string long_run = recon(method, 2 * half, std::to_string(half)) + " --resume";
    // one rank alone hears of it
    says(disturb(ranks, long_run, "[ -e state ]", "kill -TERM $(cat pid.1)"), 143,
         {"tandem: error: interrupted by SIGTERM"});
    const int iteration = iteration_of("state");
    EXPECT_GT(iteration, half) << method.name;
    for (int rank = 1; rank < ranks; ++rank) EXPECT_EQ(iteration_of_rank(rank), iteration) << rank;
    EXPECT_FALSE(run.has("v.h5"));
    const Ended again = run(long_run, mpirun(ranks));
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.err.find("the solver goes on with 15 slices (0:15)"), std::string::npos) << again.err;
    EXPECT_EQ(voxels(run / "v.h5"), volume) << method.name;
    expect_nothing_left();
    std::filesystem::remove(run / "v.h5");
  }
}

TEST_F(RankFailures, GoOnWithTheSameBitsAfterKilledRanks) {
  constexpr int iterations = 1000;
  const std::vector<float> volume = whole(3, cgls, iterations);
  const std::string long_run = recon(cgls, iterations, "1") + " --resume";
  int before = 0;
  for (const int victim : {1, 0, 2}) {
    const std::string rank = std::to_string(victim), named = "rank " + rank + " of 3";
    says(disturb(3, long_run, "[ -e pid." + rank + " ] && [ state -nt pid." + rank + " ]",
                 "kill -KILL $(cat pid." + rank + ")"),
         137, {"tandem: error: ", named.c_str(), "its process ended without a word"});
    const int iteration = iteration_of("state");
    EXPECT_GT(iteration, before) << "it went on";
    before = iteration;
  }
  EXPECT_LT(before, iterations);
  const Ended again = run(long_run, mpirun(3));
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("the solver goes on with"), std::string::npos) << again.err;
  EXPECT_EQ(voxels(run / "v.h5"), volume);
  expect_nothing_left();
}

TEST_F(RankFailures, EndSoonAtASignalWithoutCheckpoint) {
  for (const char* signal : {"TERM", "INT"}) {
    const Ended ended =
        disturb(3, iterate(cgls, 1000000), "[ -e .v.h5.tandem ]",
                std::string("sleep 0.5; kill -") + signal + " $(cat pid.0) $(cat pid.1) $(cat pid.2)");
    says(ended, signal == std::string("TERM") ? 143 : 130, {"interrupted by SIG", signal});
    EXPECT_FALSE(run.has("v.h5"));
  }
}

TEST_F(RankFailures, RefuseASetOfCheckpointsThatIsNotWhole) {
  constexpr int iterations = 1500;
  const std::string long_run = recon(cgls, iterations, "1"), resume = long_run + " --resume";
  disturb(3, long_run, "[ -e state ]", "kill -TERM $(cat pid.0)");
  ASSERT_TRUE(run.has("state"));
  says(on(3, long_run), 3, {"rank 0 of 3", "state: is there already", "--resume"});
  says(on(2, resume), 3, {"over 2 ranks", "and was", "over 3 ranks"});
  says(on(3, recon(cgls, iterations + 1, "1") + " --resume"), 3, {"--iterations is 1501, and was 1500"});
  const std::string file = run.has("state.rank2") ? "state.rank2" : "state.rank2.1";
  std::filesystem::rename(run / file, run / "kept");
  says(on(3, resume), 3, {"rank 2 of 3", file.c_str(), "is not there", "leave out --resume"});
  const std::string other = run.has("state.rank1") ? "state.rank1" : "state.rank1.1";
  std::filesystem::copy(run / other, run / file);
  std::string damaged = text_of(run / file);
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(run / file, std::ios::binary) << damaged;
  says(on(3, resume), 3, {"rank 2 of 3", file.c_str(), "damaged"});
  // the run goes on, and then an older part is brought back
  std::filesystem::copy(run / "kept", run / file, std::filesystem::copy_options::overwrite_existing);
  disturb(3, resume, "[ -e pid.0 ] && [ state -nt pid.0 ]", "kill -KILL $(cat pid.0)");
  ASSERT_GT(iteration_of("state"), iteration_of("kept"));
  for (const char* name : {"state.rank2.1", "state.rank2"})
    std::filesystem::copy(run / "kept", run / name, std::filesystem::copy_options::overwrite_existing);
  says(on(3, resume), 3, {"rank 2 of 3", "is of iteration", "bring back the files of one check-point"});
}

TEST_F(RankFailures, BeginAnewOverASetOfCheckpoints) {
  constexpr int iterations = 1500;
  const std::string long_run = recon(cgls, iterations, "1") + " --overwrite";
  disturb(2, long_run, "[ -e state ]", "kill -KILL $(cat pid.1)");
  std::ofstream(run / "mark").flush();
  disturb(2, long_run, "[ state -nt mark ]", "kill -KILL $(cat pid.0)");
  EXPECT_GT(iteration_of("state"), 0);
  const Ended ended = on(2, recon(cgls, iterations, "1") + " --resume");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::vector<float> volume = voxels(run / "v.h5");
  std::filesystem::remove(run / "v.h5");
  EXPECT_EQ(volume, whole(2, cgls, iterations));
  expect_nothing_left();
}

TEST_F(RankFailures, EndTogetherIfTheDiskOfOneIsFull) {
  const double start = seconds_now();
  const Ended ended =
      run(iterate(cgls, 20) + " --quiet; }", shells(3, "trap '' XFSZ; [ $R = 2 ] && ulimit -f 1"));
  EXPECT_LT(seconds_now() - start, 10) << "s, with all before the disk was full";
  says(ended, 3, {"rank 2 of 3", "v.h5", "File too large"});
  EXPECT_FALSE(run.has("v.h5"));
  EXPECT_EQ(run.left_of(".tandem"), 0);
}

TEST_F(RankFailures, GoOnWithoutACheckpointThatOneOfThemCannotWrite) {
  ASSERT_EQ(run(cone("--size 33 --bins 37 --rows 29 --views 41")).code, 0);
  const std::vector<float> volume = whole(3, tv, 9);
  // the part of a rank, with the dual vectors, is larger than the volume
  const Ended ended = run(recon(tv, 9, "2") + "; }", shells(3, "trap '' XFSZ; [ $R = 2 ] && ulimit -f 400"));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string warning = "the check-point of iteration 2 could not be written: rank 2: state.rank2";
  const std::size_t said = ended.err.find(warning);
  ASSERT_NE(said, std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("File too large; the run goes on", said), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("could not be written", said + warning.size()), std::string::npos) << "once";
  EXPECT_EQ(voxels(run / "v.h5"), volume);
  expect_nothing_left();
}

TEST_F(RankFailures, RefuseAnotherVersionOnOneRank) {
  const double start = seconds_now();
  const std::string first = "[ $R = 2 ] && sed s/" TANDEM_TEST_VERSION
                            "/9.9.9/g $1 > other && chmod +x other && shift && set ./other \"$@\"";
  says(run(iterate(cgls, 20) + " --checkpoint state --quiet; }", shells(3, first)), 2,
       {"rank 2", "is tandem 9.9.9, rank 0 is " TANDEM_TEST_VERSION});
  EXPECT_LT(seconds_now() - start, 10) << "s";
  EXPECT_FALSE(run.has("v.h5"));
}

/// A rank has the memory that the file of options in its working folder names.
TEST_F(RankFailures, DoWithARankThatHasLessMemory) {
  const std::vector<float> volume = whole(3, cgls, 20);
  const std::string here = run / "", options = "recon '" + here + "cone.h5' -o '" + here + "v.h5'" +
                                               cgls.options +
                                               " --iterations 20 --quiet --config memory.toml; }";
  std::ofstream(run / "memory.toml") << "memory = 1\n";
  const auto less = [](const char* gib) {
    return std::string("[ $R = 1 ] && mkdir -p less && cd less && echo 'memory = ") + gib + "' > memory.toml";
  };
  const Ended enough = run(options, shells(3, less("0.3")));
  ASSERT_EQ(enough.code, 0) << enough.err;
  EXPECT_EQ(voxels(run / "v.h5"), volume);
  std::filesystem::remove(run / "v.h5");
  const double start = seconds_now();
  says(run(options, shells(3, less("0.0001"))), 5, {"rank 1 of 3", "memory"});
  EXPECT_LT(seconds_now() - start, 10) << "s";
  EXPECT_FALSE(run.has("v.h5"));
}

}  // namespace
}  // namespace tandem::test
