#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tandem::io {

/// What two runs must have in common if one completes what the other left: names, and a text of one line
/// each.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// The reason, in words, why two parts with these `VolumeFormat::made_by` cannot be of one volume. Empty if
/// they may be.
std::string different_making(const std::string& one, const std::string& other);

/// Compares two identities. @throws FileError that names the first difference; `where` is the file in
/// messages
void require_same(const Identity& then, const Identity& now, const std::string& where);

}  // namespace tandem::io
