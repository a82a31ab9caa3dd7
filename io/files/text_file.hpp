#pragma once

#include <filesystem>
#include <string>

#include "../../core/space.hpp"

namespace tandem::io {

constexpr Index longest_text = Index{1} << 26;  ///< bytes; a list of angles of a million views has 20 MB

/// The text of a file that others made. It may be a regular file, or a pipe, such as <(command) of a shell,
/// that brings something within 5 s. `needed` says in messages what the file should be: "a report of tandem".
/// @throws FileError for anything else, for a file that cannot be read, and for more than `most` bytes
std::string text_of_file(const std::filesystem::path& path, const std::string& needed,
                         Index most = longest_text);

/// The text of a file that must be a regular file.
std::string text_of_regular_file(const std::filesystem::path& path, const std::string& needed,
                                 Index most = longest_text);

}  // namespace tandem::io
