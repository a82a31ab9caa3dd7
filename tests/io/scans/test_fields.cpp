// Fields of scanners' formats: what is harmless, what is said, what is refused.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../../../core/error.hpp"
#include "../../../core/spelled.hpp"
#include "../../../io/scans/fields.hpp"

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

/// The tables of all formats, as docs/fields.md has them.
std::string page_of_fields() {
  std::ostringstream page;
  for (const io::FieldTable& table : io::field_tables()) {
    page << "\n## " << table.format << "\n\n| field | harmless | | meaning |\n| --- | --- | --- | --- |\n";
    for (const Field& field : table.fields) {
      const char* use = field.use == Use::obeyed ? "obeyed" : field.use == Use::noted ? "noted" : "refused";
      page << "| `" << field.key << "` | " << field.harmless << " | " << use << " | "
           << with_spelled(field.meaning) << " |\n";
    }
  }
  return page.str();
}

TEST(Fields, OfAllFormatsAreInTheDocs) {
  std::ifstream file(TANDEM_DOCS "/fields.md");
  const std::string docs{std::istreambuf_iterator<char>(file), {}}, page = page_of_fields();
  ASSERT_NE(docs.find("\n## "), std::string::npos);
  EXPECT_TRUE(docs.substr(docs.find("\n## ")) == page) << "docs/fields.md shall end by:\n" << page;
}

}  // namespace
}  // namespace tandem::test
