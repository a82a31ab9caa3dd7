#pragma once

#include <string>
#include <vector>

#include "option.hpp"

namespace tandem::options {

/// The page tandem(1) of the manual in roff (man macros): each command with its options, what exit codes
/// mean, files and variables. Options that all commands have stand there once.
/// @param date "2027-01-31"; may be empty
std::string manual_of(const std::vector<const Table*>& commands, const std::string& version,
                      const std::string& date);

}  // namespace tandem::options
