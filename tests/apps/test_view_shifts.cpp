// Shifts of views from the command line.

#include <gtest/gtest.h>

#include <fstream>

#include "program.hpp"

namespace tandem::test {
namespace {

TEST(ViewShiftOption, TakesOneNumberPerView) {
  const Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 20 --truth truth.h5").code, 0);
  std::ofstream(run / "none.txt") << "# still\n"
                                  << [] {
                                       std::string zeros;
                                       for (int v = 0; v < 20; ++v) zeros += "0\n";
                                       return zeros;
                                     }();
  std::ofstream(run / "one.txt") << [] {
    std::string ones;
    for (int v = 0; v < 20; ++v) ones += "1.0\n";
    return ones;
  }();
  std::ofstream(run / "words.txt") << "far\n";
  std::ofstream(run / "few.txt") << "0\n0.5\n";
  std::ofstream(run / "far.txt") << "99\n";
  const auto psnr = [&](const std::string& options) {
    const Ended ended =
        run("recon scan.h5 -o v.h5 --overwrite --device cpu --truth truth.h5 --json r.json " + options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return run.json("r.json")["quality"]["psnr_db"].get<double>();
  };
  const double still = psnr("");
  EXPECT_FALSE(run.json("r.json")["geometry"]["view_shifts"]);
  EXPECT_EQ(psnr("--view-shifts none.txt"), still);
  EXPECT_TRUE(run.json("r.json")["geometry"]["view_shifts"]);
  EXPECT_LT(psnr("--view-shifts one.txt"), still - 1);
  EXPECT_EQ(psnr("--view-shifts one.txt --rotation-axis 10.5"), still);  // of 0:24, moved back
  const auto refused = [&](const std::string& command, int code, const std::string& word) {
    const Ended ended = run(command);
    EXPECT_EQ(ended.code, code) << command;
    EXPECT_NE(ended.err.find(word), std::string::npos) << ended.err;
  };
  refused("recon scan.h5 -o w.h5 --view-shifts few.txt", 3, "2 shifts for 20 views");
  refused("recon scan.h5 -o w.h5 --view-shifts gone.txt", 3, "gone.txt");
  refused("recon scan.h5 -o w.h5 --view-shifts words.txt", 3, "one shift per line, in bins");
  refused("recon scan.h5 -o w.h5 --view-shifts one.txt --rotation-axis-auto", 4, "--view-shifts");
  refused("center scan.h5 --view-shifts one.txt", 4, "--try");
  refused("recon scan.h5 -o w.h5 --view-shifts one.txt --sod 100 --sdd 200 --pixel-size 1", 4, "cone beam");
  EXPECT_EQ(run("center scan.h5 --view-shifts one.txt --try 10:11:0.5 --json c.json").code, 0);
  EXPECT_EQ(run.json("c.json")["trials"].size(), 3u);
}

}  // namespace
}  // namespace tandem::test
