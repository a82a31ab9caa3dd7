// The sheet of slices about trial axes.

#include <gtest/gtest.h>

#include "program.hpp"

namespace tandem {
namespace {

using test::Ended, test::Program;

TEST(CenterSheet, ShowsTrialsAndNamesTheSharpest) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 3 --views 90 --axis-bin 33.25").code, 0);
  const Ended ended = run("center scan.h5 --try 31.25:34.75:0.5 --preview sheet.png --json r.json");
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto report = run.json("r.json");
  EXPECT_EQ(report["axis_bin"], 33.25);
  EXPECT_EQ(report["method"], "sharpness");
  ASSERT_EQ(report["trials"].size(), 8u);
  EXPECT_EQ(report["trials"][7]["axis_bin"], 34.75);
  EXPECT_NE(ended.out.find("33.25       1.00000  best\n"), std::string::npos) << ended.out;
  EXPECT_TRUE(run.has("sheet.png"));
  EXPECT_TRUE(report["warnings"].empty()) << report["warnings"];
}

TEST(CenterSheet, SaysWhereTheRangeMayBeTooShort) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 48 --bins 64 --rows 1 --views 90 --axis-bin 33.25").code, 0);
  const Ended ended = run("center scan.h5 --try 30:32:0.5");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.err.find("try others beyond 32"), std::string::npos) << ended.err;
}

TEST(CenterSheet, RefusesWhatIsNoRangeAndWhatIsNotThere) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 24 --views 20").code, 0);
  for (const char* text :
       {"10", "10:12", "12:10:1", "10:12:0", "10:12:-1", "10:12:1:1", "a:b:c", "0:1e9:1", "''"})
    EXPECT_EQ(run(std::string("center none.h5 --try ") + text).code, 2) << text;
  EXPECT_EQ(run("center none.h5 --preview sheet.png").code, 2);
  EXPECT_EQ(run("center scan.h5 --try 900:901:1 --preview sheet.png").code, 4);
  EXPECT_FALSE(run.has("sheet.png"));
  EXPECT_EQ(run("center scan.h5 --try 10:12:1 --preview scan.h5").code, 2);
}

}  // namespace
}  // namespace tandem
