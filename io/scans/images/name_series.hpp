#pragma once

// The names of images. Used only within io/.

#include <string>
#include <vector>

#include "../scan_reader.hpp"

namespace tandem::io {

/// The kind of an image by the words of its name, without folder and ending: a flat ("flat...", "io", "ref",
/// "refhst"), a dark ("dark...", "di", "dar"), or else a projection.
FrameKind kind_by_name(const std::string& stem);

/// Flats or darks in two lists. `taken`: averaged frames that a program made ("refHST", "dark", as at the
/// ESRF). `raw`: the single frames that they came from ("ref", "darkend"). If there are no averaged frames,
/// all frames are in `taken`.
struct MeansAndRaw {
  std::vector<std::string> taken, raw;
};
MeansAndRaw means_and_raw(const std::vector<std::string>& names);

/// Puts names in the order in which their series counts (name_counter.hpp), or else in natural order. Returns
/// what the user should know about this order; empty if it is the natural order of names that count.
std::string sort_series(std::vector<std::string>& names);

/// What is wrong with the numbers of a series: numbers that are missing while the others rise in equal steps,
/// and numbers that occur twice. Empty if nothing is wrong, or if the names have no numbers that count.
std::string numbering_fault(const std::vector<std::string>& names);

/// The whole numbers by which the names of a series count, in the order of these names; empty if they do not.
std::vector<Index> series_numbers(const std::vector<std::string>& names);

/// The first few names, and the number of the others.
std::string listed(const std::vector<std::string>& names);

}  // namespace tandem::io
