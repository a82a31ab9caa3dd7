#pragma once

// For io/ alone: the marks by which tandem knows what it wrote.

#include <filesystem>
#include <string>

namespace tandem::io {

/// What the Software field of a PNG says.
constexpr const char* software = "tandem";

/// A PNG that says of itself that tandem wrote it.
std::string marked_png(const std::string& png);

}  // namespace tandem::io
