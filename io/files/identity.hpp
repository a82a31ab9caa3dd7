#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tandem::io {

/// What two runs must have in common if one completes what the other left: texts of one line by their names.
using Identity = std::vector<std::pair<std::string, std::string>>;

/// Why two parts are not of one volume, in words, by their `VolumeFormat::made_by`. Empty if they may be.
std::string different_making(const std::string& one, const std::string& other);

/// @throws FileError that names the first thing that differs; `where` is the file in messages
void require_same(const Identity& then, const Identity& now, const std::string& where);

}  // namespace tandem::io
