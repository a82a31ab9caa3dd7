#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/execution.hpp"

namespace tandem {
namespace {

TEST(Execution, IsReadBackFromItsNames) {
  for (const char* name : {"float32", "float16", "uint8"}) EXPECT_EQ(name_of(precision_named(name)), name);
  EXPECT_EQ(name_of(Execution{"tensor", Precision::float16}), "tensor float16");
}

TEST(Execution, RefusesOtherNamesAndListsItsOwn) {
  EXPECT_THROW(precision_named(""), GeometryError);
  try {
    precision_named("float");
    FAIL();
  } catch (const GeometryError& error) {
    EXPECT_STREQ(error.what(), "precision: 'float' is not known; one of float32, float16, uint8");
  }
}

}  // namespace
}  // namespace tandem
