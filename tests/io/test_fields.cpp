// Fields of scanners' formats: what is harmless, what is said, what is refused.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../io/fields.hpp"

namespace tandem::test {
namespace {

using io::Field;
using io::Use;

constexpr std::array fields{Field{"Offset", "0", Use::obeyed, "the axis"},
                            Field{"Tilt", "0", Use::noted, "the axis leans"},
                            Field{"Helical", "off", Use::refused, "a helix; only circles are reconstructed"}};

std::vector<std::string> notes_of(const std::map<std::string, std::string, std::less<>>& values) {
  std::vector<std::string> notes;
  io::heed(
      fields, "scan.log",
      [&](std::string_view key) -> std::optional<std::string> {
        const auto found = values.find(key);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      },
      notes);
  return notes;
}

TEST(Fields, AreSilentIfTheyChangeNothing) {
  EXPECT_TRUE(notes_of({}).empty());
  EXPECT_TRUE(notes_of({{"Tilt", "0.000"}, {"Helical", " OFF "}, {"Offset", "3"}}).empty());
  EXPECT_TRUE(notes_of({{"Tilt", " "}}).empty());
}

TEST(Fields, AreNotedByNameAndValue) {
  EXPECT_EQ(notes_of({{"Tilt", "0.5"}}),
            std::vector<std::string>{"scan.log: Tilt = 0.5 is left out: the axis leans"});
  EXPECT_EQ(notes_of({{"Tilt", "yes"}}).size(), 1u);
}

TEST(Fields, AreRefusedIfTheVolumeWouldBeWrong) {
  try {
    notes_of({{"Helical", "on"}});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const FileError& e) {
    EXPECT_STREQ(e.what(), "scan.log: Helical = on: a helix; only circles are reconstructed");
  }
}

TEST(Fields, OfAllFormatsAreInTheDocs) {
  std::ifstream file(TANDEM_DOCS "/formats.md");
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  for (const io::FieldTable& table : io::field_tables()) {
    EXPECT_FALSE(table.fields.empty()) << table.format;
    for (const Field& field : table.fields) {
      std::string quoted = "`";
      quoted.append(field.key).append("`");
      EXPECT_NE(docs.find(quoted), std::string::npos) << table.format << ": " << field.key;
    }
  }
}

}  // namespace
}  // namespace tandem::test
