#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "../../options/completion.hpp"
#include "sample_tables.hpp"

namespace tandem::options {
namespace {

namespace fs = std::filesystem;

bool has_shell(const std::string& shell) {
  return std::system(("command -v " + shell + " > /dev/null 2>&1").c_str()) == 0;
}

/// A folder with a script for the sample and a file named "a file.h5".
class Completion : public testing::Test {
 protected:
  Completion() { std::ofstream(folder_ / "a file.h5"); }
  ~Completion() override { fs::remove_all(folder_); }

  /// What a command prints in the folder, where "script" is the script for a shell.
  std::string said(const std::string& shell, const std::string& command) const {
    const Sample sample;
    Table odd("odd", hostile);
    std::ofstream(folder_ / "script") << completion_for(shell, {&sample.table, &odd});
    std::ofstream(folder_ / "command") << command;
    const std::string call = "cd '" + folder_.string() + "' && " + shell + " command 2>&1";
    std::string text;
    FILE* pipe = popen(call.c_str(), "r");
    for (int sign = std::fgetc(pipe); sign != EOF; sign = std::fgetc(pipe)) text += static_cast<char>(sign);
    pclose(pipe);
    EXPECT_FALSE(fs::exists(folder_ / "pwned"));
    return text;
  }
  /// Replies of bash for these words, the last of which is completed.
  std::string in_bash(const std::string& words) const {
    return said("bash", "source ./script; COMP_WORDS=(tandem " + words +
                            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tandem; rm script command; "
                            "printf '<%s>' \"${COMPREPLY[@]}\"");
  }

  const fs::path folder_ = [] {
    std::string name = (fs::temp_directory_path() / "completion.XXXXXX").string();
    return fs::path(mkdtemp(name.data()));
  }();
};

TEST_F(Completion, OfBashHasCommandsOptionsWordsAndFiles) {
  if (!has_shell("bash")) GTEST_SKIP() << "no bash";
  EXPECT_EQ(in_bash("''"), "<recon><odd><--help><--version>");
  EXPECT_EQ(in_bash("recon --f"), "<--flats><--filter><--flag><--follow>");
  EXPECT_EQ(in_bash("recon --filter ha"), "<hann><hamming>");
  EXPECT_EQ(in_bash("recon --filter = ham"), "<hamming>");
  EXPECT_EQ(in_bash("recon --filter ="), "<ramp><hann><hamming>");
  EXPECT_EQ(in_bash("recon --stop ''"), "<gcv><gap=>");
  EXPECT_EQ(in_bash("recon --follow = v"), "<views=>");
  EXPECT_EQ(in_bash("recon --size ''"), "<>");
  EXPECT_EQ(in_bash("recon a"), "<a file.h5>");
  EXPECT_EQ(in_bash("recon --follow a"), "<a file.h5>");
  EXPECT_EQ(in_bash("recon -o a"), "<a file.h5>");
  EXPECT_EQ(in_bash("recon --sec"), "<>");
  EXPECT_EQ(in_bash("unknown ''"), "<>");
}

TEST_F(Completion, OfFishHasDescriptionsAsTheyAre) {
  if (!has_shell("fish")) GTEST_SKIP() << "no fish";
  const auto in_fish = [&](const std::string& line) {
    return said("fish", "source ./script; rm script command; complete -C '" + line + "'");
  };
  EXPECT_EQ(in_fish("tandem o"), "odd\t" + hostile + "\n");
  EXPECT_EQ(in_fish("tandem recon --filter ha"),
            "hamming\twindow of the filter\nhann\twindow of the filter\n");
  EXPECT_TRUE(in_fish("tandem recon --fla").starts_with("--flag\t" + hostile.substr(0, 50)));
  EXPECT_EQ(in_fish("tandem recon a"), "a file.h5\n");
  EXPECT_EQ(in_fish("tandem recon --size "), "");
  EXPECT_EQ(in_fish("tandem recon --sec"), "");
}

TEST_F(Completion, OfZshIsReadWithoutAFault) {
  if (!has_shell("zsh")) GTEST_SKIP() << "no zsh";
  EXPECT_EQ(said("zsh", "compdef() { print \"$@\"; }; source ./script"), "_tandem tandem\n");
}

/// What _describe and _arguments get.
TEST_F(Completion, OfZshHasRowsAsSpecifications) {
  if (!has_shell("zsh")) GTEST_SKIP() << "no zsh";
  const std::string text = said("zsh",
                                "compdef() { }; source ./script; _arguments() { print -rl -- \"$@\"; }; "
                                "words=(tandem recon ''); CURRENT=3; _tandem");
  EXPECT_NE(text.find("\n*--flats=[flat images (repeatable)]:FILE:{_files; }\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("\n--filter=[window of the filter]:ramp|hann|hamming:{compadd -- ramp hann hamming; }\n"),
      std::string::npos);
  EXPECT_NE(text.find("\n(-o --output)-o+[.it's\\: \\[a\\] \"quote\" $(touch"), std::string::npos) << text;
  EXPECT_NE(text.find("\n--size=[voxels along x (default 256)]:N: \n"), std::string::npos);
  EXPECT_NE(
      text.find(
          "\n--follow=-[add views as they come]::views=N,seconds=S:{compadd -S \"\" -- views= seconds=; }\n"),
      std::string::npos);
  EXPECT_TRUE(text.ends_with("\n*:scan:{_files; }\n")) << text;
}

TEST(CompletionOfAnUnknownShell, NamesThoseThatAreKnown) {
  try {
    completion_for("tcsh", {});
    FAIL();
  } catch (const UsageError& fault) {
    EXPECT_STREQ(fault.what(), "shell 'tcsh' is not known; one of bash, zsh, fish");
  }
}

}  // namespace
}  // namespace tandem::options
