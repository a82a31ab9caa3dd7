#pragma once

// For io/ alone: the names of images.

#include <string>
#include <vector>

#include "scan_reader.hpp"

namespace tandem::io {

/// What an image is by the words of its name, without folder and ending: a flat ("flat...", "io", "ref",
/// "refhst"), a dark ("dark...", "di"), else a projection.
FrameKind kind_by_name(const std::string& stem);

/// A name with each number in it as one "#": files of one series have the same form.
std::string name_form(const std::string& name);

/// What is amiss with the numbers of a series, names of one form in natural order: numbers that are missing
/// where the others rise in equal steps, and numbers that stand there twice. Empty if all is well, or if
/// names do not count.
std::string numbering_fault(const std::vector<std::string>& names);

/// The first few names, and how many more there are.
std::string listed(const std::vector<std::string>& names);

}  // namespace tandem::io
