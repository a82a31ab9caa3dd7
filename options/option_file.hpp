#pragma once

#include <functional>
#include <memory>
#include <string>

#include "option.hpp"

namespace tandem::options {

/// The options of a command, none of which is given.
using TableOf = std::function<std::shared_ptr<Table>(const std::string& command)>;

/// Takes the options of the files that --config and --like name. A file has a line `name = value` for each
/// option, in TOML; --like takes the recipe that a volume holds, for `recon` and `look`. Options that are
/// given have precedence over those of the file, and these over those of the volume. Options of other
/// commands, and options that have no meaning beside the others, are left out, and a note of the table says
/// which. From a volume, only options that decide the result and name no file are taken; from a file, none
/// that decides what is written, replaced or served. @throws FileError for a file or a volume that cannot be
/// read, and for a recipe with other options; UsageError for sections, and for an option that is not known or
/// not taken
void take_files(Table& table, const TableOf& table_of);

}  // namespace tandem::options
