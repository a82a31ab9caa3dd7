#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tandem::io {

/// The properties that two runs must have in common if one completes the volume of the other: names, and for
/// each name a text of one line.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// The reason, in words, why two parts with these `VolumeFormat::made_by` cannot belong to one volume. Empty
/// if they can.
std::string different_making(const std::string& one, const std::string& other);

/// Compares two identities. @throws FileError that names the first difference; `where` is the file in
/// messages
void require_same(const Identity& then, const Identity& now, const std::string& where);

}  // namespace tandem::io
