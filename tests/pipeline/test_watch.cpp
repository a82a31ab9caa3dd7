// What a run tells while it works.

#include <gtest/gtest.h>

#include "../../pipeline/watch/progress.hpp"

namespace tandem::test {
namespace {

using namespace pipeline;

/// Between two chunks nobody computes, and the writer has begun. It ends after the workers.
TEST(Watch, TellsTheWriterAfterTheWorkers) {
  std::vector<std::string> told;
  std::vector<double> done;
  Watch watch([&](const Stage& now) { told.push_back(now.name), done.push_back(now.done); }, 16, 1);
  watch.reading("read", 0);
  watch.reading("", 0);
  watch.computing(0, "back-project", 4);
  watch.writing("write", 0);
  watch.computed(0, 8);
  watch.writing("write", 4);
  watch.reading("read", 12);
  watch.reading("", 12);
  watch.computing(0, "back-project", 2);
  watch.computed(0, 8);
  watch.writing("write", 12);
  EXPECT_EQ(told, (std::vector<std::string>{"read", "start", "back-project", "back-project", "back-project",
                                            "back-project", "read", "back-project", "back-project", "write",
                                            "write"}));
  for (std::size_t k = 3; k + 2 < done.size(); ++k) EXPECT_GE(done[k], done[k - 1]) << k;
}

TEST(Watch, SaysWhereAResidualHasGrown) {
  EXPECT_EQ(words_of_residual(0.3), "residual 0.3 of the first");
  EXPECT_EQ(words_of_residual(1.4219), "residual 1.42 times the first");
}

}  // namespace
}  // namespace tandem::test
