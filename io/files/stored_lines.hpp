#pragma once

// Used only within io/.

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "input_file.hpp"
#include "number_form.hpp"

namespace tandem::io {

/// The shape of an array of numbers in C order, and the first number of a box in it; one value for each axis.
struct BoxPlace {
  std::span<const Index> shape, first;
};

/// A box that is copied from one array to another, as lines of numbers that lie side by side in both. Offsets
/// are counted in numbers.
class Lines {
 public:
  /// `extents`: the size of the box, which lies within both arrays and has at most four axes
  Lines(std::span<const Index> extents, const BoxPlace& from, const BoxPlace& to);
  Index length() const { return length_; }  ///< the numbers of a line
  Index size() const { return count_[0] * count_[1] * count_[2] * count_[3]; }
  std::pair<Index, Index> at(Index line) const;  ///< where the line begins in the one array and in the other

 private:
  Index length_ = 1, from_ = 0, to_ = 0;
  std::array<Index, 4> count_{1, 1, 1, 1}, from_step_{}, to_step_{};
};

/// Bytes that lie side by side in one of several files.
struct Extent {
  std::size_t file;
  Index offset, bytes;
};

/// Bytes that are stored in extents, one after another.
struct StoredBytes {
  const std::vector<InputFile>& files;
  std::span<const Extent> extents;

  void expect(Index offset, Index bytes) const;                ///< see InputFile
  void read(Index offset, Index bytes, std::byte* out) const;  ///< see InputFile
};

/// Some lines, or a piece of one line, that one thread reads.
struct LinePart {
  Range lines;
  Range numbers;  ///< the numbers of each line
};
void expect_part(const StoredBytes& from, const NumberForm& form, const Lines& lines, const LinePart& part);
void read_part(const StoredBytes& from, const NumberForm& form, const Lines& lines, const LinePart& part,
               std::byte* out);

/// Reads lines of numbers on the threads of the pool, and converts them to pixels. @throws FileError
void read_lines(const StoredBytes& from, const NumberForm& form, const Lines& lines, std::byte* out);

}  // namespace tandem::io
