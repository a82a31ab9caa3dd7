#pragma once

#include <span>
#include <string>

namespace tandem {

/// "; did you mean WORD?" if a word is close to the text or contains it; else empty.
std::string did_you_mean(const std::string& text, std::span<const std::string> words);

}  // namespace tandem
