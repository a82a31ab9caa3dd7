// The report of `mpirun tandem recon` on what its ranks sent each other.

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "../../../core/comm.hpp"
#include "../program.hpp"

namespace tandem::test {
namespace {

class RankTraffic : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Comm::is_built_in()) GTEST_SKIP() << "this build has no MPI";
  }
  Ended on(int ranks, const std::string& arguments) {
    return run(arguments, "timeout -k 5 150 " TANDEM_MPIRUN " -n " + std::to_string(ranks));
  }
  Program run;
};

/// Even and odd splits of a cone beam and of a fan. In each application each strip goes to every other rank.
TEST_F(RankTraffic, IsInTheReport) {
  for (const char* size : {"--size 33 --rows 9 --views 41", "--size 32 --rows 1 --views 40"}) {
    ASSERT_EQ(run("simulate -o scan.h5 --overwrite --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 " +
                  std::string(size))
                  .code,
              0);
    for (const std::string method : {"cgls --iterations 4", "sirt"})
      for (const int ranks : {2, 3, 4}) {
        const Ended ended =
            on(ranks, "recon scan.h5 -o v.h5 --json r.json --overwrite --reconstruction-algorithm " + method);
        ASSERT_EQ(ended.code, 0) << ended.err;
        const nlohmann::json report = run.json("r.json"), traffic = report.at("traffic");
        EXPECT_EQ(traffic["way"], "MPI");
        const auto sum = [&](const char* key) {
          const auto of_ranks = traffic[key].get<std::vector<double>>();
          EXPECT_EQ(of_ranks.size(), static_cast<std::size_t>(ranks));
          return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0);
        };
        const double updates = report["updates"], views = report["geometry"]["views"];
        EXPECT_EQ(sum("sent_bytes"), 4 * (ranks - 1) * updates / views) << ranks << ", " << method << size;
        EXPECT_EQ(sum("received_bytes"), sum("sent_bytes"));
      }
  }
}

TEST_F(RankTraffic, IsSaidInALine) {
  ASSERT_EQ(run("simulate -o scan.h5 --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --size 20 --rows 4 "
                "--views 20")
                .code,
            0);
  const Ended ended =
      on(2, "recon scan.h5 -o v.h5 --reconstruction-algorithm osem --iterations 2 --subsets 5");
  ASSERT_EQ(ended.code, 0) << ended.err;
  // half of 20 x 20 x 4 voxels goes round 5 times there and back; twice as often in a step
  EXPECT_NE(ended.out.find("\ntraffic   0.00016 GB sent by a rank at most; MPI\n"), std::string::npos)
      << ended.out;
}

TEST_F(RankTraffic, IsLeftOutWhereRanksSendNothing) {
  ASSERT_EQ(run("simulate -o scan.h5 --size 17 --rows 5 --views 20").code, 0);
  ASSERT_EQ(on(2, "recon scan.h5 -o v.h5 --json r.json").code, 0);
  EXPECT_FALSE(run.json("r.json").contains("traffic"));
}

}  // namespace
}  // namespace tandem::test
