#pragma once

// The marks by which tandem knows files that it wrote. Used only within io/.

#include <string>

namespace tandem::io {

/// The text of the Software field of a PNG.
constexpr const char* software = "tandem";

/// A PNG with a field that says that tandem wrote it.
std::string marked_png(const std::string& png);

}  // namespace tandem::io
