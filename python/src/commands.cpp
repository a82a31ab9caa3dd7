// The commands of the program, run within Python: they are parsed as the program parses them, and report to a
// listener.

#include <cstdlib>
#include <filesystem>

#include "../../apps/command.hpp"
#include "../../apps/options/command_line.hpp"
#include "../../core/error.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

using OnStage = std::function<void(std::string, double, double, std::string, std::string)>;
using OnText = std::function<void(std::string)>;

/// The program with the commands that report without printing.
struct Program {
  CLI::App app{"", "tandem"};
  apps::Action chosen;

  Program() {
    for (auto add : {apps::add_simulate, apps::add_info, apps::add_center, apps::add_calibrate,
                     apps::add_recon, apps::add_project})
      add(app, chosen);
    app.require_subcommand(1);
    apps::prepare(app);
  }
};

void run_command(std::vector<std::string> words, OnStage stage, OnText note, OnText report) {
  const Released released;
  const apps::Listening listening({.stage =
                                       [&](const std::string& name, double done, double total,
                                           const std::string& what, const std::string& detail) {
                                         require<Error>(!is_ending(), "tandem: Python ends");
                                         stage(name, done, total, what, detail);
                                       },
                                   .note = [&](const std::string& line) { note(line); },
                                   .report = [&](const nlohmann::json& all) { report(apps::text_of(all)); }});
  Program program;
  words.insert(words.begin(), "tandem");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  if (apps::parse(program.app, static_cast<int>(arguments.size()), arguments.data())) program.chosen();
}

/// How an option takes its values: "flag", "list" (once for each value), or what is between them, such as
/// ",".
std::string form_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return "flag";
  return option.get_delimiter() != '\0' ? std::string(1, option.get_delimiter()) : "list";
}

/// The options of a command, by their long names.
std::vector<std::pair<std::string, std::string>> options_of(const std::string& command) {
  Program program;
  std::vector<std::pair<std::string, std::string>> forms;
  for (const CLI::Option* option : program.app.get_subcommand(command)->get_options())
    for (const std::string& name : option->get_lnames()) forms.emplace_back(name, form_of(*option));
  return forms;
}

/// What commands throw beside the errors of the library.
void translate(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const char* what) {
    PyErr_SetString(nb::module_::import_("tandem._errors").attr(name).ptr(), what);
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const apps::UsageError& e) {
    raise("UsageError", e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    raise("FileError", e.what());
  }
}

}  // namespace

void add_commands(nb::module_& m) {
  // As in the program: libhdf5 1.10 would refuse a virtual data set whose source is its own file.
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  nb::register_exception_translator(translate);
  m.def("run_command", &run_command);
  m.def("options_of", &options_of);
}

}  // namespace tandem::python
