// The commands, one line each.

#include <array>

#include "../../core/names.hpp"
#include "../command.hpp"

namespace tandem::apps {

extern const Command simulate_command, info_command, center_command, calibrate_command, recon_command,
    look_command, project_command, report_command, check_command, bench_command;

std::span<const Command* const> commands() {
  static const std::array all{&simulate_command, &info_command, &center_command,  &calibrate_command,
                              &recon_command,    &look_command, &project_command, &report_command,
                              &check_command,    &bench_command};
  return all;
}

const Command& command_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Command* command : commands()) {
    if (command->name == name) return *command;
    known.emplace_back(command->name);
  }
  throw UsageError("command line: command '" + name + "' is not known" + did_you_mean(name, known) +
                   "; one of " + joined(known, " "));
}

std::shared_ptr<Table> table_of(const Command& command) {
  auto table = std::make_shared<Table>(std::string(command.name), std::string(command.what));
  command.add(*table);
  return table;
}

}  // namespace tandem::apps
