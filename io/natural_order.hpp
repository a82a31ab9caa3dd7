#pragma once

// For io/ alone: names with numbers in them.

#include <string>
#include <vector>

namespace tandem::io {

/// A name cut where digits begin and end: text, digits, text, ...; the first piece may be empty.
std::vector<std::string> name_pieces(const std::string& name);

/// The order in which people count: digits compare as the numbers that they write, of any length, everything
/// else byte by byte. Names that differ in leading zeros alone (scan_1, scan_01) come in the order of their
/// bytes.
bool natural_less(const std::string& a, const std::string& b);

}  // namespace tandem::io
