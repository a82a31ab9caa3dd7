#include <gtest/gtest.h>

#include <string>

#include "../../../io/files/json.hpp"

namespace tandem::test {

using io::Json;

TEST(Json, HasItsValues) {
  const std::string text =
      R"( {"a": [1, -2.5e3, 0], "b": {"c": "x\n\"\u00e9\ud83d\ude00"}, "d": true, "e": null, "f": {}, "g": []} )";
  const auto all = Json::of(text);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->find("a")->numbers(), (std::vector<double>{1, -2500, 0}));
  EXPECT_EQ(all->find("b", "c")->text(), "x\n\"\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(all->find("d")->flag(), true);
  EXPECT_FALSE(all->find("e")->number());
  EXPECT_FALSE(all->find("a")->number());
  EXPECT_EQ(all->find("h"), nullptr);
  EXPECT_EQ(all->find("h", "c"), nullptr);
  EXPECT_TRUE(all->find("b")->numbers().empty());
  const Range place = all->find("b")->place();
  EXPECT_EQ(text.substr(static_cast<std::size_t>(place.first), static_cast<std::size_t>(place.size())),
            R"({"c": "x\n\"\u00e9\ud83d\ude00"})");
}

TEST(Json, ThatIsNoneIsEmpty) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "{a: 1}", "nan", "inf", "-", "-inf", "+1", "01x",
                           "1 2", "\"", "\"\\", "\"\\u12\"", "\"\\ud800\"", "tru", "[1}", "{\"a\":}"})
    EXPECT_FALSE(Json::of(text)) << text;
  EXPECT_TRUE(Json::of(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(Json::of(std::string(100000, '[')));
}

}  // namespace tandem::test
