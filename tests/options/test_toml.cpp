#include "../../options/toml.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../../io/files/text.hpp"

namespace tandem::options {
namespace {

Values values_in(const std::string& text) {
  const std::vector<Setting> all = settings_in("name = " + text + "\n", "here");
  return all.size() == 1 ? all.front().values : Values{};
}

std::string refusal_of(const std::string& text) {
  try {
    settings_in(text, "run.toml");
  } catch (const UsageError& fault) {
    return fault.what();
  }
  return "";
}

TEST(Toml, ReadsTextsNumbersFlagsAndLists) {
  EXPECT_EQ(values_in("\"hann\""), Values{"hann"});
  EXPECT_EQ(values_in("'a \\ b'"), Values{"a \\ b"});
  EXPECT_EQ(values_in("\"\\u00e9 \\\"x\\\" # no comment\" # one"), Values{"\u00e9 \"x\" # no comment"});
  EXPECT_EQ(values_in("511.5"), Values{"511.5"});
  EXPECT_EQ(values_in("-3"), Values{"-3"});
  EXPECT_EQ(values_in("0.0001"), Values{"1e-04"});
  EXPECT_EQ(values_in("true"), Values{"true"});
  EXPECT_EQ(values_in("[\"a\", 'b',\n 3]"), (Values{"a", "b", "3"}));
  EXPECT_EQ(values_in("[]"), Values{});
}

TEST(Toml, KeepsTheOrderAndTheLines) {
  const std::vector<Setting> all = settings_in("# mine\nz = 1\n\na = 2\nm = [1,\n2]\nb = 3\n", "here");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "z");
  EXPECT_EQ(all[0].line, 2);
  EXPECT_EQ(all[1].name, "a");
  EXPECT_EQ(all[2].line, 5);
  EXPECT_EQ(all[3].line, 7);
}

TEST(Toml, RefusesWhatIsNoneWithTheLineAndWithoutTheText) {
  for (const char* text :
       {"a = 1\nsecret", "a = 1\nb = secret", "a = 1\nb = \"secret", "a = 1\na = 2", "a = 1\n= secret",
        "a = 1\nb = 1 secret", "a = 1\nb = \x01", "a = 1\nb = '\xff'"}) {
    const std::string fault = refusal_of(text);
    EXPECT_EQ(fault.find("run.toml: line 2: "), 0u) << text << fault;
    EXPECT_EQ(fault.find("secret"), std::string::npos) << fault;
  }
  EXPECT_NE(refusal_of("[recon]\na = 1").find("section"), std::string::npos);
  EXPECT_NE(refusal_of("a.b = 1").find("section"), std::string::npos);
  EXPECT_NE(refusal_of("a = {b = 1}").find("section"), std::string::npos);
  EXPECT_NE(refusal_of("a = 1979-05-27"), "");
  EXPECT_NE(refusal_of("a = [[1], [2]]"), "");
  EXPECT_NE(refusal_of("a = " + std::string(100'000, '[')), "");
  EXPECT_NE(refusal_of(std::string(1 << 20, '[')), "");
}

TEST(Toml, WritesNumbersAndFlagsPlain) {
  EXPECT_EQ(toml_of({"0.5"}), "0.5");
  EXPECT_EQ(toml_of({"+1"}), "\"+1\"");  // the sign would be lost
  EXPECT_EQ(toml_of({"010"}), "\"010\"");
  EXPECT_EQ(toml_of({".5"}), "\".5\"");
  EXPECT_EQ(toml_of({"true"}), "true");
  EXPECT_EQ(toml_of({"a", "2"}), "[\"a\", 2]");
  EXPECT_EQ(toml_of({"a\n\"\\\t\x7f"}), "\"a\\u000a\\\"\\\\\\u0009\\u007f\"");
}

RC_GTEST_PROP(Toml, ReadsWhatItWrites, (std::vector<std::string> given)) {
  Values texts;
  for (std::string& text : given) {
    std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80 || c == '\0'; });
    texts.push_back(text);
  }
  RC_PRE(!texts.empty());
  RC_ASSERT(values_in(toml_of(texts)) == texts);
}

RC_GTEST_PROP(Toml, ReadsTheNumbersThatItWrites, (double number, Index whole)) {
  RC_PRE(std::isfinite(number));
  const Values texts{io::shortest(number), std::to_string(whole)};
  RC_ASSERT(values_in(toml_of(texts)) == texts);
}

}  // namespace
}  // namespace tandem::options
