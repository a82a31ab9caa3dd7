#pragma once

#include <filesystem>
#include <string>

#include "../../core/space.hpp"

namespace tandem::io {

constexpr Index longest_text = Index{1} << 26;  ///< bytes; a list of angles of a million views has 20 MB

/// The text of a file that others made: of a regular file, or of a pipe (a shell's <(command)) that brings
/// something within 5 s. `needed` says in messages what the file should be: "a report of tandem". @throws
/// FileError for anything else, for a file that cannot be read, and for more than `most` bytes
std::string text_of_file(const std::filesystem::path& path, const std::string& needed,
                         Index most = longest_text);

/// The same, of a regular file alone.
std::string text_of_regular_file(const std::filesystem::path& path, const std::string& needed,
                                 Index most = longest_text);

}  // namespace tandem::io
