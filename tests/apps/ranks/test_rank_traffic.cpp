// The report of `mpirun tandem recon` on what its ranks sent each other.

#include <gtest/gtest.h>

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
  struct Traffic {
    std::vector<double> sent, before, a_step;  ///< bytes of each rank; the last two are those of the plan
    double steps = 0;
  };
  Traffic traffic_of(int ranks, const std::string& method) {
    const Ended ended =
        on(ranks, "recon scan.h5 -o v.h5 --json r.json --overwrite --reconstruction-algorithm " + method);
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (ended.code != 0) return {};
    const nlohmann::json report = run.json("r.json"), traffic = report.at("traffic");
    EXPECT_EQ(traffic["way"], "MPI");
    const auto of = [&](const char* key) { return traffic[key].get<std::vector<double>>(); };
    return {of("sent_bytes"), of("planned_bytes_before_steps"), of("planned_bytes_a_step"),
            report["iterations"]};
  }
  /// All that each rank sent, and what the plan says of so many steps.
  void expect_as_planned(int ranks, const std::string& what, const std::string& method) {
    const Traffic t = traffic_of(ranks, method);
    ASSERT_EQ(t.sent.size(), static_cast<std::size_t>(ranks)) << what;
    for (std::size_t rank = 0; rank < t.sent.size(); ++rank)
      EXPECT_EQ(t.sent[rank], t.before[rank] + t.steps * t.a_step[rank])
          << rank << " of " << ranks << ", " << what;
  }
  /// The plan does not count what the curve of the objective takes at steps 0, 1, 2, 5, 10 and so on, and the
  /// last.
  void expect_steps_as_planned(int ranks, const std::string& what, const std::string& method) {
    const Traffic few = traffic_of(ranks, method + " --iterations 6"),
                  more = traffic_of(ranks, method + " --iterations 8");
    ASSERT_EQ(more.sent.size(), static_cast<std::size_t>(ranks)) << what;
    for (std::size_t rank = 0; rank < more.sent.size(); ++rank)
      EXPECT_EQ(more.sent[rank] - few.sent[rank], 2 * more.a_step[rank])
          << rank << " of " << ranks << ", " << what;
  }
  Program run;
};

/// Even and odd splits of a cone beam and of a fan.
TEST_F(RankTraffic, IsInTheReportAsPlanned) {
  for (const char* size : {"--size 33 --rows 9 --views 41", "--size 32 --rows 1 --views 40"}) {
    ASSERT_EQ(run("simulate -o scan.h5 --overwrite --geometry cone --sod 60 --sdd 90 --pixel-size 0.5 " +
                  std::string(size))
                  .code,
              0);
    for (const char* method :
         {"cgls --iterations 4", "sirt", "os-sirt --iterations 3 --subsets 7",
          "sart --iterations 2 --initial fbp", "osem --iterations 3", "cgls --stop gcv --initial fbp"})
      for (const int ranks : {2, 3, 4}) expect_as_planned(ranks, method + std::string(", ") + size, method);
    for (const int ranks : {2, 3, 4}) expect_steps_as_planned(ranks, size, "tv --tv-weight 0.1");
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
  EXPECT_NE(
      ended.out.find("\ntraffic   0.00016 GB sent by a rank at most, by plan 3.2e-05 GB before the first "
                     "step and 6.4e-05 GB in each; MPI\n"),
      std::string::npos)
      << ended.out;
}

TEST_F(RankTraffic, IsLeftOutWhereRanksSendNothing) {
  ASSERT_EQ(run("simulate -o scan.h5 --size 17 --rows 5 --views 20").code, 0);
  ASSERT_EQ(on(2, "recon scan.h5 -o v.h5 --json r.json").code, 0);
  EXPECT_FALSE(run.json("r.json").contains("traffic"));
}

}  // namespace
}  // namespace tandem::test
