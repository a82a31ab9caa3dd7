#include "../../options/option.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../../options/values.hpp"

namespace tandem::options {
namespace {

struct Members {
  bool flag = false;
  int whole = 3;
  std::uint64_t seed = 0;
  std::optional<Index> count;
  double number = 0.5;
  std::optional<float> weight;
  std::string text, word = "ramp";
  std::vector<std::string> texts;
  Table table{"test", "a table"};

  Members() {
    table.heading("First");
    table.add("scan", On::files, texts, "files").required();
    table.add("--flag", On::result, flag, "a flag");
    table.add("--whole", On::result, whole, "a number").check(options::count(1, 9));
    table.add("--seed", On::result, seed, "a number").without("--count");
    table.add("--count", On::run, count, "a number").only_with("--flag");
    table.heading("Second");
    table.add("--number", On::result, number, "a number");
    table.add("--weight", On::result, weight, "a number");
    table.add("-o,--output", On::files, text, "a file");
    add_choice(table, "--word", On::result, word, {"ramp", "hann"}, "a word");
  }
  void give(const std::string& name, const Values& values) { table.take(table.at(name), values); }
  std::string refusal_of(const std::string& name, const Values& values) {
    try {
      give(name, values);
    } catch (const UsageError& fault) {
      return fault.what();
    }
    return "";
  }
  std::string refusal() {
    try {
      table.complete();
    } catch (const UsageError& fault) {
      return fault.what();
    }
    return "";
  }
};

TEST(Table, SetsMembersOfAllTypes) {
  Members m;
  m.give("scan", {"a.h5", "b.h5"});
  m.give("--flag", {"true"});
  m.give("--whole", {"009"});
  m.give("--seed", {"18446744073709551615"});
  m.give("--number", {"-1e-3"});
  m.give("--weight", {".5"});
  m.give("-o", {"v.h5"});
  m.give("word", {"HANN"});
  EXPECT_EQ(m.texts, (Values{"a.h5", "b.h5"}));
  EXPECT_TRUE(m.flag);
  EXPECT_EQ(m.whole, 9);
  EXPECT_EQ(m.table.at("whole").given, Values{"9"});
  EXPECT_EQ(m.seed, 18446744073709551615u);
  EXPECT_EQ(m.number, -1e-3);
  EXPECT_EQ(m.weight, 0.5f);
  EXPECT_EQ(m.text, "v.h5");
  EXPECT_EQ(m.word, "hann");
  EXPECT_EQ(m.refusal(), "");
}

TEST(Table, KnowsDefaultsGroupsAndWhatIsGiven) {
  Members m;
  EXPECT_EQ(m.table.at("--whole").usual, "3");
  EXPECT_EQ(m.table.at("--number").usual, "0.5");
  EXPECT_EQ(m.table.at("--weight").usual, "");
  EXPECT_EQ(m.table.at("--word").usual, "ramp");
  EXPECT_EQ(m.table.at("--flag").usual, "false");
  EXPECT_EQ(m.table.at("--word").group, "Second");
  EXPECT_FALSE(m.table.given("--whole"));
  m.give("--whole", {"4"});
  EXPECT_TRUE(m.table.given("--whole"));
  EXPECT_EQ(m.table.find("--whole")->spelled(), "--whole");
  EXPECT_EQ(m.table.find("scan")->spelled(), "scan");
  EXPECT_EQ(m.table.find("--hole"), nullptr);
}

TEST(Table, RefusesValuesWithTheNameOfTheOption) {
  Members m;
  for (const char* name : {"--whole", "--seed", "--count", "--number", "--weight"})
    for (const char* value : {"", " ", "x", "0x10", "1,5", "1 ", "+-1", "nan", "1e400", "--1"}) {
      const std::string fault = m.refusal_of(name, {value});
      EXPECT_EQ(fault.find(std::string(name) + ": "), 0u) << name << " '" << value << "' " << fault;
    }
  EXPECT_NE(m.refusal_of("--whole", {"10"}), "");
  EXPECT_NE(m.refusal_of("--whole", {"1.5"}), "");
  EXPECT_NE(m.refusal_of("--seed", {"-1"}), "");
  EXPECT_NE(m.refusal_of("--output", {""}), "");
  EXPECT_NE(m.refusal_of("--word", {"han"}).find("did you mean hann?"), std::string::npos);
  EXPECT_EQ(m.refusal_of("--whole", {"1", "2"}), "--whole is given 2 times; give it once");
}

TEST(Table, RefusesWhatIsMissingOrDoesNotGoTogether) {
  Members m;
  EXPECT_EQ(m.refusal(), "scan is required");
  m.give("scan", {"a.h5"});
  m.give("--count", {"1"});
  EXPECT_EQ(m.refusal(), "--count requires --flag");
  m.give("--flag", {"true"});
  EXPECT_EQ(m.refusal(), "");
  EXPECT_EQ(m.table.settled_by(m.table.at("--seed")),
            m.table.find("--count"));  // --count does not go with it
  m.give("--seed", {"1"});
  EXPECT_EQ(m.refusal(), "--seed and --count do not go together");
}

TEST(Table, DoesItsWorkAtTheEndInItsOrder) {
  Members m;
  std::string done;
  m.table.at_end([&] { done += 'a'; });
  m.table.at_end([&] { done += 'b'; });
  m.give("scan", {"a.h5"});
  EXPECT_EQ(done, "");
  m.table.complete();
  EXPECT_EQ(done, "ab");
}

TEST(Table, TellsFromTheKindWhetherAValueNamesAFile) {
  Option option;
  option.kind = "zero|fbp|FILE";
  EXPECT_FALSE(option.names_a_file({"Zero"}));
  EXPECT_TRUE(option.names_a_file({"zero.h5"}));
  option.kind = "FILE";
  EXPECT_TRUE(option.names_a_file({"zero"}));
  option.kind = "X|auto";
  EXPECT_FALSE(option.names_a_file({"zero.h5"}));
}

TEST(Ranges, NameTheirOptionWhereTheyAreNone) {
  const auto refusal = [](const auto& parse) {
    try {
      parse();
    } catch (const UsageError& fault) {
      return std::string(fault.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([] { parse_range("--slices", "2:1"); }),
            "--slices: '2:1' is not a range; give FIRST:END with 0 <= FIRST < END");
  EXPECT_EQ(refusal([] { parse_axis_part("--views", "2:1", true); }),
            "--views: '2:1' is no range; give A:B or A:B:STEP with 0 <= A < B");
  EXPECT_EQ(refusal([] { parse_range("--slices", "1:2"); }), "");
  for (const std::string text : {"", "1", "-1:2", "1:1", "1:2:3", "1:b"})
    EXPECT_FALSE(range_in(text)) << text;
}

RC_GTEST_PROP(Numbers, AreReadAsTheyAreWritten, (double number, Index whole)) {
  RC_PRE(std::isfinite(number));
  RC_ASSERT(number_in(io::shortest(number)) == number);
  RC_ASSERT(whole_in(std::to_string(whole)) == whole);
}

}  // namespace
}  // namespace tandem::options
