#pragma once

#include <span>
#include <vector>

#include "../io/scan_reader.hpp"

namespace tandem::pipeline {

struct Preprocessing;  // preprocess.hpp

/// Flats of counts have a median above this. Flats of transmissions are 1 or near it.
constexpr float counts_begin = 2;

/// The mean dark and flat of some rows, and what they say about each cell: (row, bin), after binning. Means
/// are over the frames in which a pixel is finite.
struct Reference {
  Index rows = 0, bins = 0;
  Index first_row = 0, rows_together = 1;  ///< rows of the file: the first, and how many become one row here
  bool flats = false;                      ///< whether there are flats; if not, span is 1
  double photons_a_count = 1;     ///< photons per count of such a cell, which is a mean of cells of the file
  std::vector<float> dark, span;  ///< span = flat - dark, 0 in dead cells
  std::vector<float>
      flat_variance;  ///< variance of the log of the flat: 1 / photons in all flats together; 0 without flats
  std::vector<char> counts;  ///< for each row whether its flats are counts, with a median above 2
  Index dead = 0;            ///< cells whose flat is not above their dark, or that are finite in no frame
  Index not_finite = 0;      ///< pixels of flats and darks that were left out

  Index file_row(Index row) const { return first_row + row * rows_together; }
  std::span<const float> row_of(const std::vector<float>& cells, Index row) const {
    return {cells.data() + row * bins, static_cast<std::size_t>(bins)};
  }
};

/// Reads the darks and flats of `rows`. Without flats the spans are 1, and without darks the darks are 0.
/// @throws FileError for a row without a good cell: there is no bin to fill it from, and the rows beside it
/// are other slices.
Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how);

}  // namespace tandem::pipeline
