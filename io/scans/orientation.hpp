#pragma once

#include <optional>
#include <string_view>

namespace tandem::io {

/// How stored images become rows and bins of the detector: they are transposed first, and then flipped.
struct Orientation {
  bool transpose = false, flip_rows = false, flip_columns = false;
  bool as_stored() const { return !transpose && !flip_rows && !flip_columns; }
  bool operator==(const Orientation&) const = default;
};

/// The orientation from words in the order in which they are done: "transpose,flip-rows,flip-columns". Empty
/// for other words.
std::optional<Orientation> orientation_of(std::string_view words);

/// The words that do what TIFF tag 274 asks for, 2 to 8.
std::string_view words_of_tag(int orientation);

}  // namespace tandem::io
