#pragma once

// Names with numbers in them. Used only within io/.

#include <string>
#include <vector>

namespace tandem::io {

/// The tokens of a name, which is cut where digits begin and end: text, digits, text, ... The first token may
/// be empty.
std::vector<std::string> name_tokens(const std::string& name);

/// Whether `a` comes before `b` as people count. Digits are compared as numbers of any length, and all else
/// is compared byte by byte. Names that differ only in leading zeros (scan_1, scan_01) come in the order of
/// their bytes.
bool natural_less(const std::string& a, const std::string& b);

}  // namespace tandem::io
