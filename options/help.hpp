#pragma once

#include <string>
#include <utility>
#include <vector>

#include "option.hpp"

namespace tandem::options {

// Help for a terminal of 100 columns.

/// What people need often of a command: usage, some examples, and the rows that are required or common, with
/// the first clauses of their help. All rows if they are few. 32 lines or less, unless too many are common.
std::string short_help(const Table& table);

/// All rows that are not hidden, with their whole help, and the whole footer.
std::string full_help(const Table& table);

/// The help of the program: the names of its commands and what they do.
std::string program_help(const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace tandem::options
