// Every rank makes all tests. One that fails ends all of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <iostream>

#include "portions.hpp"

std::atomic<bool> tandem::test::outlives_failures = false;

namespace {

class EndsAll : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    const tandem::Comm all = tandem::Comm::world();
    all.fail(1, std::string(test.name()) + " failed on rank " + std::to_string(all.rank()));
    ::_exit(1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE"))
    tandem::Comm::start({[](const auto& failures) { std::cerr << failures.front().text << '\n'; },
                         [](int code) {
                           if (!tandem::test::outlives_failures) ::_exit(code);
                         }});
  const tandem::Comm all = tandem::Comm::world();
  if (!all.is_first()) GTEST_FLAG_SET(brief, true);
  if (!all.is_alone()) testing::UnitTest::GetInstance()->listeners().Append(new EndsAll);
  const int code = RUN_ALL_TESTS();
  all.leave();
  return code;
}
