// The program: subcommands, help, exit codes.

#include <malloc.h>

#include <iostream>
#include <new>

#include "command.hpp"
#include "tandem/core/device.hpp"
#include "tandem/core/error.hpp"
#include "tandem_version.hpp"

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
  std::string line = what;
  for (char& c : line)
    if (c == '\n') c = ' ';
  std::cerr << "tandem: error: " << line << '\n';
  return code;
}

/// Runs the chosen command. Exit codes: interface, section 2.
int run(const apps::Action& action) {
  try {
    action();
    return 0;
  } catch (const apps::CheckFailed& e) {
    return fail(e.what(), 1);
  } catch (const apps::UsageError& e) {
    return fail(e.what(), 2);
  } catch (const apps::Interrupted& e) {
    return fail(e.what(), 130);
  } catch (const FileError& e) {
    return fail(e.what(), 3);
  } catch (const GeometryError& e) {
    return fail(e.what(), 4);
  } catch (const DeviceError& e) {
    return fail(e.what(), 5);
  } catch (const std::bad_alloc&) {
    return fail("memory: the host has no more; give --memory GIB below what is free, or --binning", 5);
  } catch (const std::exception& e) {
    return fail(e.what(), 4);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Large blocks go back to the system when they are freed: --memory bounds what the process holds.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  CLI::App program("X-ray tomography from matched projector pairs: from scan to volume.", "tandem");
  program.set_version_flag("--version", version);
  program.require_subcommand(1);
  program.failure_message([](const CLI::App*, const CLI::Error&) { return std::string(); });
  apps::Action chosen;
  for (auto add : {apps::add_simulate, apps::add_info, apps::add_center, apps::add_recon, apps::add_project,
                   apps::add_check, apps::add_bench})
    add(program, chosen);
  apps::catch_interrupts();
  if (argc > 1 && argv[1][0] != '-') {
    std::string known;
    bool found = false;
    for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
      known += " " + command->get_name();
      found = found || command->get_name() == argv[1];
    }
    if (!found)
      return fail(
          ("command line: command '" + std::string(argv[1]) + "' is not known; one of" + known).c_str(), 2);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& e) {  // help, version
    return program.exit(e);
  } catch (const CLI::ParseError& e) {
    return fail(
        (std::string("command line: ") + e.what() + "; see tandem --help, tandem COMMAND --help").c_str(), 2);
  } catch (const apps::UsageError& e) {
    return fail((std::string("command line: ") + e.what()).c_str(), 2);
  }
  return run(chosen);
}
