#pragma once

#include <string>
#include <vector>

#include "files/output.hpp"
#include "sheet.hpp"

namespace tandem::io {

/// Writes pictures as one sheet, in 8-bit grey. The file names tandem as its software. @throws FileError
void write_png(Output output, const std::vector<Picture>& pictures, const Sheet& sheet);

/// The bytes of a PNG file of one picture, packed fast rather than small. Pixels that are NaN are
/// transparent. @throws FileError
std::string png_of(const Picture& picture, float black, float white);

}  // namespace tandem::io
