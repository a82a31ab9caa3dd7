#pragma once

// Which number in the names of a series counts its images. Used only within io/.

#include <optional>
#include <string>
#include <vector>

#include "../../../core/space.hpp"

namespace tandem::io {

/// The form of a name: each number in it becomes one "#", with its sign. A sign stands before digits, and
/// behind none. Behind a letter "+" and "-" are one form, but a number without a sign is another. Files of
/// one series have the same form.
std::string name_form(const std::string& name);

/// A number that changes in the names of a series: digits, or digits with a decimal point and more of them.
struct NameNumber {
  std::vector<Index> values;  ///< of each name; a decimal in units of its last place
  std::size_t piece = 0;      ///< of the names: digits begin there
  bool joined = false;        ///< of the digits on both sides of a decimal point
  std::size_t places = 0;     ///< behind that point
  bool whole = true;          ///< it has no decimal point, and stands on neither side of one
  bool padded = false;        ///< all have the same length, some with zeros before
  bool apart = false;         ///< no two names have the same value
  Index step = 0;             ///< between at least half of the values in their order; 0 where there is none
  Index missing = 0;          ///< values between the first and the last by that step; -1: not in such steps
  /// Whether it tells the order, for at least half of the numbers are there.
  bool counts() const {
    return apart && step > 0 && missing >= 0 && missing <= static_cast<Index>(values.size());
  }
  bool by_one() const { return whole && step == 1; }
};

/// How a series counts.
struct NameCounter {
  std::optional<NameNumber> number;  ///< that which counts, or the only one that changes
  bool others = false;               ///< other numbers change too
  bool doubtful = false;             ///< another one counts as well, in another order
};

/// Finds the number that counts the images of a series. If several change, it is the one with the fewest
/// gaps in equal steps; of such the one that counts by one, then one that is padded with zeros, then the
/// last one. Nothing for names of different forms, and where none of several numbers counts.
NameCounter counter_of(const std::vector<std::string>& names);

}  // namespace tandem::io
