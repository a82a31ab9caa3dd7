#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "../io/scans/scan_reader.hpp"
#include "flat_use.hpp"

namespace tandem::pipeline {

struct Preprocessing;  // preprocess.hpp

using kernels::counts_begin, kernels::transmission_floor;

/// The floors of a row's transmissions, dead cells left out.
struct FloorRange {
  float lowest = std::numeric_limits<float>::infinity(), highest = 0;
  void add(const FloorRange& other) {
    lowest = std::min(lowest, other.lowest), highest = std::max(highest, other.highest);
  }
};
FloorRange range_of(std::span<const float> floors);

/// The mean of one set of flats: (row, bin), after binning.
struct FlatSet {
  std::vector<float> span;  ///< flat - dark, 0 in dead cells; 1 if there are no flats
  /// Variance of the log of the span: 1 / photons in all flats of the set; 0 without flats.
  std::vector<float> variance;
  std::vector<float> floor;  ///< floors of transmissions, see `transmission_floor`; -inf in dead cells
  std::vector<FloorRange> floor_range;  ///< range of the floors of each row
};

/// The flats by which a row of one view is divided, and what follows from them.
struct FlatRow {
  std::span<const float> span, variance, floor;
  FloorRange floor_range;
};

/// The darks and flats of some rows, and what they say about each cell: (row, bin), after binning. They are
/// made of the frames in which a pixel is finite.
struct Reference {
  Index rows = 0, bins = 0;
  Index first_row = 0, rows_together = 1;  ///< rows of the file: the first, and how many become one row here
  Index margin_above = 0, margin_below = 0;  ///< how many of the rows are there for steps on other rows only
  std::optional<Range> counted{};  ///< the rows whose findings count; empty: all between the margins
  bool flats = false;              ///< whether there are flats; if not, span is 1
  double photons_a_count = 1;      ///< photons per count of such a cell, which is a mean of cells of the file
  std::vector<float> dark;
  std::vector<FlatSet> sets;   ///< at least one
  std::vector<FlatMix> mixes;  ///< mix of sets for each view of the file; empty: all take the first as it is
  std::vector<char> counts;    ///< for each row whether its flats are counts, with a median above 2
  Index dead = 0;              ///< cells whose flat is not above their dark, or that are finite in no frame
  std::vector<Range> covered{};   ///< bins behind beam stops: their spans are 0, and they have darks
  std::vector<Index> replaced;    ///< in each row: pixels of flats and darks that steps replaced
  std::vector<Index> not_finite;  ///< in each row: pixels of flats and darks that were left out

  Range kept_rows() const { return {margin_above, rows - margin_below}; }
  Range counted_rows() const { return counted.value_or(kept_rows()); }
  Index file_row(Index row) const { return first_row + row * rows_together; }
  /// The mix for a view. A view behind the last one of `mixes` takes the mix of the last one.
  FlatMix mix_of(Index view) const {
    return mixes.empty() ? FlatMix{} : mixes[std::min<std::size_t>(view, mixes.size() - 1)];
  }
  std::span<const float> row_of(const std::vector<float>& cells, Index row) const {
    return std::span(cells.data() + row * bins, bins);
  }
};

/// Makes the flats of one view after another, in memory that it uses again.
class FlatMixer {
 public:
  /// The flats of a row, for a view of the file. They hold until the next call.
  FlatRow operator()(const Reference& reference, Index view, Index row);

 private:
  std::vector<float> span_, variance_, floor_;
};

Reference crop(const Reference& reference, Range rows);

/// Reads the darks and flats of `rows`. Without flats the spans are 1, and without darks the darks are 0.
/// @throws FileError for a row without a good cell: there is no bin to fill it from, and the rows beside it
/// are other slices.
Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how);

/// @throws FileError unless the scan has what is needed to turn counts into transmission: flats, or air
/// columns, or no logarithm is taken.
void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts);

}  // namespace tandem::pipeline
