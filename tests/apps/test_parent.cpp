// A process that starts the program does not count in its memory.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "program.hpp"

namespace tandem::test {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

/// Replaces a process that has held so many bytes, and gave them back, with the program.
int exit_code_after_holding(std::size_t bytes, const std::filesystem::path& folder,
                            std::vector<std::string> arguments) {
  const pid_t child = fork();
  if (child == 0) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || chdir(folder.c_str()) != 0) _exit(99);
    std::memset(memory, 1, bytes);
    munmap(memory, bytes);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    execv(TANDEM_PROGRAM, words.data());
    _exit(98);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Memory, OfTheProgramBeforeDoesNotCount) {
  Program run;
  ASSERT_EQ(run("simulate -o scan.h5 --size 32 --views 16 --rows 4").code, 0);
  EXPECT_EQ(exit_code_after_holding(gib, run / "",
                                    {"tandem", "recon", "scan.h5", "-o", "volume.h5", "--device", "cpu",
                                     "--memory", "0.5", "--json", "report.json"}),
            0);
  const nlohmann::json report = run.json("report.json");
  EXPECT_LE(report["memory_bytes"], gib / 2);
  EXPECT_LE(report["peak_memory_bytes"], report["memory_bytes"]);
}

}  // namespace
}  // namespace tandem::test
