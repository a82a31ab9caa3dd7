#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/execution.hpp"

namespace tandem {
namespace {

TEST(Execution, IsReadBackFromItsNames) {
  for (const char* name : {"automatic", "standard", "texture", "alu", "hybrid", "tensor"})
    EXPECT_EQ(name_of(variant_named(name)), name);
  for (const char* name : {"float32", "float16", "uint8"}) EXPECT_EQ(name_of(precision_named(name)), name);
  EXPECT_EQ(name_of(Execution{Variant::tensor, Precision::float16}), "tensor float16");
}

TEST(Execution, RefusesOtherNamesAndListsItsOwn) {
  EXPECT_THROW(variant_named(""), GeometryError);
  EXPECT_THROW(precision_named(""), GeometryError);
  try {
    variant_named("tensors");
    FAIL();
  } catch (const GeometryError& error) {
    EXPECT_STREQ(error.what(),
                 "variant: 'tensors' is not known; one of automatic, standard, texture, alu, hybrid, tensor");
  }
}

}  // namespace
}  // namespace tandem
