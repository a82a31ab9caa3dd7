// What `mpirun tandem recon` says of what its ranks sent each other.

#include <gtest/gtest.h>

#include "../../core/comm.hpp"
#include "program.hpp"

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

TEST_F(RankTraffic, IsInTheReportAsPlanned) {
  const std::string cgls = " --reconstruction-algorithm cgls --iterations 4 --json r.json --overwrite";
  ASSERT_EQ(run("simulate -o scan.h5 --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 --size 33 --rows 9 "
                "--views 41")
                .code,
            0);
  for (const int ranks : {2, 3}) {
    const Ended ended = on(ranks, "recon scan.h5 -o v.h5" + cgls);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const nlohmann::json traffic = run.json("r.json").at("traffic");
    EXPECT_EQ(traffic["way"], "MPI");
    const auto sent = traffic["sent_bytes"].get<std::vector<double>>(),
               planned = traffic["planned_bytes_a_step"].get<std::vector<double>>();
    ASSERT_EQ(sent.size(), static_cast<std::size_t>(ranks));
    constexpr double steps = 5;  // and the one before the first
    for (std::size_t rank = 0; rank < sent.size(); ++rank) EXPECT_EQ(sent[rank], steps * planned[rank]);
    EXPECT_NE(ended.out.find("\ntraffic   "), std::string::npos) << ended.out;
  }
}

TEST_F(RankTraffic, IsLeftOutWhereRanksSendNothing) {
  ASSERT_EQ(run("simulate -o scan.h5 --size 17 --rows 5 --views 20").code, 0);
  ASSERT_EQ(on(2, "recon scan.h5 -o v.h5 --json r.json").code, 0);
  EXPECT_FALSE(run.json("r.json").contains("traffic"));
}

}  // namespace
}  // namespace tandem::test
