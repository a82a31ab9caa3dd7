// Every rank makes all tests. One that fails ends all of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "../../core/comm.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE"))
    tandem::Comm::start({[](const auto& failures) { std::cerr << failures.front().text << '\n'; },
                         [](int code) { ::_exit(code); }});
  const tandem::Comm all = tandem::Comm::world();
  if (!all.is_first()) GTEST_FLAG_SET(brief, true);
  const int code = RUN_ALL_TESTS();
  if (code != 0) static_cast<void>(all.fail(code, "a test failed on rank " + std::to_string(all.rank())));
  static_cast<void>(all.leave());
  return code;
}
