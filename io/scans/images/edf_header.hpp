#pragma once

// Used only within io/scans/images/.

#include <map>
#include <optional>
#include <string>

#include "../../files/input_file.hpp"
#include "../../files/number_form.hpp"

namespace tandem::io {

/// The header of one image of an EDF file: "{", lines "key = value ;", "}". Keys are in lower case.
struct EdfHeader {
  std::map<std::string, std::string> values;
  Index bytes = 0;  ///< of the header, so that pixels begin behind it

  /// Whether it describes an image. A general block at the beginning of a file does not.
  bool has_image() const { return values.contains("dim_1"); }
  /// A whole number from 1 up to 2^40; `otherwise` if there is none. @throws FileError for anything else
  Index count(const std::string& where, const std::string& key, std::optional<Index> otherwise) const;
  /// The bytes behind the header, EDF_BinarySize or Size, if it says so. @throws FileError
  std::optional<Index> size(const std::string& where) const;
  /// How the pixels are stored. @throws FileError for a type that is not known
  NumberForm form(const std::string& where) const;
};

/// Whether bytes are blanks and zeros only, as some programs write to fill a block.
bool only_blanks(const InputFile& file, Index first, Index last);

/// The header that begins at `offset`; `end` is where the file ends. @throws FileError
EdfHeader edf_header(const InputFile& file, const std::string& where, Index offset, Index end);

}  // namespace tandem::io
