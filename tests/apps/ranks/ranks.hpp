#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../../core/comm.hpp"
#include "../program.hpp"
#include "../voxels.hpp"

namespace tandem::test {

/// Runs of `mpirun tandem recon`.
class RanksOfPrograms : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Comm::is_built_in()) GTEST_SKIP() << "this build has no MPI";
    ASSERT_EQ(run("simulate -o scan.h5 --phantom ellipsoids --size 61 --bins 64 --rows 13 --views 47 "
                  "--photons 1e4 --axis-bin 30.2")
                  .code,
              0);
  }
  /// Ends a run that takes minutes too long, with a code of its own.
  static std::string mpirun(int ranks) {
    return "timeout -k 5 500 " TANDEM_MPIRUN " -n " + std::to_string(ranks) + " ";
  }
  Ended on(int ranks, const std::string& arguments) { return run(arguments + " --quiet", mpirun(ranks)); }
  /// Each rank does something in a shell first, which knows its number $R, and says which process it is.
  std::string shells(int ranks, const std::string& first) {
    std::ofstream(run / "rank.sh") << "R=$OMPI_COMM_WORLD_RANK\necho $$ > pid.$R\n"
                                   << first << "\nexec \"$@\"\n";
    return "{ " + mpirun(ranks) + "sh rank.sh";
  }
  static void says(const Ended& ended, int code, std::initializer_list<const char*> words) {
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    for (const char* word : words)
      EXPECT_NE(ended.err.find(word), std::string::npos) << word << " is not in " << ended.err;
  }
  /// How far a volume is from another one, relative to the L2 norm of that.
  double error_of(const char* volume, const char* of) const {
    const std::vector<float> some = voxels(run / volume), truth = voxels(run / of);
    double square = 0, error = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      square += std::pow(truth[i], 2), error += std::pow(some.at(i) - truth[i], 2);
    return std::sqrt(error / square);
  }
  Program run;
};

/// Waits until a condition of the shell holds, runs a command, waits for the ranks, and runs another one.
inline std::string then(const std::string& condition, const std::string& command,
                        const std::string& last = ":") {
  return " --quiet & p=$!; i=0; until " + condition +
         " || [ $i -gt 600 ]; do sleep 0.05; i=$((i+1)); done; " + command + "; wait $p; code=$?; " + last +
         "; (exit $code); }";
}

/// A small cone beam with noise, and so with weights of data for TV.
inline std::string cone(const std::string& options) {
  return "simulate -o cone.h5 --overwrite --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --photons 1e4 " +
         options;
}

}  // namespace tandem::test
