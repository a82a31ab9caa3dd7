#pragma once

#include <span>
#include <vector>

#include "../io/scan_reader.hpp"

namespace tandem::pipeline {

struct Preprocessing;  // preprocess.hpp

/// Flats of counts have a median above this, flats of transmissions are 1 or near it.
constexpr float counts_begin = 2;

/// Mean dark and flat of some rows, each over the frames in which a pixel is finite, and what they say about
/// each cell. (row, bin), after binning.
struct Reference {
  Index rows = 0, bins = 0;
  Index first_row = 0, rows_together = 1;  ///< of the file; how many of them are one row
  bool flats = false;                      ///< whether there are any; else span is 1
  double photons_a_count = 1;              ///< of one of these cells, which is a mean of the file's
  std::vector<float> dark, span;           ///< span = flat - dark, 0 in dead cells
  std::vector<float>
      flat_variance;         ///< of the log of the flat: 1 / photons in all flats together; 0 without flats
  std::vector<char> counts;  ///< of each row: whether its flats are counts, with a median above 2
  Index dead = 0;            ///< cells whose flat is not above their dark, or in no frame finite
  Index not_finite = 0;      ///< pixels of flats and darks that were left out

  Index file_row(Index row) const { return first_row + row * rows_together; }
  std::span<const float> row_of(const std::vector<float>& cells, Index row) const {
    return {cells.data() + row * bins, static_cast<std::size_t>(bins)};
  }
};

/// Darks and flats of `rows`; without flats or darks the spans are 1 and the darks 0.
/// @throws FileError for a row without a good cell: no bin is there to fill it from, and rows beside it are
/// other slices.
Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how);

}  // namespace tandem::pipeline
