#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "../../options/manual.hpp"
#include "sample_tables.hpp"

namespace tandem::options {
namespace {

TEST(Manual, BeginsLinesWithADotForMacrosAlone) {
  const Sample sample;
  Table other("info", hostile);
  other.footer = "Examples:\n  .PP\n  'br\n  tandem \\fB";
  std::istringstream page(manual_of({&sample.table, &other}, "1.0", "2024-05-06"));
  for (std::string line; std::getline(page, line);) {
    EXPECT_FALSE(line.empty());  // a warning of groff
    EXPECT_NE(line[0], '\'') << line;
    EXPECT_NE(line[0], ' ') << line;
    if (line[0] != '.') continue;
    const std::string macro = line.substr(1, line.find(' ') - 1);
    EXPECT_NE(std::string(" TH SH SS B I RI BR TP PP IP nf fi ").find(" " + macro + " "), std::string::npos)
        << line;
  }
}

TEST(Manual, ShowsTextsAsTheyAre) {
  const Sample sample;
  const std::string page = manual_of({&sample.table}, "1.0", "2024-05-06");
  EXPECT_NE(page.find("\n\\&.it\\(aqs: [a] \\(dqquote\\(dq $(touch pwned) \\(gatouch"), std::string::npos)
      << page;
  EXPECT_NE(page.find("\\e and \\efB, 100 %"), std::string::npos) << page;
  EXPECT_NE(page.find("\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR\\fI NAME\\fR (required)\n"), std::string::npos)
      << page;
  EXPECT_NE(page.find("\nvoxels along x (default 256)\n"), std::string::npos);
  EXPECT_NE(page.find("\n\\fBfbp\\fR\na method\nthat goes on\n"), std::string::npos);
  EXPECT_EQ(page.find("secret"), std::string::npos);
}

TEST(Manual, HasItsSectionsInTheirOrder) {
  const Sample sample;
  const std::string page = manual_of({&sample.table}, "1.0", "2024-05-06");
  std::size_t last = 0;
  for (const std::string title : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXAMPLES", "EXIT STATUS",
                                  "ENVIRONMENT", "FILES", "SEE ALSO"}) {
    const std::size_t at = page.find("\n.SH " + title + "\n");
    EXPECT_TRUE(at != std::string::npos && at > last) << title;
    last = at;
  }
}

TEST(Manual, TellsOptionsOfAllCommandsOnce) {
  bool quiet = false, only = false;
  Table one("one", "One"), two("two", "Two");
  for (Table* table : {&one, &two}) table->add("--quiet", On::run, quiet, "no progress");
  two.add("--only", On::run, only, "of two alone");
  const std::string page = manual_of({&one, &two}, "1.0", "");
  const std::size_t first = page.find("\\-\\-quiet"), shared = page.find(".SH OPTIONS OF EVERY COMMAND");
  EXPECT_NE(shared, std::string::npos);
  EXPECT_GT(first, shared);
  EXPECT_EQ(page.find("\\-\\-quiet", first + 1), std::string::npos);
  EXPECT_LT(page.find("\\-\\-only"), shared);
}

}  // namespace
}  // namespace tandem::options
