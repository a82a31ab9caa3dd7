// The program: subcommands, help, exit codes.

#include <malloc.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>

#include "../core/device.hpp"
#include "../core/error.hpp"
#include "../core/version.hpp"
#include "command.hpp"
#include "command_line.hpp"
#include "lines.hpp"
#include "signals.hpp"

namespace {

using namespace tandem;

std::string version() {
  const std::string cuda = cuda_version();
  std::string text =
      std::string("tandem ") + TANDEM_VERSION + "\nCUDA " + (cuda.empty() ? "not built in" : cuda);
  for (const Device& device : devices()) text += "\ndevice " + device.name() + ": " + description(device);
  return text;
}

int fail(const char* what, int code) {
  apps::take_last_word();
  std::cerr << apps::one_line("tandem: error: ", what) << '\n';
  return code;
}

/// A command ended early: says what it had written by then. Whatever a signal led to is its doing.
int fail_early(const std::string& what, int code) {
  return fail((what + apps::words_on_published()).c_str(),
              apps::caught_signal() != 0 ? 128 + apps::caught_signal() : code);
}

/// What the standard library or oneTBB throws once checks have passed: memory or threads do not suffice.
std::string shortage(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
    return "memory: the host has no more; give --memory GIB below what is free, or --binning";
  return std::string("the system: ") + e.what() + "; free threads or memory, or give --threads N";
}

/// Runs the chosen command and returns the exit code: 0 done; 1 a check did not hold; 2 the command line is
/// wrong; 3 a file is missing, unreadable or not what it claims; 4 the geometry or a parameter makes no sense
/// for this scan; 5 the device failed, memory does not suffice, or a port is in use; 128 + the number of a
/// signal.
int run(const apps::Action& action) {
  try {
    action();
    return 0;
  } catch (const apps::CheckFailed& e) {
    return fail(e.what(), 1);
  } catch (const apps::UsageError& e) {
    return fail(e.what(), 2);
  } catch (const apps::Interrupted& e) {
    return fail_early(e.what(), 0);  // fail_early makes it 128 + the number
  } catch (const FileError& e) {
    return fail_early(e.what(), 3);
  } catch (const GeometryError& e) {
    return fail_early(e.what(), 4);
  } catch (const DeviceError& e) {
    return fail_early(e.what(), 5);
  } catch (const SpaceError& e) {
    return fail_early(e.what(), 4);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail_early(e.what(), 3);
  } catch (const std::exception& e) {
    return fail_early(shortage(e), 5);
  }
}

/// Whether all that was printed came through.
int checked_output(int code) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return code > 1 ? code : fail_early("standard output: cannot be written" + why, 3);
}

int run_program(int argc, char** argv) {
  // Large blocks go back to the system when they are freed: --memory bounds what the process holds.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const apps::PrintableStream out(std::cout), err(std::cerr);
  CLI::App program("X-ray tomography from matched projector pairs: from scan to volume.", "tandem");
  program.set_version_flag("--version", version);
  program.require_subcommand(1);
  program.footer(
      "Examples:\n"
      "  tandem simulate -o scan.h5 --views 360 --photons 1e4 --truth truth.h5\n"
      "  tandem info scan.h5\n"
      "  tandem recon scan.h5 -o volume.h5 --preview volume.png\n\n"
      "tandem help COMMAND (or tandem COMMAND --help) lists the options of a command.");
  apps::Action chosen;
  for (auto add : {apps::add_simulate, apps::add_info, apps::add_center, apps::add_recon, apps::add_project,
                   apps::add_check, apps::add_bench})
    add(program, chosen);
  apps::prepare(program);
  return run([&] {
    if (apps::parse(program, argc, argv)) chosen();
  });
}

}  // namespace

int main(int argc, char** argv) {
  apps::open_standard_streams();
  // Files are read without locks. libhdf5 1.10 forgets that when it opens the source of a virtual data set,
  // and refuses the source if it is the same file, unless all of the process goes without.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  apps::catch_signals();
  return checked_output(run_program(argc, argv));
}
