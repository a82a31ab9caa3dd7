#include <gtest/gtest.h>

#include "../../core/spelled.hpp"

namespace tandem {
namespace {

TEST(Spelled, AnOptionIsWrittenAsTheFrontEndHasIt) {
  EXPECT_EQ(spelled("device-memory"), "--device-memory");
  EXPECT_EQ(with_spelled("give {size} or {device-memory}, please"), "give --size or --device-memory, please");
  EXPECT_EQ(with_spelled("no option"), "no option");
  spell_options_with(Spelling::keywords);
  EXPECT_EQ(spelled("device-memory"), "device_memory");
  EXPECT_EQ(with_spelled("{device-memory}"), "device_memory");
  spell_options_with(Spelling::dashes);
  EXPECT_EQ(spelled("memory"), "--memory");
}

}  // namespace
}  // namespace tandem
