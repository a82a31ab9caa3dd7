#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../command.hpp"

namespace tandem::apps {

/// The command of a command line behind `tandem`, with its options as they are given. Null if help or
/// something like it was asked for, which it prints. @throws UsageError that begins with "command line:"
std::shared_ptr<Table> parse(const std::vector<std::string>& words);

/// Gives a table its options. @throws UsageError that begins with "command line:"
void give(Table& table, const std::vector<std::string>& words);
/// The same for one command; `words` are its options.
std::shared_ptr<Table> parse_options(const Command& command, const std::vector<std::string>& words);

}  // namespace tandem::apps
