// JSON as anybody may have written it.

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "../../../io/files/json.hpp"

namespace tandem::test {

using io::json_of;
using io::member;

namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }
bool is_json(const std::string& text) { return !json_of(text).is_discarded(); }

}  // namespace

TEST(Json, HasItsValues) {
  const nlohmann::json all = json_of(
      R"( {"a": [1, -2.5e3, 0], "b": {"c": "x\n\"\u00e9\ud83d\ude00"}, "d": true, "e": null, "f": {}, "g": []} )");
  EXPECT_EQ(member(all, "a"), (nlohmann::json{1, -2500, 0}));
  EXPECT_EQ(member(member(all, "b"), "c"), "x\n\"\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(member(all, "d"), true);
  EXPECT_TRUE(member(all, "e").is_null());
  EXPECT_TRUE(member(all, "h").is_null());
  EXPECT_TRUE(member(member(all, "h"), "c").is_null());
  EXPECT_TRUE(member(member(all, "a"), "c").is_null());
  EXPECT_EQ(member(all, "b").dump(), "{\"c\":\"x\\n\\\"\xc3\xa9\xf0\x9f\x98\x80\"}");
}

TEST(Json, ThatIsNoneIsDiscarded) {
  for (const char* text : {"",
                           "{",
                           "[1,]",
                           "{\"a\" 1}",
                           "{a: 1}",
                           "nan",
                           "inf",
                           "-",
                           "-inf",
                           "+1",
                           "01x",
                           "1 2",
                           "\"",
                           "\"\\",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "tru",
                           "[1}",
                           "{\"a\":}",
                           "NaN",
                           "1e999",
                           "[-1e999]",
                           "\"\xff\"",
                           "{\"\xc3(\":1}",
                           "\"\xed\xa0\x80\"",
                           "//\n1"})
    EXPECT_FALSE(is_json(text)) << text;
}

TEST(Json, WithoutAnEndIsDiscarded) {
  EXPECT_TRUE(is_json(nested(64)));
  EXPECT_FALSE(is_json(nested(65)));
  EXPECT_FALSE(is_json(nested(100'000)));
  EXPECT_FALSE(is_json(std::string(10'000'000, '[')));
  EXPECT_FALSE(is_json(std::string(10'000'000, ']') + std::string(10'000'000, '[')));
  std::string objects;
  for (int k = 0; k < 100'000; ++k) objects += "{\"a\":";
  EXPECT_FALSE(is_json(objects));
  EXPECT_FALSE(is_json("\"\\\"" + nested(100'000)));
  EXPECT_TRUE(is_json("{\"a\":\"" + std::string(100'000, '[') + "\"}")) << "these are words";
  EXPECT_TRUE(is_json("{\"a\":\"\\\"" + std::string(100'000, '[') + "\\\\\"}"));
}

TEST(Json, HasNoZeroBytes) {
  const std::string zero(1, '\0');
  for (const std::string& text : {zero, "{}" + zero, "{}" + zero + "and more", "[1" + zero + "]",
                                  "\"" + zero + "\"", "\"\\" + zero + "\""})
    EXPECT_FALSE(is_json(text)) << text;
  EXPECT_EQ(json_of("\"\\u0000\""), zero);
}

TEST(Json, HasTheLastOfTwoMembersWithOneName) {
  const nlohmann::json all = json_of(R"({"a": 1, "b": 2, "a": [3]})");
  EXPECT_EQ(all.dump(), R"({"a":[3],"b":2})");
}

TEST(Json, HasNumbersThatNoInt64Holds) {
  const nlohmann::json all = json_of("[9223372036854775808, 1e400000, -99999999999999999999999, 1e-999]");
  EXPECT_TRUE(all.is_discarded());
  const nlohmann::json large = json_of("[9223372036854775808, -99999999999999999999999, 1e-999]");
  EXPECT_EQ(large.get<std::vector<double>>(), (std::vector<double>{0x1p63, -1e23, 0}));
}

}  // namespace tandem::test
