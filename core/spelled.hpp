#pragma once

#include <string>
#include <string_view>

namespace tandem {

/// How messages write the options of a command.
enum class Spelling {
  dashes,   ///< --device-memory, as a shell has it
  keywords  ///< device_memory, as Python has it
};

/// Sets how this process writes them. A front end does this before it calls anything else; dashes otherwise.
void spell_options_with(Spelling spelling);

/// The name of an option as a user types it, from its words: "device-memory".
std::string spelled(std::string_view option);

/// A text of a table, in which options stand between braces, with their names as a user types them:
/// "check {pixel-size}" becomes "check --pixel-size".
std::string with_spelled(std::string_view text);

}  // namespace tandem
