#pragma once

#include <string>

namespace tandem::io {

/// A word as it is typed into a shell: in quotes if the shell would change it.
std::string shell_word(const std::string& word);

}  // namespace tandem::io
