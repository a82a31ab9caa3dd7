#pragma once

#include <string>
#include <vector>

#include "option.hpp"

namespace tandem::options {

/// A script that completes command lines of tandem in a shell ("bash", "zsh" or "fish"): commands, their
/// options, words that an option takes, and names of files where one may stand. @throws UsageError for
/// another shell
std::string completion_for(const std::string& shell, const std::vector<const Table*>& commands);

}  // namespace tandem::options
