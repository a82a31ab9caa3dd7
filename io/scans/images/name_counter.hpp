#pragma once

// Finds the number in the names of a series that counts its images. Used only within io/.

#include <optional>
#include <string>
#include <vector>

#include "../../../core/space.hpp"

namespace tandem::io {

/// The form of a name, in which each number with its sign becomes "#". A "+" or "-" is a sign if digits
/// follow it and no digit stands before it. Behind a letter, "+" and "-" give the same form, and a number
/// without a sign gives another. Files of one series have the same form.
std::string name_form(const std::string& name);

/// A number that changes in the names of a series: digits, or digits with a decimal point and more of them.
struct NameNumber {
  std::vector<Index> values;  ///< value in each name; a decimal in units of its last place
  std::size_t token = 0;      ///< number of the token of a name where its digits begin
  bool joined = false;        ///< whether it has the digits on both sides of a decimal point
  std::size_t places = 0;     ///< digits behind the decimal point
  bool whole = true;          ///< whether it has no decimal point, and stands beside none
  bool padded = false;        ///< whether all have the same length, some with zeros before
  bool apart = false;         ///< whether no two names have the same value
  Index step = 0;             ///< step of at least half of the sorted values; 0: there is none
  Index missing = 0;          ///< values that are missing by this step; -1: values do not fit it
  /// Whether it tells the order, since at least half of the numbers are there.
  bool counts() const { return apart && step > 0 && missing >= 0 && missing <= std::ssize(values); }
  bool by_one() const { return whole && step == 1; }
};

/// The number by which a series counts.
struct NameCounter {
  std::optional<NameNumber> number;  ///< the number that counts, or the only one that changes
  bool others = false;               ///< whether other numbers change too
  bool doubtful = false;             ///< whether another number counts too, in another order
};

/// Finds the number that counts the images of a series. If several numbers change, it is the one with the
/// fewest gaps in equal steps. If several have as few, it is one that counts by one, then one that is padded
/// with zeros, then the last one. Empty for names of different forms, and if several numbers change and none
/// counts.
NameCounter counter_of(const std::vector<std::string>& names);

}  // namespace tandem::io
