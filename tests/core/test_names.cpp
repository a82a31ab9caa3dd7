#include "../../core/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace tandem {
namespace {

constexpr std::array rows{std::pair{"one", 1}, std::pair{"two", 2}};

std::string refusal(std::string_view name) {
  try {
    named(rows, name, "number", &std::pair<const char*, int>::first);
  } catch (const GeometryError& error) {
    return error.what();
  }
  return {};
}

TEST(Names, StandInOneLine) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<int>{4, 5}, " x ", [](int n) { return std::to_string(n); }), "4 x 5");
}

TEST(Names, OfPartsWithoutOneAreLeftOut) {
  EXPECT_EQ(joined(std::vector<std::string>{"", "a", "", "b", ""}, " and "), "a and b");
}

TEST(Names, FindTheRowOfATable) {
  EXPECT_EQ(named(rows, "two", "number", &std::pair<const char*, int>::first).second, 2);
  const std::array<std::string_view, 2> plain{"x", "y"};
  EXPECT_EQ(&named(plain, "y", "axis"), &plain[1]);
}

TEST(Names, FindTheValueOfAnEnumeration) {
  enum class Number { zero, one, two };
  const std::array<std::string_view, 3> names{"zero", "one", "two"};
  for (const Number number : {Number::zero, Number::one, Number::two})
    EXPECT_EQ(value_named<Number>(names, row_of(names, number), "number"), number);
  EXPECT_THROW((value_named<Number, SpaceError>(names, "three", "number")), SpaceError);
}

TEST(Names, ThatNoRowHasAreRefusedWithTheKnownOnes) {
  for (const std::string_view unknown : {"", "on", "One"})
    EXPECT_EQ(refusal(unknown), "number '" + std::string(unknown) + "' is not known; one of one, two");
}

}  // namespace
}  // namespace tandem
