// A process that may open few files says so, whatever it was about to open.

#include <gtest/gtest.h>

#include "program.hpp"

namespace tandem::test {
namespace {

const std::string inherit_none = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ";

TEST(FewHandles, AreNamedWithTheRemedy) {
  const Program program;
  ASSERT_EQ(program("simulate -o scan.h5 --size 32 --views 20 --rows 3").code, 0);
  int refused = 0;
  for (const std::string name : {"v.h5", "v.zarr", "n.zarr --ome-zarr 0.5", "v.tif", "v.nrrd"})
    for (int most = 5; most < 16; ++most) {
      const Ended run = program("recon scan.h5 -o " + name + " --overwrite --quiet --threads 1",
                                inherit_none + "prlimit --nofile=" + std::to_string(most));
      if (run.code == 0) continue;
      ++refused;
      EXPECT_EQ(run.code, 3) << name << ", " << most << ": " << run.err;
      EXPECT_NE(run.err.find("ulimit -n"), std::string::npos) << name << ", " << most << ": " << run.err;
    }
  EXPECT_GT(refused, 8);
}

}  // namespace
}  // namespace tandem::test
