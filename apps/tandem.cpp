// The program: subcommands, help, exit codes.

#include <malloc.h>

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

int fail(const std::string& what, int code) {
  apps::take_last_word();
  return apps::say_failure(what, code);
}

/// Runs the chosen command and returns the exit code, see `failure_of`.
int run(const apps::Action& action) {
  const std::optional<apps::Failure> failure = apps::failure_of(action);
  if (failure) return fail(failure->text, failure->code);
  apps::leave_ranks();
  return 0;
}

/// @throws UsageError for a command that several ranks cannot do together
void require_for_ranks(const CLI::App& program) {
  const int ranks = Comm::world().size();
  if (const std::string name = program.get_subcommands().front()->get_name(); ranks > 1 && name != "recon")
    throw apps::UsageError("tandem " + name + " is done by one process, and " + std::to_string(ranks) +
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

/// The exit code, changed if not all that was printed could be written.
int checked_output(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  if (code > 1) return code;
  return fail("standard output: cannot be written" + why + apps::words_on_published(), 3);
}

int run_program(int argc, char** argv) {
  // Large blocks go back to the system when they are freed, because --memory bounds what the process holds.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const apps::PrintableStream out(std::cout), err(std::cerr);
  CLI::App program("X-ray tomography from matched projector pairs: from scan to volume.", "tandem");
  program.set_help_flag("-h,--help", "this list");
  program.set_version_flag("--version", version, "the version");
  program.require_subcommand(1);
  program.footer(
      "Examples:\n"
      "  tandem simulate -o scan.h5 --views 360 --photons 1e4 --truth truth.h5\n"
      "  tandem info scan.h5\n"
      "  tandem recon scan.h5 -o volume.h5 --preview volume.png\n\n"
      "tandem help COMMAND (or tandem COMMAND --help) lists the options of a command.");
  apps::Action chosen;
  for (auto add : {apps::add_simulate, apps::add_info, apps::add_center, apps::add_calibrate, apps::add_recon,
                   apps::add_look, apps::add_project, apps::add_report, apps::add_check, apps::add_bench})
    add(program, chosen);
  apps::prepare(program);
  return run([&] {
    require_instruction_set();
    apps::begin_ranks(argc, argv);
    if (!apps::parse(program, argc, argv)) return;
    require_for_ranks(program);
    chosen();
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
