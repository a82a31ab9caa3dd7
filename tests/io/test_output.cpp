#include "../../io/output.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "../../io/plain_file.hpp"
#include "io_checks.hpp"

namespace tandem::test {

using io::Output;
using io::Replace;

namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Does `work` in a process that is then killed.
void killed(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace

TEST(Output, HasNoNameUntilItIsPublished) {
  const TemporaryFolder folder;
  {
    Output output(folder / "a.txt");
    output.create("a.txt").write(0, "half", 4);
    EXPECT_FALSE(fs::exists(folder / "a.txt"));
  }
  EXPECT_EQ(files_in(folder.path()), 0u);
  Output(folder / "a.txt").write("whole");
  EXPECT_EQ(content(folder / "a.txt"), "whole");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(Output, IsOneRunsAlone) {
  const TemporaryFolder folder;
  {
    const Output first(folder / "a.h5");
    EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5"); }), {"a.h5: another run writes it", "process"}));
    EXPECT_NO_THROW(Output(folder / "b.h5"));
  }
  EXPECT_NO_THROW(Output(folder / "a.h5"));
}

TEST(Output, ClearsWhatDeadRunsLeft) {
  const TemporaryFolder folder;
  for (const char* next : {"a.h5", "b.h5"}) {  // the same output, another one beside it
    killed([&] {
      Output output(folder / "a.h5");
      output.create("a.h5").write(0, "half", 4);
      static_cast<void>(new Output(std::move(output)));
    });
    EXPECT_TRUE(fs::exists(folder / ".a.h5.tandem/a.h5"));
    { const Output other(folder / next); }
    EXPECT_EQ(files_in(folder.path()), 0u);
  }
}

TEST(Output, LeavesAloneWhatLivingRunsHave) {
  const TemporaryFolder folder;
  Output living(folder / "a.h5");
  living.create("a.h5").write(0, "half", 4);
  { const Output other(folder / "b.h5"); }
  EXPECT_TRUE(fs::exists(folder / ".a.h5.tandem/a.h5"));
}

TEST(Output, NeverDeletesWhatIsNotProvablyOfTandem) {
  const TemporaryFolder folder;
  for (const char* name : {".a.h5.tandem", ".b.h5.tandem"}) {
    fs::create_directory(folder / name);
    fs::permissions(folder / name, fs::perms::owner_all);
    std::ofstream(folder / name / "notes.txt") << "mine";
  }
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5"); }), {"a.h5", "is in the way"}));
  { const Output other(folder / "c.h5"); }
  for (const char* name : {".a.h5.tandem/notes.txt", ".b.h5.tandem/notes.txt"})
    EXPECT_EQ(content(folder / name), "mine");
}

TEST(Output, IsNotLedAstray) {  // by what others put in the place of the folder that it makes
  const TemporaryFolder folder, victim;
  std::ofstream(victim / "a.h5") << "precious";
  fs::create_directory_symlink(victim.path(), folder / ".a.h5.tandem");
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5"); }), {"is in the way"}));
  fs::remove(folder / ".a.h5.tandem");
  fs::create_symlink(victim / "none", folder / ".a.h5.tandem");
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5"); }), {"is in the way"}));
  fs::remove(folder / ".a.h5.tandem");
  ASSERT_EQ(::mkfifo((folder / ".a.h5.tandem").c_str(), 0600), 0);
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5"); }), {"is in the way"}));
  EXPECT_EQ(files_in(victim.path()), 1u);
  EXPECT_EQ(content(victim / "a.h5"), "precious");
}

TEST(Output, WritesIntoTheFileThatItMade) {  // also when the name leads elsewhere by then
  const TemporaryFolder folder, victim;
  std::ofstream(victim / "a.txt") << "precious";
  Output output(folder / "a.txt");
  io::PlainFile file = output.create("a.txt");
  fs::remove(folder / ".a.txt.tandem/a.txt");
  fs::create_symlink(victim / "a.txt", folder / ".a.txt.tandem/a.txt");
  file.write(0, "whole", 5);
  std::ofstream(file.path(), std::ios::app) << "!";
  EXPECT_EQ(file.size(), 6);
  EXPECT_EQ(content(victim / "a.txt"), "precious");
  EXPECT_NE(refusal([&] { output.publish(); }), "");
}

TEST(Output, ReplacesWhatTandemWroteAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.json") << "{\"mine\": 1}";
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.json"); }),
                   {"a.json: is there already, and tandem did not write it", "--overwrite"}));
  EXPECT_EQ(content(folder / "a.json"), "{\"mine\": 1}");
  Output(folder / "a.json", Replace::any).write("{\"command\": \"info\", \"version\": \"0.1.0\"}");
  EXPECT_NO_THROW(Output(folder / "a.json"));
  std::ofstream(folder / "empty.h5");
  EXPECT_NO_THROW(Output(folder / "empty.h5"));
  ASSERT_EQ(::mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
  EXPECT_TRUE(says(refusal([&] { Output(folder / "pipe.h5", Replace::any); }), {"no regular file"}));
}

TEST(Output, LeavesALinkToAFileALink) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "far");
  std::ofstream(folder / "far/a.txt");
  fs::create_symlink("far/a.txt", folder / "link.txt");
  {
    Output output(folder / "link.txt");
    EXPECT_TRUE(says(refusal([&] { Output(folder / "far/a.txt"); }), {"another run"}));
    output.write("");  // a file named like the link would be another one
  }
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
  EXPECT_FALSE(fs::is_symlink(folder / "far/a.txt"));
}

TEST(Output, HasTheModeOfTheMask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  Output(folder / "a.txt").write("whole");
  ::umask(before);
  EXPECT_EQ(fs::status(folder / "a.txt").permissions(), static_cast<fs::perms>(0640));
}

}  // namespace tandem::test
