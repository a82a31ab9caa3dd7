// The program: subcommands, help, exit codes.

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "../core/comm.hpp"
#include "../core/device.hpp"
#include "../core/error.hpp"
#include "../core/instruction_set.hpp"
#include "../core/version.hpp"
#include "command.hpp"
#include "options/command_line.hpp"
#include "runs/failure.hpp"
#include "runs/lines.hpp"
#include "runs/log_file.hpp"
#include "runs/ranks.hpp"
#include "runs/signals.hpp"

namespace {

using namespace tandem;

std::string version() {
  const std::string cuda = cuda_version();
  std::string text =
      std::string("tandem ") + TANDEM_VERSION + "\nCUDA " + (cuda.empty() ? "not built in" : cuda);
  for (const Device& device : devices()) text += "\ndevice " + device.name() + ": " + description(device);
  text += "\ninstructions ";
  for (const std::string& name : instruction_sets())
    text += (name == instruction_sets().front() ? "" : ", ") + name;
  return text;
}

bool only_answered = false;  // help and the like

int fail(const std::string& what, int code) {
  apps::take_last_word();
  return apps::say_failure(what, code);
}

/// Runs the chosen command and returns the exit code, see `failure_of`.
int run(const std::function<void()>& action) {
  const std::optional<apps::Failure> failure = apps::failure_of(action);
  if (failure) return fail(failure->text, failure->code);
  apps::leave_ranks();
  return 0;
}

/// @throws UsageError for a command that several ranks cannot do together
void require_for_ranks(const std::string& command) {
  const int ranks = Comm::world().size();
  if (ranks > 1 && command != "recon")
    throw apps::UsageError("tandem " + command + " is done by one process, and " + std::to_string(ranks) +
                           " were started; only recon shares its work");
}

/// @throws UsageError for a TANDEM_SIMD that names no set
void require_instruction_set() {
  try {
    choose_instruction_set();
  } catch (const DeviceError& fault) {
    throw apps::UsageError(fault.what());
  }
}

/// Whether standard output is a pipe that nobody reads any more.
bool lost_its_reader() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/// The exit code, changed if not all that was printed could be written. A reader of help may stop early.
int checked_output(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  if (code > 1 || (only_answered && lost_its_reader())) return code;
  return fail("standard output: cannot be written" + why + apps::words_on_published(), 3);
}

int run_program(int argc, char** argv) {
  // Large blocks go back to the system when they are freed, because --memory bounds what the process holds.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const apps::PrintableStream out(std::cout), err(std::cerr);
  const std::vector<std::string> words(argv + 1, argv + argc);
  return run([&] {
    require_instruction_set();
    apps::begin_ranks(argc, argv);
    if (!words.empty() && words[0] == "--version")
      return only_answered = true, void(std::cout << version() << '\n');
    const auto command = apps::parse(words);
    if (!command) return void(only_answered = true);
    require_for_ranks(command->command);
    command->work();
  });
}

}  // namespace

int main(int argc, char** argv) {
  apps::open_standard_streams();
  apps::remember_command_line(argc, argv);
  // Files are read without locks. libhdf5 1.10 forgets that when it opens the source of a virtual data set,
  // and refuses the source if it is the same file, unless the whole process uses no locks.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  apps::catch_signals();
  return checked_output(run_program(argc, argv));
}
