#pragma once

// Arrays of NumPy (NEP 1): a mark, the length of the head, the head, numbers. Used only within io/.

#include <filesystem>
#include <string>
#include <vector>

#include "input_file.hpp"
#include "number_form.hpp"

namespace tandem::io {

/// The head of an array.
struct NpyHead {
  NumberKind kind = NumberKind::real;
  Index bytes = 0;  ///< size of a number
  bool swapped = false;
  bool by_columns = false;  ///< whether the first axis is the fastest in memory
  std::vector<Index> shape;
  Index first = 0;  ///< where its numbers begin in the file
};

bool is_npy(const std::filesystem::path& path);
/// @throws FileError, also for numbers that are no integers and no floats, and for a head that ends nowhere
NpyHead npy_head(const FileStamp& stamp);
/// Reads `count` numbers, in the order in which they lie: integers, float32 or float64, not float16. @throws
/// FileError
std::vector<double> npy_numbers(const FileStamp& stamp, const NpyHead& head, Index count);

}  // namespace tandem::io
