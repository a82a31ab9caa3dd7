#include "../../../io/files/output.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "../../../io/files/plain_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Content;
using io::Output;
using io::Replace;

namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
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
    Output output(folder / "a.txt", Content::report);
    output.create("a.txt").write(0, "half", 4);
    EXPECT_FALSE(fs::exists(folder / "a.txt"));
  }
  EXPECT_EQ(files_in(folder), 0u);
  Output(folder / "a.txt", Content::report).write("whole");
  EXPECT_EQ(content(folder / "a.txt"), "whole");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(Output, IsOneRunsAlone) {
  const TemporaryFolder folder;
  {
    const Output first(folder / "a.h5", Content::report);
    EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }),
                     {"a.h5: another run writes it", "process"}));
    EXPECT_NO_THROW(Output(folder / "b.h5", Content::report));
  }
  EXPECT_NO_THROW(Output(folder / "a.h5", Content::report));
}

TEST(Output, ClearsWhatDeadRunsLeft) {
  const TemporaryFolder folder;
  for (const char* next : {"a.h5", "b.h5"}) {  // the same output, another one beside it
    killed([&] {
      Output output(folder / "a.h5", Content::report);
      output.create("a.h5").write(0, "half", 4);
      static_cast<void>(new Output(std::move(output)));
    });
    EXPECT_TRUE(fs::exists(folder / ".a.h5.tandem/a.h5"));
    { const Output other(folder / next, Content::report); }
    EXPECT_EQ(files_in(folder), 0u);
  }
}

TEST(Output, LeavesAloneWhatLivingRunsHave) {
  const TemporaryFolder folder;
  Output living(folder / "a.h5", Content::report);
  living.create("a.h5").write(0, "half", 4);
  { const Output other(folder / "b.h5", Content::report); }
  EXPECT_TRUE(fs::exists(folder / ".a.h5.tandem/a.h5"));
}

/// If locks hold on one machine only, the run of another machine may be alive.
TEST(Output, LeavesAloneWhatOtherMachinesHave) {
  const TemporaryFolder folder;
  for (const char* name : {".a.h5.tandem", ".b.h5.tandem"}) {
    fs::create_directory(folder / name);
    fs::permissions(folder / name, fs::perms::owner_all);
    std::ofstream(folder / name / "lock") << "tandem: process 7 on elsewhere\nanother-boot\n1234";
    std::ofstream(folder / name / (std::string(1, name[1]) + ".h5")) << "half";
  }
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }),
                   {"a.h5: a run of another machine (process 7 on elsewhere)", "remove", ".a.h5.tandem"}));
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report, Replace::own, true); }),
                   {"a run of another machine"}));  // it left nothing to go on with
  { const Output other(folder / "c.h5", Content::report); }
  EXPECT_EQ(content(folder / ".a.h5.tandem/a.h5"), "half");
  EXPECT_EQ(content(folder / ".b.h5.tandem/b.h5"), "half");
}

TEST(Output, ClearsWhatAnotherBootOfThisMachineLeft) {
  const TemporaryFolder folder;
  std::string host(256, '\0');
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  fs::create_directory(folder / ".a.h5.tandem");
  fs::permissions(folder / ".a.h5.tandem", fs::perms::owner_all);
  std::ofstream(folder / ".a.h5.tandem/lock")
      << "tandem: process 7 on " << host.c_str() << "\nanother-boot\n1";
  std::ofstream(folder / ".a.h5.tandem/a.h5") << "half";
  { const Output other(folder / "b.h5", Content::report); }
  EXPECT_EQ(files_in(folder), 0u);
}

TEST(Output, TakesNoFolderThatOthersCanWriteTo) {
  const TemporaryFolder folder;
  const auto left = [&](const char* name) {
    fs::remove_all(folder / name);
    fs::create_directory(folder / name);
    std::ofstream(folder / name / "lock") << "tandem: process 7 on " << std::flush;
    return folder / name;
  };
  fs::permissions(left(".a.h5.tandem"), fs::perms::all);
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report, Replace::own, true); }),
                   {"is in the way, and is of another user"}));
  if (::geteuid() != 0) return;  // only root gives folders away
  const fs::path planted = left(".a.h5.tandem");
  fs::permissions(planted, fs::perms::owner_all);
  ASSERT_EQ(::chown(planted.c_str(), 12345, 12345), 0);
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);  // as the folder that it lies in
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report, Replace::own, true); }),
                   {"is in the way, and is of another user"}));
  { const Output other(folder / "b.h5", Content::report); }
  EXPECT_TRUE(fs::exists(planted / "lock"));
}

TEST(Output, HasFilesInItsFolderAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder / "victim") << "precious";
  Output output(folder / "a.h5", Content::volume);
  for (const char* name : {"../victim", "/etc/hostname", "b/c"}) {
    EXPECT_NE(refusal([&] { output.open(name); }), "") << name;
    EXPECT_NE(refusal([&] { output.create(name); }), "") << name;
    EXPECT_NE(refusal([&] { output.discard(name); }), "") << name;
    EXPECT_FALSE(output.has(name)) << name;
  }
  EXPECT_EQ(content(folder / "victim"), "precious");
}

TEST(Output, IsMovedThroughNoLink) {
  const TemporaryFolder folder, victim;
  std::ofstream(victim / "b") << "precious";
  fs::create_directory_symlink(victim.path(), folder / "level");
  Output output(folder / "a", Content::volume);
  output.create("a").write(0, "new", 3);
  EXPECT_TRUE(says(refusal([&] { output.publish({{"a", "level/b"}}, "a"); }), {"level", "is a link"}));
  EXPECT_TRUE(says(refusal([&] { output.publish({{"", "level/b"}}, "a"); }), {"level", "is a link"}));
  EXPECT_EQ(content(victim / "b"), "precious");
  output.publish({{"", "none/b"}, {"a", "made/here/b"}}, "a");
  EXPECT_EQ(content(folder / "made/here/b"), "new");
}

TEST(Output, NeverDeletesWhatIsNotProvablyOfTandem) {
  const TemporaryFolder folder;
  for (const char* name : {".a.h5.tandem", ".b.h5.tandem"}) {
    fs::create_directory(folder / name);
    fs::permissions(folder / name, fs::perms::owner_all);
    std::ofstream(folder / name / "notes.txt") << "mine";
  }
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }), {"a.h5", "is in the way"}));
  { const Output other(folder / "c.h5", Content::report); }
  for (const char* name : {".a.h5.tandem/notes.txt", ".b.h5.tandem/notes.txt"})
    EXPECT_EQ(content(folder / name), "mine");
}

TEST(Output, IsNotLedAstray) {  // by what others put in the place of the folder that it makes
  const TemporaryFolder folder, victim;
  std::ofstream(victim / "a.h5") << "precious";
  fs::create_directory_symlink(victim.path(), folder / ".a.h5.tandem");
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }), {"is in the way"}));
  fs::remove(folder / ".a.h5.tandem");
  fs::create_symlink(victim / "none", folder / ".a.h5.tandem");
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }), {"is in the way"}));
  fs::remove(folder / ".a.h5.tandem");
  ASSERT_EQ(::mkfifo((folder / ".a.h5.tandem").c_str(), 0600), 0);
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.h5", Content::report); }), {"is in the way"}));
  EXPECT_EQ(files_in(victim), 1u);
  EXPECT_EQ(content(victim / "a.h5"), "precious");
}

TEST(Output, WritesIntoTheFileThatItMade) {  // also when the name leads elsewhere by then
  const TemporaryFolder folder, victim;
  std::ofstream(victim / "a.txt") << "precious";
  Output output(folder / "a.txt", Content::report);
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
  EXPECT_TRUE(says(refusal([&] { Output(folder / "a.json", Content::report); }),
                   {"a.json: is there already, and tandem did not write it", "--overwrite"}));
  EXPECT_EQ(content(folder / "a.json"), "{\"mine\": 1}");
  Output(folder / "a.json", Content::report, Replace::any)
      .write("{\"command\": \"info\", \"version\": \"0.1.0\"}");
  EXPECT_NO_THROW(Output(folder / "a.json", Content::report));
  std::ofstream(folder / "empty.h5");  // perhaps the lock of another program
  EXPECT_TRUE(
      says(refusal([&] { Output(folder / "empty.h5", Content::volume); }), {"empty.h5", "did not write it"}));
  ASSERT_EQ(::mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
  EXPECT_TRUE(
      says(refusal([&] { Output(folder / "pipe.h5", Content::report, Replace::any); }), {"no regular file"}));
}

TEST(Output, ReplacesItsOwnKindAlone) {
  const TemporaryFolder folder;
  const std::vector<std::pair<Content, std::string>> kinds{
      {Content::report, "{\"command\": \"info\", \"version\": \"0.1.0\"}"},
      {Content::log, "tandem 0.2.0: log of tandem info scan.h5\n"},
      {Content::recipe, "# tandem 0.2.0: a recipe of tandem recon, for --config\n"},
      {Content::manifest, "tandem 0.2.0 volume of slices\ncomplete: yes\n"},
      {Content::checkpoint, "tandem checkpoint\n"},
      {Content::page, "<!doctype html>\n<meta name=\"generator\" content=\"tandem\">"}};
  for (const auto& [older, text] : kinds) {
    std::ofstream(folder / "a") << text;
    EXPECT_EQ(io::content_of(folder / "a"), older) << text;
    for (const auto& [newer, other] : kinds) {
      if (newer == older) {
        EXPECT_NO_THROW(Output(folder / "a", newer)) << text;
        continue;
      }
      const std::string fault = refusal([&] { Output(folder / "a", newer); });
      EXPECT_TRUE(says(fault, {"is there already, and is", "of tandem", "--overwrite"})) << fault;
    }
    EXPECT_EQ(content(folder / "a"), text);
  }
  for (const char* other : {"tandem", "tandem 0.2.0\n", "tandems", "{}", ""}) {
    std::ofstream(folder / "a") << other;
    EXPECT_FALSE(io::content_of(folder / "a").has_value()) << other;
  }
}

TEST(Output, LeavesALinkToAFileALink) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "far");
  std::ofstream(folder / "far/a.txt");
  fs::create_symlink("far/a.txt", folder / "link.txt");
  {
    Output output(folder / "link.txt", Content::report, Replace::any);
    EXPECT_TRUE(
        says(refusal([&] { Output(folder / "far/a.txt", Content::report, Replace::any); }), {"another run"}));
    output.write("");  // a file named like the link would be another one
  }
  EXPECT_TRUE(fs::is_symlink(folder / "link.txt"));
  EXPECT_FALSE(fs::is_symlink(folder / "far/a.txt"));
}

TEST(Output, HasTheModeOfTheMask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  Output(folder / "a.txt", Content::report).write("whole");
  ::umask(before);
  EXPECT_EQ(fs::status(folder / "a.txt").permissions(), static_cast<fs::perms>(0640));
}

}  // namespace tandem::test
